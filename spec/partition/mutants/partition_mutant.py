"""How a mutant of partitions is written down, and the scopes that are enough to kill one."""

from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere, within


def scope(brokers, epochs, leader_epochs, faults, partitions=1):
    """A scope with two replicas."""
    return {
        "brokers": brokers,
        "replicas": 2,
        "partitions": partitions,
        "epochs": epochs,
        "leader_epochs": leader_epochs,
        "faults": faults,
    }


CALM, ONE, TWO, MORE = scope(2, 1, 2, 0), scope(2, 2, 2, 1), scope(2, 2, 3, 2), scope(2, 1, 2, 3)
SPARE, EARLY = scope(3, 1, 1, 0), scope(2, 2, 2, 0)
PAIR, THREE = scope(2, 1, 2, 1, partitions=2), scope(2, 1, 1, 1, partitions=3)


def mutant(name, kills, replacements, at=ONE):
    """A mutant of `fenced`, told by the docstring of what replaces something."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


def mutant_within(name, kills, transition, replacements, at=ONE):
    """The same, in one transition alone."""
    told = first_paragraph(next(iter(replacements.values())))
    return Mutant(name, told, kills, within(transition, replacements), at)
