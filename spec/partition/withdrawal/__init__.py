"""An operator gives up a list of reassignments by deleting it (KAFKA-9478)."""
