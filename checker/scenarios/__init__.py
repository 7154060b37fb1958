"""Scenarios: stories of operations as files that a person reads and writes, played and held to what they expect."""
