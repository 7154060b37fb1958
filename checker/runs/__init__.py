"""A run on disk: its directory, the states seen, what was found, counterexamples and metrics along them."""
