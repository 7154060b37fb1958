"""Where a controller in ZooKeeper mode rules no more: a quorum claims the rule, or a format is not known yet."""

from typing import NamedTuple

from kafkaproof.traces.zookeeper.znodes.foreign_writes import Declared
from kafkaproof.traces.zookeeper.znodes.formats import NEWEST
from kafkaproof.traces.zookeeper.znodes.quorum import CONTROLLER, Owner, owner_in


class End(NamedTuple):
    """The first record that no cluster in ZooKeeper mode has: what it is; `migrated`: a quorum claims the rule by it."""

    zxid: int
    text: str
    migrated: bool


def claimed_at(zxid: int, owner: Owner) -> End:
    """The end that a quorum's controller makes when it claims the rule."""
    text = f"migrated to KRaft: controller {owner.id} of a quorum rules from {zxid:#x} on, in KRaft epoch {owner.epoch}"
    return End(zxid, text, True)


def end_at(zxid: int, path: str, data: bytes | None, declared: Declared | None) -> tuple[str, End] | None:
    """The chroot of the cluster that a znode, as it is at a zxid, shows to end there, if it does."""
    if path.endswith(CONTROLLER) and (owner := owner_in(data)):
        return path.removesuffix(CONTROLLER), claimed_at(zxid, owner)
    if declared is None or declared.content.later is None:
        return None
    return declared.root, End(
        zxid,
        f"no Kafka up to {NEWEST} writes this: {path} at {zxid:#x} is of format {declared.content.later}, and "
        f"{declared.known.newest} is the newest that is known; replay ends before it",
        False,
    )
