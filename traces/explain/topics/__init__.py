"""Explains what is written to topics and reassignments in a log by the steps of the topics system."""
