"""Explains each change of a partition's leader or ISR in a log by the election strategies of the specification."""
