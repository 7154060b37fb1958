"""The models that check what `topics` leaves out, or bounds more tightly."""

SLICES = ("partition", "altering"), ("partition", "expanding"), ("partition", "recreating")
"""The slices of `partition` in finer steps that have the same transitions: their properties have mutants there."""
IN_PHASES = ("partition", "phases-checked"), *SLICES
"""Those of releases that reassign in two phases (up to 2.3)."""
PARTS = IN_PHASES
"""Those of any variant."""
