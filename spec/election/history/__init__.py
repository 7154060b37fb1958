"""What earlier releases did differently in controller election."""
