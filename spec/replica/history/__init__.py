"""What earlier releases did differently in replicas."""
