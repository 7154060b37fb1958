"""Requests of consumer groups and their answers: each is a step of *group* at its coordinator."""
