"""What the znodes of brokers, controllers and partitions say."""

import re
from functools import lru_cache
from typing import NamedTuple

from kafkaproof.traces.zookeeper.znodes.formats import STATE, content_of
from kafkaproof.traces.zookeeper.znodes.json_parts import LONGEST, MOST, is_int, json_in


def broker_in(data: bytes | None) -> int | None:
    """The broker that /controller names: a JSON object, before 0.8.1 a bare number."""
    found = json_in(data).get("brokerid")
    return found if is_int(found) else number_in(data)


def number_in(data: bytes | None) -> int | None:
    """The decimal number of 32 bits that /controller_epoch holds."""
    return int(data) if data and data.isdigit() and len(data) <= LONGEST and int(data) <= MOST else None


class PartitionState(NamedTuple):
    """What a partition's state znode says, as far as it is followed."""

    leader: int
    leader_epoch: int
    controller_epoch: int
    isr: tuple[int, ...]


_NUMBER = rb"(?:0|[1-9]\d{0,8})"
USUAL_STATE = re.compile(
    rb'\{"controller_epoch":(?P<controller_epoch>%b),"leader":(?P<leader>-1|%b),"version":1,'
    rb'"leader_epoch":(?P<leader_epoch>%b),"isr":\[(?P<isr>(?:%b(?:,%b)*)?)\]\}' % ((_NUMBER,) * 5)
)
"""A state as Kafka 0.8 to 3.9 writes it, which is read without a reader of JSON: there are more of these than of all
else."""
USUAL = f"^{USUAL_STATE.pattern.decode()}$"
"""The same for Arrow."""


@lru_cache(maxsize=100_000)
def state_in(data: bytes | None) -> PartitionState | None:
    """The partition state that a znode holds; None when it is none, or one that no Kafka writes."""
    if data and (usual := USUAL_STATE.fullmatch(data)):
        controller_epoch, leader, leader_epoch, isr = usual.groups()
        return PartitionState(int(leader), int(leader_epoch), int(controller_epoch), listed_ids(isr))
    return parsed_state_in(data)


@lru_cache(maxsize=10_000)
def listed_ids(listed: bytes) -> tuple[int, ...]:
    """The ids of an ISR as USUAL_STATE takes it out of a state."""
    return tuple(map(int, listed.split(b","))) if listed else ()


def is_recovering(data: bytes | None) -> bool:
    """Whether a partition state says that its leader recovers from an unclean election (3.2+)."""
    return json_in(data).get("leader_recovery_state") == 1


def parsed_state_in(data: bytes | None) -> PartitionState | None:
    """The same by a reader of JSON, in whatever form it is written."""
    fault = content_of(STATE, data).fault
    if fault and fault.certain:
        return None
    found = json_in(data)
    return PartitionState(found["leader"], found["leader_epoch"], found["controller_epoch"], tuple(found["isr"]))
