"""All streams of a log together: one view that only moves forward, what is missing, every record accounted for."""
