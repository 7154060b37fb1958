"""Partitions as the controller sees them: the states that they move through, and the leaders that it elects."""
