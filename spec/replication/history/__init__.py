"""What earlier releases did differently in replication."""
