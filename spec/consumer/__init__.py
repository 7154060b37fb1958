"""The old consumer, 0.8 to 0.11: a group that agrees on who reads what by znodes alone."""
