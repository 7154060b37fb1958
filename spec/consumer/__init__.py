"""The old consumer, 0.8 to 0.11: a group that agrees through znodes alone on who reads which partition."""
