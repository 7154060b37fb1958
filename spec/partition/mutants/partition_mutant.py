"""How a mutant of partitions is written down, and the scopes that are enough to kill one."""

from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere, within
from kafkaproof.spec.partition.model import scope

CALM, MORE = scope(epochs=1, leader_epochs=2, faults=0), scope(epochs=1, leader_epochs=2, faults=3)
ONE, TWO = scope(leader_epochs=2), scope(faults=2)
SPARE, EARLY = scope(brokers=3, epochs=1, leader_epochs=1, faults=0), scope(leader_epochs=2, faults=0)
THREE_TERMS = scope(epochs=3, faults=2)
PAIR, THREE = scope(partitions=2, epochs=1, leader_epochs=2), scope(partitions=3, epochs=1, leader_epochs=1)


def mutant(name, kills, replacements, at=ONE):
    """A mutant of `fenced`, told by the docstring of what replaces something."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


def mutant_within(name, kills, transition, replacements, at=ONE):
    """The same, in one transition alone."""
    told = first_paragraph(next(iter(replacements.values())))
    return Mutant(name, told, kills, within(transition, replacements), at)
