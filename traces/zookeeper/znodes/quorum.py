"""What /controller and /migration say of a quorum.

Source: kafka.zk.ControllerZNode, 3.4 to 3.9; kafka.zk.MigrationZNode, 3.4 to 3.9.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkaproof.traces.zookeeper.transactions import Create, Transaction
from kafkaproof.traces.zookeeper.znodes.json_parts import is_int, json_in

CONTROLLER, EPOCH, MIGRATION = "/controller", "/controller_epoch", "/migration"
NO_OFFSET = -1


class Owner(NamedTuple):
    """A controller of a quorum that /controller names, and its KRaft epoch."""

    id: int
    epoch: int


class Progress(NamedTuple):
    """What /migration says: who wrote it in which KRaft epoch, and up to which record ZooKeeper has what the log has.

    `epoch`: that of the record at `offset`, which is NO_OFFSET before the copy.
    """

    controller: int
    controller_epoch: int
    offset: int
    epoch: int

    @property
    def is_copied(self) -> bool:
        """Whether the copy from ZooKeeper is complete."""
        return self.offset >= 0

    @property
    def told(self) -> str:
        """The same in words."""
        return f"offset {self.offset} of epoch {self.epoch}, by controller {self.controller} in KRaft epoch {self.controller_epoch}"


def owner_in(data: bytes | None) -> Owner | None:
    """The quorum's controller that /controller names; None where it names a broker."""
    found = json_in(data)
    id, epoch = found.get("brokerid"), found.get("kraftControllerEpoch")
    return Owner(id, epoch) if is_int(id) and is_int(epoch) and epoch >= 0 else None


def progress_in(data: bytes | None) -> Progress | None:
    """What /migration says; None where it is not as Kafka writes it."""
    found = json_in(data)
    names = ("kraft_controller_id", "kraft_controller_epoch", "kraft_metadata_offset", "kraft_metadata_epoch")
    numbers = [found.get(name) for name in names]
    if found.get("version") != 0 or len(found) != len(names) + 1 or not all(type(each) is int for each in numbers):
        return None
    id, epoch, offset, metadata_epoch = (each for each in numbers if isinstance(each, int))
    return Progress(id, epoch, offset, metadata_epoch)


def claim_in(transaction: Transaction, root: str) -> Owner | None:
    """The quorum's controller that takes /controller by a record, None where none does."""
    if transaction.failed:
        return None
    made = (each for each in transaction.operations if isinstance(each, Create) and each.path == root + CONTROLLER)
    return next((owner for each in made if (owner := owner_in(each.data))), None)
