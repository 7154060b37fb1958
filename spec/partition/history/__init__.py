"""What earlier releases did differently in partitions."""
