"""Exploring models: exhaustively, on Spark, and in pictures."""
