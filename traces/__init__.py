"""Holds what clusters leave behind to the specification: logs of ZooKeeper, segments of groups, recordings of runs."""
