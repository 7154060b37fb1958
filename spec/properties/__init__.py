"""Properties of each system, by the identifiers and names of the field."""
