"""What earlier releases did differently in groups."""
