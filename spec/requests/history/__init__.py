"""What earlier releases did differently in control requests."""
