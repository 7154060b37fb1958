"""The offsets partition at one broker, as replay has it, and what a group asks of it (`kafkaproof.spec.group.storage`)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Protocol

from kafkaproof.spec.group.cache import describe_group
from kafkaproof.spec.group.records import GROUP_RECORD, RECORD, name_record
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.group.storage import NOT_ENOUGH_REPLICAS_AFTER_APPEND, NOT_LEADER, TIMED_OUT
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.running.coordinators import SCOPE
from kafkaproof.traces.processes.recorded.offset_records import GroupEntry, Tombstone
from kafkaproof.traces.processes.state.result import Divergence


class OffsetsLog(Protocol):
    """The offsets partition at one broker."""

    @property
    def length(self) -> int:
        """How many batches its log has."""

    def id(self, place: int) -> int:
        """The id of the batch at a place."""

    def leads(self) -> bool:
        """Whether the broker leads it, as it knows."""

    def rules(self) -> bool:
        """Whether it does, by ZooKeeper."""

    def lacks_replicas(self) -> bool:
        """Whether it would refuse an append for want of replicas."""

    @property
    def committed(self) -> int:
        """How many batches it knows to be committed."""

    def news(self) -> tuple[int, int]:
        """The leader epoch, and the leader, that it has heard of last; the leader is -1 for none."""


class Storage:
    """The seams to the offsets log, each the one of its name in `kafkaproof.spec.group.storage`.

    `outcomes` has what has become of appends by place: None for acknowledged, else the error; `undecided` has the ids of
    the others. `written` is the record that the step at hand has appended, `recorded` the place that the recording
    tells. `group` is the `Group` that has it.
    """

    def __init__(self, group, log: OffsetsLog, changes: list[bool]):
        self._group, self._log, self._changes = group, log, changes
        self.log = SimpleNamespace(slots=self)
        self.outcomes: dict[int, int | None] = {}
        self.undecided: dict[int, int] = {}
        self.answered: set[int] = set()
        self.deleted: set[int] = set()
        self.written: Plain | None = None
        self.recorded: int | None = None
        self.ghosts = SimpleNamespace(gone=0, stale=0)

    def __getitem__(self, place):
        return self._group.read(place)

    def leads(self, b):
        """Whether this broker leads the offsets partition."""
        return self._log.leads()

    def takes_appends(self, b):
        """Whether its log may refuse one for want of replicas."""
        return self._log.leads() and self._log.lacks_replicas()

    def has_news(self, epoch):
        """Whether this broker has heard of a later leader."""
        return len(self._changes) > epoch

    def is_next_leader(self, b, epoch):
        """Whether it is the one."""
        return self._changes[epoch]

    def has_more(self, b, read):
        """Whether there is another batch to be read."""
        return self._log.leads() and read < self._log.length

    def is_readable(self, read):
        """Whether all was read."""
        return read == self._log.length

    def put_record(self, b, kind, generation):
        """A commit is appended where the recording says."""
        self.written = new_state(RECORD, SCOPE)
        name_record(self.written, kind, generation)
        return self._place()

    def append_group(self, b, group, owner):
        """So is the group."""
        self.put_record(b, GROUP_RECORD, group.generation)
        describe_group(self.written, group, owner)
        return self._place()

    def _place(self):
        if self.recorded is None:
            raise Divergence("it appends a batch, and none is recorded")
        return self.recorded

    def last_generation(self):
        """The generation in the last record of the group; a tombstone has none."""
        found = self._group.last_entry((GroupEntry, Tombstone))
        return found[1].generation if found and isinstance(found[1], GroupEntry) else 0

    def may_succeed(self, b, position):
        """Whether an append was acknowledged."""
        return position in self.outcomes and self.outcomes[position] is None

    def may_fail(self, position, error):
        """Whether it has failed so; who has heard nothing of it may give up."""
        if position == NOWHERE:
            return error == NOT_LEADER
        return error == (TIMED_OUT if position in self.undecided else self.outcomes.get(position, NOWHERE))

    def decide(self, position: int, error: int | None) -> None:
        """It is known what has become of an append."""
        self.outcomes[position] = error
        self.undecided.pop(position, None)

    def acknowledge(self, position):
        """Replication has done it."""

    def fail(self, position):
        """Replication has done it; of one that was given up nothing is heard any more."""
        self.undecided.pop(position, None)

    def refuse_append(self):
        """Nobody counts."""

    def count_fault(self):
        """Nobody counts."""

    def note_commit(self, position):
        """A commit is answered with NONE: history."""
        self.answered.add(self._log.id(position))

    def owner_in(self, position):
        """The assignment in the record at a place, which is the members' from now on."""
        self._group.install_assignment(position)
        return self._group.owners[self._log.id(position)]

    def decide_deletion(self, b, offset):
        """What is in the leader's cache is to be deleted: history."""
        if self._log.leads():
            self.deleted.update(self._log.id(place) for place in range(offset + 1))

    def note_death(self, dies):
        """No property that a coordinator can show looks at it."""

    def is_aged(self, position):
        """No retention period passes."""
        return 0

    def settle(self, acked: set[int]) -> None:
        """Decide what a step of the data plane has decided: it has answered these batches."""
        for place, id in list(self.undecided.items()):
            if id in acked:
                self.decide(place, None)
            elif not self._log.leads():
                self.decide(place, NOT_LEADER)
            elif place < self._log.committed:
                self.decide(place, NOT_ENOUGH_REPLICAS_AFTER_APPEND)
