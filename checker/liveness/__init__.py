"""Liveness: on the finished graph of states, behaviours that are fair and for ever avoid what must come."""
