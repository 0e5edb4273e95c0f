"""The way in for a lab's files: stored first, read in a child process, previewed, published."""
