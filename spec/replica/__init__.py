"""Replication of one partition with real messages: leaders know their followers only by their fetches."""
