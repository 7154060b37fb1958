"""Replays recordings of `kafkaproof run`: what every process did, step by step, through the specification."""
