"""Liveness: fair behaviours, in the finished graph of states, that avoid a goal for ever."""
