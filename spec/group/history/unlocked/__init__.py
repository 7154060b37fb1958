"""Records that are appended after the group's lock was released (up to 1.0)."""
