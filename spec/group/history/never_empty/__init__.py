"""Up to 0.10.0 no group is Empty, and offsets are in a cache of their own, with or without a group."""
