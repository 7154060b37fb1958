"""Mutants of the rolling upgrade."""

from kafkaproof.spec.election.model import scope
from kafkaproof.spec.election.mutants.election import UNCHECKED_STATE
from kafkaproof.spec.language.mutants.mutant import Mutant, within

MUTANTS = (
    Mutant(
        "upgraded-unchecked",
        "An upgraded broker writes the partition state unchecked.",
        "upgraded_writes_in_time",
        within("write_state", UNCHECKED_STATE),
        scope(epochs=3),
    ),
)
