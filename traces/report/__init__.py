"""What replay found, as JSON, in words, as a history and as a page."""
