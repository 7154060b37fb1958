"""The data plane of one partition on one broker: its replica, its log, its messages, and the producers that wait.

A message is the record that the specification's functions read and write (`kafkaproof.spec.replica.network`): before a
step the one that has arrived is put into its place, and what the step has put there goes out
(`kafkaproof.spec.running.replica_messages`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kafkaproof.impl.broker.record import new_record, transition
from kafkaproof.impl.broker.settings import Settings
from kafkaproof.impl.seams.storage.checkpoint import STARTS, Checkpoint
from kafkaproof.impl.seams.storage.log import DELETED, FileLog
from kafkaproof.impl.seams.zookeeper.partition_numbers import FURTHER, Places
from kafkaproof.spec.language.domains import Scope, record_of
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.protocol.batches import read_header
from kafkaproof.spec.replica.broker import LEADER, enough_in_sync, rest
from kafkaproof.spec.replica.clients.network import lacks_replicas
from kafkaproof.spec.replica.network import clear
from kafkaproof.spec.replica.storage import NO_EPOCH
from kafkaproof.spec.replica.zookeeper import NOT_ENOUGH_REPLICAS, OK

DONE = "DONE"


class Offer(NamedTuple):
    """A batch that a producer wants appended; `respond` is called in the end, with DONE or the name of an error."""

    data: bytes
    respond: Callable[[str], None]


class Clients:
    """The seams of a data plane to its clients, each the one of its name in `kafkaproof.spec.replica.clients.network`.

    `offer` is the batch at hand, `position` the place that a consumer reads next; `answered` are the producers that
    are answered when the step is recorded, each with the id of its batch; `repeated` are those that have sent a batch again,
    which is in the log, each with its place.
    """

    def __init__(self):
        self.offer: Offer | None = None
        self.position = 0
        self.read: list[int] = []
        self.waiting: dict[int, Callable[[str], None]] = {}
        self.answered: list[tuple[int, bool, Callable[[str], None]]] = []
        self.repeated: list[tuple[int, Callable[[str], None]]] = []

    def take_record(self, broker, acks, enough):
        """Append the batch at hand: OK, or NOT_ENOUGH_REPLICAS with acks=all and not `enough` in sync."""
        if lacks_replicas(acks, enough):
            return NOT_ENOUGH_REPLICAS
        log = broker.log
        log.incoming = self.offer.data
        log.append(read_header(self.offer.data).crc, broker.leader_epoch)
        if acks == 1:
            self.waiting[log.length - 1] = self.offer.respond
        return OK

    def commit(self, zk, b, broker):
        """Producers that wait for batches below the high watermark are answered."""
        enough = enough_in_sync(broker)
        for place in [place for place in self.waiting if place < broker.hw]:
            self.answered.append((broker.log.slots[place].id, enough, self.waiting.pop(place)))

    def position_of(self):
        """The place that the consumer reads next."""
        return self.position

    def deliver(self, id):
        """The consumer gets the batch at its place."""
        self.read.append(id)


class Plane:
    """One partition's data plane on broker `b`; `dropped` bytes of its log were no whole batch.

    To the specification it is the state of the data plane, as far as this broker can see it. `follower_starts`: the log
    start offsets that followers have told in this leader epoch.
    """

    def __init__(self, model: Model, scope: Scope, b: int, log: FileLog, hw: int):
        domain = record_of(model.state, "planes")
        self.log, self.clients, self.zk = log, Clients(), None
        self.follower_starts: dict[int, int] = {}
        self.network = new_state(record_of(domain, "network"), scope)
        self.replica = new_record(record_of(domain, "brokers"), scope)
        self.brokers = {b: self.replica}
        with transition():
            self.replica.log = self.log
            rest(self.replica, NO_EPOCH)
            self.replica.hw = hw

    def drop_request(self, b: int):
        """Stop waiting for the answer to the present request, which another leader would not give."""
        request = self.network.messages[b].copy()
        clear(self.network, b)
        return request

    def note_deletion(self):
        """Only a model notes what is asked of a log that is deleted."""

    def note_state(self, state):
        """Only a model's data plane has a copy of the state."""

    def repeat(self, place: int | None, respond: Callable[[str], None]) -> None:
        """A producer has sent the batch at `place` again: it is answered like the first time; at once where `place` is None."""
        if place is None:
            respond(DONE)
        else:
            self.clients.repeated.append((place, respond))
            self.answer_producers()

    def answer_producers(self) -> None:
        """Answer the producers whose batches are below the high watermark, and all of them where this broker no longer
        leads.
        """
        clients, leads = self.clients, self.replica.state == LEADER
        answered, clients.answered = [each[1:] for each in clients.answered], []
        if leads:
            enough = enough_in_sync(self.replica)
            answered += [(enough, respond) for place, respond in clients.repeated if place < self.replica.hw]
            clients.repeated = [each for each in clients.repeated if each[0] >= self.replica.hw]
        for enough, respond in answered:
            respond(DONE if enough else "NOT_ENOUGH_REPLICAS_AFTER_APPEND")
        if not leads:
            left = [*clients.waiting.values(), *(respond for _, respond in clients.repeated)]
            clients.waiting, clients.repeated = {}, []
            for respond in left:
                respond("NOT_LEADER_OR_FOLLOWER")

    def found(self) -> dict:
        """What a new process has found of the replica."""
        return {"length": self.log.length, "log": self.log.chain, "hw": self.replica.hw, "dropped": self.log.dropped}

    @property
    def checkpoint(self) -> int:
        """Kafka's offset of the high watermark."""
        return self.log.offset_of(self.replica.hw)


class Disk:
    """The logs of a broker: what its processes leave to each other. Logs that a former process had begun to delete are
    removed.
    """

    def __init__(self, settings: Settings, places: Places):
        self._settings, self._places = settings, places
        self._folder = Path(settings.logs)
        self.checkpoint = Checkpoint(self._folder, places)
        self.starts = Checkpoint(self._folder, places, STARTS)
        for deleted in self._folder.glob(f"*{DELETED}"):
            shutil.rmtree(deleted, ignore_errors=True)

    @property
    def count(self) -> int:
        """For how many partitions there must be records, so that all logs have one."""
        further = [_number_of(folder.name) for folder in self._folder.glob(f"{FURTHER}-*")]
        return max(1, self._settings.partitions, *(p + 1 for p in further))

    def open(self, model: Model, scope: Scope, p: int) -> Plane:
        """The data plane of a partition: its log as it is there, high watermark and log start offset from the checkpoints."""
        log = FileLog(self._folder / "{}-{}".format(*self._places.on_disk(p)), self.starts.offset_of(p))
        return Plane(model, scope, self._settings.number, log, self.checkpoint.place_in(log, p))


def _number_of(name: str) -> int:
    """The number in the name of a folder, -1 in another name."""
    number = name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1
