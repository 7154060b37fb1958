"""A ZooKeeper log as it is read: files as typed events, one recording of them, its records in order."""
