"""What the znodes of groups of old consumers say."""

import re
from functools import lru_cache
from typing import NamedTuple

from kafkaproof.traces.zookeeper.znodes.json_parts import is_int, json_in

STATIC = "static"
_MEMBER = re.compile(r"/consumers/([^/]+)/ids/([^/]+)")
_PARTITION = re.compile(r"/consumers/([^/]+)/(owners|offsets)/([^/]+)/(\d+)", re.ASCII)
_THREAD = re.compile(r"(.+)-(\d{1,4})", re.ASCII | re.DOTALL)
_OFFSET = re.compile(r"-?\d{1,19}", re.ASCII)


class MemberPlace(NamedTuple):
    """Where a member registers."""

    group: str
    member: str


class PartitionPlace(NamedTuple):
    """Where a partition of a group has its owner, or (`of_offset`) its offset."""

    group: str
    topic: str
    partition: int
    of_offset: bool


class Subscription(NamedTuple):
    """What a member subscribes to: threads by topic, or (`pattern` is not ``static``) by a regular expression."""

    pattern: str
    threads: dict[str, int]


class Thread(NamedTuple):
    """The thread of a member that owns a partition."""

    member: str
    number: int


@lru_cache(maxsize=100_000)
def place_in_group(path: str) -> MemberPlace | PartitionPlace | None:
    """The place of a path as brokers know it, None for a znode that is no member, owner or offset."""
    if found := _MEMBER.fullmatch(path):
        return MemberPlace(*found.groups())
    if found := _PARTITION.fullmatch(path):
        group, kind, topic, partition = found.groups()
        return PartitionPlace(group, topic, int(partition), kind == "offsets")
    return None


def subscription_in(data: bytes | None) -> Subscription | None:
    """What a registration says, None where it cannot be read."""
    found = json_in(data)
    pattern, threads = found.get("pattern"), found.get("subscription")
    if not isinstance(pattern, str) or not isinstance(threads, dict) or not all(map(is_int, threads.values())):
        return None
    return Subscription(pattern, threads)


def thread_in(data: bytes | None) -> Thread | None:
    """The thread that an owner's znode names, None where it names none."""
    found = _THREAD.fullmatch((data or b"").decode(errors="replace"))
    return Thread(found[1], int(found[2])) if found else None


def offset_in(data: bytes | None) -> int | None:
    """The offset in a znode, None where it holds none."""
    text = (data or b"").decode(errors="replace")
    return int(text) if _OFFSET.fullmatch(text) else None
