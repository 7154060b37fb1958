"""Mutants of idempotent producers: one deliberate mistake each."""

from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere
from kafkaproof.spec.replica.broker import enough_in_sync
from kafkaproof.spec.replica.producing import network, replica, sequences
from kafkaproof.spec.replica.producing.history import unknown as former
from kafkaproof.spec.replica.producing.model import scope
from kafkaproof.spec.replica.producing.network import note_record, tell
from kafkaproof.spec.replica.producing.replica import known_up_to
from kafkaproof.spec.replica.producing.sequences import (
    DUPLICATE,
    INVALID_PRODUCER_EPOCH,
    OUT_OF_ORDER_SEQUENCE_NUMBER,
    UNKNOWN,
    forget,
    is_known,
    is_next,
)
from kafkaproof.spec.replica.zookeeper import OK


def judge_nothing(entry, epoch, first, last):
    """A leader appends whatever a producer sends."""
    return OK


def follow_nothing(s, b):
    """Followers know nothing of producers."""
    return 0


def follow_appends(s, b):
    """A follower that truncates its log goes on knowing what was there."""
    broker = s.brokers[b]
    if broker.log.length > known_up_to(broker.producer):
        note_record(s.clients, broker, broker.log.length - 1)


def load_nothing(s, b):
    """A new process knows nothing of producers."""
    forget(s.brokers[b].producer)


def follows_anything(entry, first):
    """Any sequence number may follow."""
    return True


def take_first_of_unknown(first):
    """A leader that knows nothing of a producer takes any sequence number, as from 2.5 on."""
    return OK


def tell_at_once(clients, zk, b, broker):
    """A producer is told the offset as soon as its leader has the record."""
    if broker.log.length > 0 and enough_in_sync(broker):
        tell(clients, broker.log.slots[broker.log.length - 1].id, broker.log.length - 1)


def last_offset(entry, first):
    """A duplicate is answered with the offset of the last batch."""
    return entry.batches.slots[entry.batches.length - 1].offset


def knows_no_batch(entry, epoch, first, last):
    """A leader knows no batch again, so that one is out of order."""
    return False


def judge_any_epoch(entry, epoch, first, last):
    """A record of an older producer epoch is taken like one of a newer."""
    if is_known(entry, epoch, first, last):
        return DUPLICATE
    if entry.epoch != epoch:
        return OK
    return OK if is_next(entry, first) else OUT_OF_ORDER_SEQUENCE_NUMBER


def judge_across_epochs(entry, epoch, first, last):
    """A new producer epoch goes on with the sequence numbers of the one before."""
    if is_known(entry, epoch, first, last):
        return DUPLICATE
    if epoch < entry.epoch:
        return INVALID_PRODUCER_EPOCH
    if entry.epoch == UNKNOWN:
        return OK
    return OK if is_next(entry, first) else OUT_OF_ORDER_SEQUENCE_NUMBER


SMALL, ONE, BUMPED = scope(), scope(log=1, records=1), scope(bumps=1, epochs=0)


def mutant(name, kills, replacements, at=SMALL):
    """A mutant, told by the docstring of what replaces something."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


MUTANTS = (
    mutant("records-unjudged", "stands_once", {sequences.judge: judge_nothing}, scope(records=1, epochs=0)),
    mutant("followers-unaware", "stands_once", {replica.follow_log: follow_nothing}),
    mutant("restarted-unaware", "stands_once", {replica.load_producers: load_nothing}, scope(faults=1)),
    mutant("truncated-but-known", "known_by_log", {replica.follow_log: follow_appends}),
    mutant("any-sequence", "in_order", {sequences.is_next: follows_anything}),
    mutant("told-by-leader", "told_is_true", {network.commit_and_tell: tell_at_once}),
    mutant("offset-of-last", "told_stays", {sequences.offset_of: last_offset}, scope(epochs=0)),
    mutant("unknown-again", "duplicate_is_answered", {sequences.is_known: knows_no_batch}, ONE),
    mutant("zombie-accepted", "older_epoch_is_refused", {sequences.judge: judge_any_epoch}, BUMPED),
    mutant("epoch-goes-on", "next_is_taken", {sequences.judge: judge_across_epochs}, BUMPED),
)
REFUSING = (
    mutant("second-accepted", "without_gaps", {former.unknown_unless_first: take_first_of_unknown}, scope(epochs=0)),
)
