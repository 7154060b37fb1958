"""The topics system in earlier releases."""
