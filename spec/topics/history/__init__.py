"""What earlier releases did differently in topics."""
