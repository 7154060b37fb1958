"""Scenarios: stories of operations in text files that people write, played and checked against what they expect."""
