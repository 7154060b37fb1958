"""Clusters from outside: of ours and of real Kafka, links and faults, counterexamples that are driven."""
