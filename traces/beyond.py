"""Where replay ends before a log does: at a migration to KRaft, or at a znode of a format that is not known yet."""

import re
from functools import lru_cache
from typing import NamedTuple

from traces.znodes.json_parts import json_in

NEWEST = "3.9"
"""The newest version of Kafka whose formats are known, the last one with a ZooKeeper mode."""
_FORMATS = (
    (r"/brokers/topics/[^/]+/partitions/\d+/state", 1),
    (r"/brokers/topics/[^/]+", 3),
    (r"/brokers/ids/\d+", 5),
    (r"/controller|/feature|/config/changes/[^/]+", 2),
    (r"/admin/(?:reassign_partitions|preferred_replica_election)|/(?:isr_change|log_dir_event)_notification/[^/]+"
     r"|/config/(?:topics|clients|users|brokers|ips)/.+|/cluster/id|/latest_producer_id_block", 1),
)
"""The newest known format of each kind of znode: what stands in its JSON as "version" (KAFKA 1.4)."""
_KINDS = [(re.compile(f"(.*)(?:{paths})"), newest) for paths, newest in _FORMATS]
_MIGRATION = re.compile("(.*)/migration")


class End(NamedTuple):
    """The first record of a cluster that cannot be replayed: what it is; `migrated`: it belongs to a migration."""

    zxid: int
    text: str
    migrated: bool


def end_at(zxid: int, path: str, data: bytes | None) -> tuple[str, End] | None:
    """The chroot of the cluster that a znode, as it is at a zxid, shows to end there, if it does."""
    if found := _MIGRATION.fullmatch(path):
        return found[1], End(zxid, f"migrated to KRaft: {path} is there at {zxid:#x}, and what comes then is no Kafka "
                                   "in ZooKeeper mode; replay ends before it", True)
    if (known := format_of(path)) is None:
        return None
    root, newest = known
    version = _version(data)
    if version <= newest:
        return None
    return root, End(zxid, f"a later Kafka than {NEWEST}: {path} at {zxid:#x} is of format {version}, and {newest} is "
                           "the newest that is known; replay ends before it; take a later kafkaproof", False)


@lru_cache(maxsize=100_000)
def format_of(path: str) -> tuple[str, int] | None:
    """The chroot of a znode with a format, and the newest one that is known."""
    for pattern, newest in _KINDS:
        if found := pattern.fullmatch(path):
            return found[1], newest
    return None


def _version(data: bytes | None) -> int:
    """The format that a znode names, a number or (in /cluster/id) a text; 0 where it names none."""
    version = json_in(data).get("version", 0)
    if isinstance(version, str) and version.isdecimal():
        return int(version)
    return version if isinstance(version, int) else 0
