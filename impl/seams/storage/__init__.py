"""A partition's log on disk, and the checkpoint of high watermarks."""
