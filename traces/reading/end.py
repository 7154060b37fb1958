"""Where replay ends before a log does: at a migration to KRaft, or at a znode of a format that is not known yet."""

import re
from typing import NamedTuple

from kafkaproof.traces.zookeeper.znodes.formats import NEWEST, format_of, later_version

_MIGRATION = re.compile("(.*)/migration")


class End(NamedTuple):
    """The first record of a cluster that cannot be replayed: what it is; `migrated`: it belongs to a migration."""

    zxid: int
    text: str
    migrated: bool


def end_at(zxid: int, path: str, data: bytes | None) -> tuple[str, End] | None:
    """The chroot of the cluster that a znode, as it is at a zxid, shows to end there, if it does."""
    if migrated := _MIGRATION.fullmatch(path):
        return migrated[1], End(
            zxid,
            f"migrated to KRaft: {path} is there at {zxid:#x}, and what comes then is no Kafka "
            "in ZooKeeper mode; replay ends before it",
            True,
        )
    if (found := format_of(path)) is None:
        return None
    root, known = found
    if (version := later_version(known, data)) is None:
        return None
    return root, End(
        zxid,
        f"no Kafka up to {NEWEST} writes this: {path} at {zxid:#x} is of format {version}, and "
        f"{known.newest} is the newest that is known; replay ends before it",
        False,
    )
