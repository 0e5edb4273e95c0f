"""Views of hosts and jobs."""
