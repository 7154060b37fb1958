"""Groups of old consumers in a log: their members, what they own, and what they commit."""
