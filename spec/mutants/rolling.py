"""Mutants of the rolling upgrade."""

from spec.mutants.election import UNCHECKED_STATE
from spec.mutants.mutant import Mutant, within
from spec.museum.rolling import scope

MUTANTS = (
    Mutant("upgraded-unchecked", "An upgraded broker writes the partition state unchecked.", "upgraded_writes_in_time",
           within("write_state", UNCHECKED_STATE), scope(2, 3, 1, 1)),
)
