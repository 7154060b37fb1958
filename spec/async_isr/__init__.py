"""Asynchronous ISR changes: an abstract model of one leader and one controller."""
