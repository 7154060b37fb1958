"""Metrics: what operators watch, as pure functions of a state or of a step.

`names` says what each metric is called, here and by Kafka, and when to worry; `rules` says what counts, of one
partition; the other modules give the metrics of one system each; `catalogue` finds them.
"""
