"""Replicas that rest where nobody leads: those of this project in recordings up to format 7, and of no release of Kafka."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.replica.broker import follow, lead, rest


def obey_or_rest(broker, b, leader, epoch, isr):
    """Lead, follow, or rest in a new leader epoch. Returns whether a fetcher starts."""
    if leader == b:
        lead(broker, b, epoch, isr)
        return False
    if leader == NOBODY:
        rest(broker, epoch)
        return False
    follow(broker, leader, epoch)
    return True
