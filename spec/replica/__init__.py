"""Replication of one partition with real messages: leaders know their followers by their fetches alone."""
