"""Mutation: mistakes are put into the specification, by hand and by machine, and must be noticed."""
