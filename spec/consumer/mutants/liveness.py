"""Mutants of liveness of the old consumer. They are not held to the writing rules."""

from kafkaproof.spec.consumer.history import consumer_variants as variants
from kafkaproof.spec.consumer.model import scope
from kafkaproof.spec.language.mutants.mutant import mutant


def give_up(consumer):
    """The first attempt that fails is the last."""
    return True


CONSUMER = (mutant("one-attempt", "all_read", {variants.never_gives_up: give_up}, scope()),)
