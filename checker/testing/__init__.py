"""Helpers for the tests of models of one's own, and of implementations beside them."""
