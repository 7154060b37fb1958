"""The driver of a quorum's leader while it rules: what it writes are steps of *migration*, which are run.

A state of *migration* has one driver and one topic with one partition: it stands for the one that a record writes. What
ZooKeeper's log does not show is put in: the driver has read what is there, its image has what it writes, and of the quorum's
log the epoch of the record that /migration names. An offset is one more than Kafka's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from kafkaproof.spec.kafka.zookeeper import NEWER, Answer
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.language.sets import only
from kafkaproof.spec.migration import claiming, writing
from kafkaproof.spec.migration.driver import allows_dual_write
from kafkaproof.spec.migration.history.drivers import begin_with_version
from kafkaproof.spec.migration.model import scope
from kafkaproof.spec.migration.state import (
    BECOME_CONTROLLER,
    CLAIMED,
    CLAIMING,
    CREATING,
    CREATING_STATE,
    DELETING,
    DELETING_STATE,
    DUAL_WRITE,
    IN_MIGRATION,
    NO_STATE,
    STATE,
    SYNC_KRAFT_TO_ZK,
    UPDATING,
    WAITING,
    WRITTEN,
    ZK_MIGRATION,
    put,
)
from kafkaproof.traces.zookeeper.transactions import Create, Delete, Failure, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState
from kafkaproof.traces.zookeeper.znodes.quorum import MIGRATION, Owner, Progress, claim_in, progress_in

SYSTEM, CLAIM, NO_EPOCH = "migration", claiming.claim.__name__, -1
NO_NODE = -101
C, TOPIC, BROKER, QUORUM = 0, 0, 0, 1
"""The driver, the topic, and who may own /controller: one broker stands for all."""
_DOES = {
    ZK_MIGRATION: "copies from ZooKeeper, and writes the offset of the copy next",
    SYNC_KRAFT_TO_ZK: "makes ZooKeeper like its log",
    DUAL_WRITE: "writes to both stores",
}
_CHANGES: dict[tuple[str, type], tuple[Callable, int]] = {
    ("topic", Create): (writing.create_topic, CREATING),
    ("state of a partition", Create): (writing.create_state, CREATING_STATE),
    ("state of a partition", SetData): (writing.update_state, UPDATING),
    ("state of a partition", Delete): (writing.delete_state, DELETING_STATE),
    ("topic", Delete): (writing.delete_topic, DELETING),
    ("request to delete", Delete): (writing.clear_deletions, WAITING),
}
"""By what a record changes, and how: the transition, and what the driver is about to do. Only the last request of a step,
and that of a topic, is in the model; the others are of the listed kinds."""
_ASKED = (writing.create_state, writing.update_state, writing.delete_topic, writing.clear_deletions)
"""Transitions that have an argument: whether the answer is lost."""


class _Records(list):
    """The quorum's log, as far as a driver looks into it: the one record that its image ends with."""

    def __getitem__(self, _: Any) -> Any:
        return super().__getitem__(0)


def _state(epoch: int) -> Plain:
    """A state in which a driver of a leader in an epoch runs, which knows the version of /migration."""
    s = new_state(STATE, scope(brokers=1, controllers=1))
    s.stage = IN_MIGRATION
    s.drivers[C].epoch = s.quorum.epoch = epoch
    s.quorum.leader = C
    s.quorum.records = _Records([s.quorum.records[0]])
    s.zk.migration.exists, s.zk.migration.readers = 1, only(C)
    s.zk.topic.topic = NOBODY
    put(s.quorum.records[0], NOBODY, NOBODY, NO_STATE)
    return s


@dataclass
class Driver:
    """The driver of a leader that rules: the session by which it writes, and a state of *migration* in which it does.

    `announces`: it writes /migration when it has claimed the rule, as some releases do and others do not; `known`: what
    /migration says then;
    `batch`: the record with which a batch of multis began that has not ended; `refused`: a record that was refused since
    the last write of an offset; `lacks`: the first that was refused because a znode is not there.
    """

    session: int
    owner: Owner
    s: Plain = field(repr=False)
    announces: bool = True
    known: Progress | None = None
    batch: int | None = None
    refused: int | None = None
    lacks: int | None = None

    @property
    def name(self) -> str:
        """Who it is, in words."""
        return f"controller {self.owner.id} of the quorum, KRaft epoch {self.owner.epoch}"

    @property
    def does(self) -> str:
        """What it does, in words."""
        if self.begins:
            return "has claimed the rule, and writes /migration next"
        return _DOES[self._driver.driving]

    @property
    def begins(self) -> bool:
        """Whether it has claimed the rule, and written nothing yet."""
        return self._driver.writing == CLAIMED

    @property
    def copies(self) -> bool:
        """Whether it copies from ZooKeeper."""
        return self._driver.driving == ZK_MIGRATION

    @property
    def synchronises(self) -> bool:
        """Whether it makes ZooKeeper like its log."""
        return self._driver.driving == SYNC_KRAFT_TO_ZK

    @property
    def writes_both(self) -> bool:
        """Whether it writes to both stores."""
        return allows_dual_write(self._driver.driving)

    @property
    def _driver(self) -> Plain:
        return self.s.drivers[C]

    def refuse(self, transaction: Transaction) -> None:
        """Take in a record that ZooKeeper refused."""
        self.refused = self.refused or transaction.zxid
        if any(isinstance(each, Failure) and each.code == NO_NODE for each in transaction.operations):
            self.lacks = self.lacks or transaction.zxid

    def go_on(self, before: Progress) -> None:
        """It has claimed the rule, and goes on without a write, if it does so."""
        if self.begins and not self.announces:
            self._know(before)
            begin_with_version(self.s, C)

    def write_progress(self, before: Progress, after: Progress) -> tuple[str, str | None]:
        """Take in a write of /migration that stands alone: the step that makes it, and why none does, if so."""
        if self.batch is not None and self.refused is None:
            return "", f"the batch that begins at {self.batch:#x} has no last record, which would write /migration"
        self.batch = None
        if after.controller != self.owner.id:
            return "", f"/migration names controller {after.controller}, and {self.name} writes it"
        self._know(before)
        step = self._write_next(after)
        if step is None:
            return "", (
                f"{self.name} {self.does}, and has written offset {before.offset} of epoch {before.epoch}: it does not go on "
                f"with offset {after.offset} of epoch {after.epoch}"
            )
        found = self.s.zk.migration
        made = Progress(self.owner.id, found.controller_epoch, found.offset - 1, found.metadata_epoch or NO_EPOCH)
        if made != after:
            return step, f"{SYSTEM}.{step} writes {made.told}, and this is {after.told}"
        return step, None

    def _know(self, before: Progress) -> None:
        """The driver knows what /migration says."""
        znode, driver = self.s.zk.migration, self._driver
        znode.offset = driver.offset = before.offset + 1
        znode.metadata_epoch = driver.metadata_epoch = max(before.epoch, 0)

    def _write_next(self, after: Progress) -> str | None:
        """Take the steps up to the next write of /migration that stands alone; its name, None where they are not enabled."""
        s, driver = self.s, self._driver
        if self.begins:
            return _name(claiming.begin_to_rule) if claiming.begin_to_rule(s, C) else None
        if self.copies:
            s.quorum.end = after.offset
            taken = claiming.copy_metadata(s, C) and claiming.complete_copy(s, C) and claiming.record_copy(s, C, 0)
            return _name(claiming.record_copy) if taken else None
        s.quorum.end, s.quorum.records[0].epoch = after.offset + 1, after.epoch
        if self.synchronises:
            driver.image = s.quorum.end
            if not (writing.synchronise(s, C) and writing.tell_all(s, C)):
                return None
        driver.image = after.offset
        if not writing.take_record(s, C) or driver.writing != WRITTEN:
            driver.writing = WAITING
            return None
        return _name(writing.record_offset) if writing.record_offset(s, C, 0) else None

    def expect_guarded(self, before: Progress, after: Progress | None, zxid: int) -> str | None:
        """Take in a multi that checks /migration, or (`after`) writes it again as it is; why no driver makes it, if so."""
        if not self.synchronises and not self.writes_both or self.begins:
            return f"{self.name} {self.does}, and changes no metadata before"
        self._know(before)
        if after is None:
            self.batch = self.batch or zxid
            return None
        self.batch = None
        known = before._replace(controller=self.owner.id, controller_epoch=self.owner.epoch)
        if after != known:
            return f"the last record of a batch writes {known.told} into /migration, and this is {after.told}"
        return None

    def change(
        self, kind: str, how: type, standing: PartitionState | None, there: bool, to: PartitionState | None
    ) -> str | None:
        """Run the step that changes a topic, the state of its partition, or a request to delete it; None where none does.

        `standing`: the state of the partition, None without one; `there`: the topic exists; `to`: what is written. The
        step's name; raises Departure where it writes something else.
        """
        step = _CHANGES.get((kind, how))
        if step is None:
            return None
        transition, about = step
        s, driver = self.s, self._driver
        driving, image = driver.driving, s.quorum.records[0]
        driver.image, image.epoch = driver.offset, driver.metadata_epoch
        put(s.zk.topic, TOPIC if there else NOBODY, *_content(standing))
        put(image, TOPIC, *_content(to))
        driver.writing, s.zk.deleting = about, int(transition is writing.clear_deletions)
        arguments = (0,) if transition in _ASKED else ()
        taken = transition(s, C, *arguments)
        found, s.zk.deleting = (s.zk.topic.leader, s.zk.topic.leader_epoch), 0
        driver.driving, driver.writing = driving, WAITING
        put(s.zk.topic, NOBODY, NOBODY, NO_STATE)
        put(image, NOBODY, NOBODY, NO_STATE)
        told = f"{SYSTEM}.{_name(transition)}"
        if not taken:
            raise Departure(f"{told} is not enabled while {self.name} {self.does}")
        if to and found != _content(to):
            raise Departure(f"{told} is refused by what ZooKeeper has: {standing}")
        if to and s.zk.state_epoch != to.controller_epoch:
            raise Departure(f"{told} writes controller epoch {s.zk.state_epoch}, and this is {to.controller_epoch}")
        return _name(transition)


def _name(transition: Callable) -> str:
    return transition.__name__


class Departure(ValueError):
    """A record that is not what the step writes that makes such records; the text says why."""


def _content(state: PartitionState | None) -> tuple[int, int]:
    return (state.leader, state.leader_epoch) if state else (NOBODY, NO_STATE)


def claim(
    session: int, owner: Owner, former: Owner | None, exists: bool, epoch: int, raised: int, announces: bool
) -> Driver | str:
    """The driver that claims the rule, or why none does so.

    `former` is the quorum's controller that owns /controller, which `exists`; `epoch`, `raised`: /controller_epoch.
    """
    s = _state(owner.epoch)
    s.zk.controller = NOBODY if not exists else QUORUM if former else BROKER
    s.zk.kraft_epoch, s.zk.epoch = former.epoch if former else 0, epoch
    s.drivers[C].driving, s.drivers[C].writing = BECOME_CONTROLLER, WAITING
    claiming.look_for_owner(s, C)
    if s.drivers[C].writing != CLAIMING:
        told = f"{SYSTEM}.{_name(claiming.look_for_owner)} -> {Answer.names[NEWER]}"
        return f"{told}: /controller has KRaft epoch {s.zk.kraft_epoch}, and this is {owner.epoch}"
    claiming.claim(s, C, 0)
    if s.zk.epoch != raised:
        return f"{SYSTEM}.{_name(claiming.claim)} writes {s.zk.epoch} into /controller_epoch, and this is {raised}"
    return Driver(session, owner, s, announces)


def in_charge(owner: Owner) -> Driver:
    """The driver of a leader that rules when the log begins: its session is not known yet."""
    s = _state(owner.epoch)
    s.drivers[C].driving = DUAL_WRITE
    return Driver(0, owner, s)


def are_announced(transactions: Iterable[Transaction], root: str) -> bool:
    """Whether those who claim the rule in a log then write /migration as it is: some do, or none writes anything else."""
    standing, claimed, others = None, set[int](), 0
    for each in transactions:
        if claim_in(each, root):
            claimed.add(each.session)
        first = each.first
        if each.multi or not isinstance(first, SetData | Create) or first.path != root + MIGRATION:
            continue
        progress = progress_in(first.data)
        if progress and standing and each.session in claimed:
            claimed.discard(each.session)
            if (progress.offset, progress.epoch) == (standing.offset, standing.epoch):
                return True
            others += 1
        standing = progress
    return others == 0
