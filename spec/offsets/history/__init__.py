"""What earlier releases did otherwise, and ways to migrate that lose an offset."""
