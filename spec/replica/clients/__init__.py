"""Producer and consumer of the partition."""
