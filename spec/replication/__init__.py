"""Partition replication: an abstract model of one partition."""
