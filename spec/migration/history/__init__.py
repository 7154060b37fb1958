"""What earlier releases, and earlier directions for the way back, did otherwise."""
