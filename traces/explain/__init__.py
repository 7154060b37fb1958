"""Explains what is written in a log by transitions of the specification."""
