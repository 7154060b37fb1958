"""Holds a log to the transitions of the election system: who may be doing what, record by record."""
