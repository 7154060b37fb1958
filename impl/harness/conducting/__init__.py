"""A cluster that takes the steps of a counterexample, one after another, as it is told."""
