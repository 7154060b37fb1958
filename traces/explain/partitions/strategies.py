"""By what the state of a partition comes to what is written, and what an election gives, with the broker ids of a log."""

from enum import StrEnum
from typing import NamedTuple

from kafkaproof.spec.kafka import strategies
from kafkaproof.spec.language.domains import NOBODY


class Strategy(StrEnum):
    """By what a partition's state comes to what is written: an election, a removal, or a leader's proposal of an ISR."""

    NEW_TOPIC = "new_topic"
    OFFLINE = "offline"
    OFFLINE_UNCLEAN = "offline_unclean"
    PREFERRED = "preferred"
    REASSIGN = "reassign"
    CONTROLLED_SHUTDOWN = "controlled_shutdown"
    REMOVAL = "remove_from_isr"
    EPOCH_BUMP = "epoch_bump"
    ISR_EXPAND = "isr_expand"
    ISR_SHRINK = "isr_shrink"


class Elected(NamedTuple):
    """A leader and the new ISR."""

    leader: int
    isr: frozenset[int]


def may_be_recovering(was_recovering: bool, isr: frozenset[int], written: Elected) -> bool:
    """Whether a state may be written as RECOVERING; `isr`: that before it."""
    ids = sorted({*isr, *written.isr, written.leader} - {NOBODY})
    number = {broker: place for place, broker in enumerate(ids)} | {NOBODY: NOBODY}
    sets = [sum(1 << number[broker] for broker in part) for part in (isr, written.isr)]
    return strategies.may_be_recovering(was_recovering, sets[0], number[written.leader], sets[1])
