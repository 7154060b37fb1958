"""Reads the transaction logs and snapshots of a real ZooKeeper, and replays them into a tree of znodes."""
