"""What each page shows, made ready for its template: no reads, no arithmetic."""
