"""What the pages of hosts and jobs say, in words and lengths; no markup, no request."""
