"""Metrics that operators watch, as pure functions of a state or of a step.

`names` has the name of each metric, here and in Kafka, and when to worry; `rules` says what counts in one partition;
the other modules have functions that several systems share; `catalogue` finds the metrics.
"""
