"""The old consumer, 0.8 to 1.1: a group that agrees through znodes alone on who reads which partition."""
