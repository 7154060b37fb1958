"""ZooKeeper whose servers lag: what a client reads, and when its watch fires, may be late."""
