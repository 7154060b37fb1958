"""The offsets partition as a group coordinator sees it: who leads, what is in the log, and appends to it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.broker.replica import DONE, Offer
from kafkaproof.impl.groups.storage import GroupStorage
from kafkaproof.impl.protocol.offset_records import Entry, entries_of
from kafkaproof.spec.cluster import data_plane
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.group.storage import NOT_ENOUGH_REPLICAS_AFTER_APPEND, NOT_LEADER
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.protocol.batches import read_header
from kafkaproof.spec.replica.broker import LEADER, enough_in_sync
from kafkaproof.spec.replica.clients.network import lacks_replicas

ERRORS = {"NOT_ENOUGH_REPLICAS_AFTER_APPEND": NOT_ENOUGH_REPLICAS_AFTER_APPEND}


class Leader:
    """`changes` says of each leader that this broker has heard of whether it was this broker; `done` what has become of
    appends: the seams that asked, the place, and the error, None where it is acknowledged. `appended` is, for the
    recording, what the step at hand has appended: its place, and its id in the log.
    """

    def __init__(self, process: Process, try_step: Callable[..., bool]):
        self._process, self._try_step, self.broker = process, try_step, process.broker
        self._p = process.settings.offsets
        self.changes: list[bool] = []
        self.done: list[tuple[GroupStorage, int, int | None]] = []
        self.appended: dict | None = None
        self._epoch = None

    @property
    def _plane(self):
        return self._process.planes[self._p]

    @property
    def length(self) -> int:
        """How many batches its log has."""
        return self._plane.log.length

    def leads(self) -> bool:
        """Whether this broker leads it."""
        return self._plane.replica.state == LEADER

    def takes_appends(self) -> bool:
        """Whether it would not refuse an append for want of replicas."""
        return not lacks_replicas(1, enough_in_sync(self._plane.replica))

    def look(self) -> None:
        """Note a change of the leader."""
        epoch = self._process.partition.replicas[self._p].leader_epoch
        if epoch != self._epoch and self._process.partition.replicas[self._p].leader != NOBODY:
            self._epoch = epoch
            self.changes.append(self.leads())

    def entries(self, place: int) -> list[Entry]:
        """The records of a batch."""
        return entries_of(self._plane.log.read(place))

    def groups(self) -> set[str]:
        """The names of all groups in its log."""
        return {entry.group for place in range(self.length) for entry in self.entries(place)}

    def append(self, group: str, batch: bytes, seams: GroupStorage) -> int:
        """Append a batch of a group, as a step of the data plane: its place, -1 where the log refuses it.

        Its content is recorded first: it may outlive a process that ends before it has recorded the step.
        """
        place, id = self.length, read_header(batch).crc
        self._process.note(group=group, offers={"id": id, "batch": b64encode(batch).decode()})

        def respond(error: str) -> None:
            self.done.append((seams, place, None if error == DONE else ERRORS.get(error, NOT_LEADER)))

        before, message = self.length, self._process.network.current
        self._try_step(data_plane.produce, offer=Offer(batch, respond), p=self._p, acks=1)
        self._process.network.current = message
        place = place if self.length > before else NOWHERE
        self.appended = {"place": place, "id": id}
        return place
