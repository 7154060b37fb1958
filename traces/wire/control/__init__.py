"""Requests of controllers and what brokers ask of them, held to the transitions of *partition*."""
