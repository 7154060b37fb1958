"""Partitions as the controller sees them: the states that it moves them through, and whom it elects."""
