"""A rolling upgrade: brokers of two releases elect a controller."""
