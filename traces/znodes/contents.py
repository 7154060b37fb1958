"""What the znodes of brokers, controllers and partitions say."""

import re
from functools import lru_cache
from typing import NamedTuple

from traces.znodes.json_parts import LONGEST, json_in


def broker_in(data: bytes | None) -> int | None:
    """The broker that /controller names: a JSON object, before 0.8.1 a bare number."""
    found = json_in(data).get("brokerid")
    return found if isinstance(found, int) else number_in(data)


def number_in(data: bytes | None) -> int | None:
    """The decimal number that /controller_epoch holds."""
    return int(data) if data and data.isdigit() and len(data) <= LONGEST else None


class PartitionState(NamedTuple):
    """What a partition's state znode says, as far as it is followed."""

    leader: int
    leader_epoch: int
    controller_epoch: int
    isr: tuple[int, ...]


_INT = rb"-?(?:0|[1-9]\d{0,8})"
USUAL_STATE = re.compile(
    rb'\{"controller_epoch":(?P<controller_epoch>%b),"leader":(?P<leader>%b),"version":1,'
    rb'"leader_epoch":(?P<leader_epoch>%b),"isr":\[(?P<isr>(?:%b(?:,%b)*)?)\]\}' % ((_INT,) * 5))
"""A state as Kafka 0.8 to 3.9 writes it, which is read without a reader of JSON: there are more of these than of all
else."""


@lru_cache(maxsize=100_000)
def partition_state(data: bytes | None) -> PartitionState | None:
    """The partition state that a znode holds; None when it is none."""
    if data and (usual := USUAL_STATE.fullmatch(data)):
        controller_epoch, leader, leader_epoch, isr = usual.groups()
        return PartitionState(int(leader), int(leader_epoch), int(controller_epoch), listed_ids(isr))
    return partition_state_in(json_in(data))


@lru_cache(maxsize=10_000)
def listed_ids(listed: bytes) -> tuple[int, ...]:
    """The ids of an ISR as USUAL_STATE takes it out of a state."""
    return tuple(map(int, listed.split(b","))) if listed else ()


def partition_state_in(found: dict) -> PartitionState | None:
    """The partition state that a JSON object is; None when it is none."""
    try:
        numbers = (int(found[name]) for name in ("leader", "leader_epoch", "controller_epoch"))
        return PartitionState(*numbers, tuple(found["isr"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


@lru_cache(maxsize=100_000)
def state_in(data: bytes | None) -> PartitionState | None:
    """The partition state that a znode holds, None when it is none or its ISR is no list of broker ids."""
    state = partition_state(data)
    return state if state and all(isinstance(broker, int) for broker in state.isr) else None
