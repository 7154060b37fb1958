"""What earlier releases did differently in the old consumer."""
