"""What all systems share: ZooKeeper and its answers, legal moves, strategies of election, records."""
