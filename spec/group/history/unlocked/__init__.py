"""Records that are appended after the group's lock was released (up to 0.10.2)."""
