"""Mutants of leader_recovery_state."""

from kafkaproof.spec.kafka import strategies
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.mutants.partition_mutant import ONE, mutant


def never_marked(was_recovering, isr, leader, by_leader):
    """An unclean election leaves no mark."""
    return 0


def always_marked(was_recovering, isr, leader, by_leader):
    """Every election marks the partition RECOVERING."""
    return 0 if by_leader else 1


def kept_by_leader(was_recovering, isr, leader, by_leader):
    """A leader that is RECOVERING keeps that when it changes the ISR."""
    return 1 if leader != NOBODY and not contains(isr, leader) else was_recovering


def ended_by_election(was_recovering, isr, leader, by_leader):
    """A clean election, or a removal, ends what an unclean one has marked."""
    return 1 if not by_leader and leader != NOBODY and not contains(isr, leader) else 0


def marked(rule, name, kills):
    """A mutant of what is written."""
    return mutant(name, kills, {strategies.recovery_written: rule}, ONE)


MUTANTS = (
    marked(never_marked, "unmarked", "marked_when_unclean"),
    marked(always_marked, "marked-when-clean", "marked_as_replayed"),
    marked(kept_by_leader, "kept-by-leader", "recovering_alone"),
    marked(ended_by_election, "ended-by-election", "recovered_by_leader"),
)
