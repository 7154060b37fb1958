"""A run on disk: its directory, the table of seen states, the outcome, counterexamples and their metrics."""
