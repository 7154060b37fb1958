"""What the znodes of brokers, controllers and partitions say."""

from functools import lru_cache
from typing import NamedTuple

from traces.znode_json import LONGEST, json_in


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


@lru_cache(maxsize=100_000)
def partition_state(data: bytes | None) -> PartitionState | None:
    """The partition state that a znode holds; None when it is none."""
    found = json_in(data)
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
