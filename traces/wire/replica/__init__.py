"""Judges the data path: what followers fetch, what leaders give them, and what producers are answered."""
