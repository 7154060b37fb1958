"""Deliberate mistakes: each must change what the checker finds."""
