"""Random walks through models that no search ends."""
