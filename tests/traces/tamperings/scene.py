"""A place in a real log where something can be tampered with: the record there, and what ZooKeeper held before it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.choice import choice_of
from kafkaproof.traces.evidence.controllers import Controllers
from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.transactions import (
    CloseSession,
    Create,
    CreateSession,
    Delete,
    Operation,
    SetData,
    Transaction,
)
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState, state_in
from kafkaproof.traces.zookeeper.znodes.topics import Place, place_of
from tests.traces.tampering import Log, dropped, moved, rewritten, swapped

CONTROLLER, EPOCH, IDS, TOPICS = "/controller", "/controller_epoch", "/brokers/ids", "/brokers/topics"
REASSIGN = "/admin/reassign_partitions"
STRANGER = 99
"""A broker that never was."""
INSERTED = -1
"""The zxid of a record that is put in, until all are numbered anew."""
SHUTDOWN = 61_000
"""Who is gone within so many ms may have been shutting down: replay gives a minute."""


class Tampered(NamedTuple):
    """What is done to a log, and where that must be reported: at record `at` (by its zxid in the real log, INSERTED for
    one that is put in), or at the latest at `until`, the first record that can show it.

    `raw`: only zxids are numbered anew, as ZooKeeper itself would be at fault; else versions and leader epochs too.
    """

    edit: Callable[[Log], Log]
    at: int
    until: int | None = None
    raw: bool = False


@dataclass(frozen=True)
class Kind:
    """A kind of tampering: `function` gives one for a place where it applies, else None; `text` is its description.

    `unseen`: why no log can show it, where none can; `harmless`: it is no fault, and nothing may be reported.
    """

    name: str
    text: str
    function: Callable
    unseen: str | None = None
    harmless: bool = False


KINDS: dict[str, Kind] = {}


def kind(unseen: str | None = None, harmless: bool = False):
    """Register a function as a kind of tampering; its docstring is the description."""

    def register(function: Callable) -> Callable:
        name = function.__name__
        assert name not in KINDS, name
        KINDS[name] = Kind(name, " ".join(function.__doc__.split()).rstrip("."), function, unseen, harmless)
        return function

    return register


class StateChange(NamedTuple):
    """A record that replaces a partition's state: its zxid, its time in ms, whose session wrote it, and both states."""

    zxid: int
    time: int
    broker: int | None
    path: str
    before: PartitionState
    after: PartitionState

    @property
    def by_leader(self) -> bool:
        """Whether it is an ISR that a leader has proposed: it leaves the leader epoch as it is."""
        return self.after.leader_epoch == self.before.leader_epoch

    @property
    def elected(self) -> int | None:
        """Who leads in the place of another one; None where none does, or the same one as before."""
        return self.after.leader if self.after.leader not in (NOBODY, self.before.leader) else None

    def takes_out(self, broker: int) -> bool:
        """Whether a controller takes a broker out of the ISR."""
        return not self.by_leader and broker in set(self.before.isr) - set(self.after.isr)


class Scene:
    """A recording with what it tells as a whole."""

    def __init__(self, recording: Recording):
        self.log = list(recording.transactions)
        self.members = Members(recording, "")
        self.features = choice_of(recording, self.members, "").likely[0]
        self.controllers = Controllers(self.members, "", {})
        for transaction in self.log:
            if not transaction.failed:
                self.controllers.add(transaction)

    @property
    def guarded(self) -> bool:
        """Whether controllers check the epoch with each write."""
        return self.features.guarded

    @cached_property
    def ends(self) -> dict[int, int]:
        """When each session ends: the time of its closeSession."""
        return {t.session: t.time for t in self.log if isinstance(t.operations[0], CloseSession)}

    @cached_property
    def changes(self) -> list[StateChange]:
        """The records that replace the state of a partition, in order."""
        found, states = [], {}
        for t in self.log:
            write = t.operations[-1]
            if t.failed or not isinstance(write, Create | SetData | Delete) or not write.path.endswith("/state"):
                continue
            after = None if isinstance(write, Delete) else state_in(write.data)
            if after and (before := states.get(write.path)):
                found.append(
                    StateChange(t.zxid, t.time, self.members.broker_of.get(t.session), write.path, before, after)
                )
            states[write.path] = after
        return found

    def records(self) -> Iterator["Record"]:
        """Each record in order that succeeded, with the tree before it."""
        tree = Tree()
        for place, transaction in enumerate(self.log):
            if not transaction.failed:
                yield Record(self, place, transaction, tree)
            tree.apply(transaction)


class Record:
    """A record of a log that succeeded: what it writes last, and what stood there; the tree is that before it."""

    def __init__(self, scene: Scene, place: int, transaction: Transaction, tree: Tree):
        self.scene, self.place, self.transaction, self.tree = scene, place, transaction, tree
        self.zxid, self.session = transaction.zxid, transaction.session
        self.write: Operation = transaction.operations[-1]
        self.path: str = getattr(self.write, "path", "") or ""
        self.znode: Place | None = place_of(self.path) if self.path else None

    @property
    def broker(self) -> int | None:
        """Whose session it is."""
        return self.scene.members.broker_of.get(self.session)

    def is_a(self, form: type, kind: str) -> bool:
        """Whether it creates, sets or deletes a znode of that kind."""
        return isinstance(self.write, form) and self.znode is not None and self.znode.kind == kind

    @cached_property
    def after(self) -> PartitionState | None:
        """The partition state that it writes."""
        written = isinstance(self.write, Create | SetData) and self.znode and self.znode.kind == "state"
        return state_in(self.write.data) if written else None

    @cached_property
    def before(self) -> PartitionState | None:
        """The partition state that it replaces."""
        node = self.tree.nodes.get(self.path)
        return state_in(node.data) if node and self.after else None

    @property
    def by_controller(self) -> bool:
        """Whether it is a controller's change of a partition's state: it raises the leader epoch."""
        return bool(self.before) and self.after.leader_epoch > self.before.leader_epoch

    @property
    def by_leader(self) -> bool:
        """Whether it is an ISR that a leader has proposed."""
        return bool(self.before) and self.after.leader_epoch == self.before.leader_epoch

    @cached_property
    def content(self) -> dict:
        """The JSON that it writes."""
        return json.loads(self.write.data)

    @cached_property
    def old_content(self) -> dict:
        """The JSON that stood there."""
        node = self.tree.nodes.get(self.path)
        return json.loads(node.data) if node and node.data else {}

    @cached_property
    def registered(self) -> frozenset[int]:
        """The brokers in /brokers/ids."""
        return frozenset(int(path.rpartition("/")[2]) for path in self.tree.children.get(IDS, ()))

    @cached_property
    def replicas(self) -> tuple[int, ...]:
        """The replicas of the partition that it is about, as the topic znode has them."""
        node = self.tree.nodes.get(f"{TOPICS}/{self.znode.topic}") if self.znode and self.znode.topic else None
        assigned = json.loads(node.data)["partitions"] if node and node.data else {}
        return tuple(assigned.get(str(self.znode.number), ())) if self.znode else ()

    @property
    def holder(self) -> int | None:
        """The session that has /controller."""
        node = self.tree.nodes.get(CONTROLLER)
        return node.ephemeral_owner if node else None

    def deleting(self, topic: str | None = None) -> bool:
        """Whether the deletion of a topic is asked for, by default that of the partition."""
        return f"/admin/delete_topics/{topic or self.znode.topic}" in self.tree.nodes

    def stays(self, broker: int, zxid: int | None = None) -> bool:
        """Whether a registered broker goes on for more than a minute (after another record): it does not shut down."""
        node = self.tree.nodes.get(f"{IDS}/{broker}")
        end = self.scene.ends.get(node.ephemeral_owner, self.scene.log[-1].time) if node else 0
        return end > self.scene.log[(zxid or self.zxid) - 1].time + SHUTDOWN

    def was_away(self, broker: int) -> bool:
        """Whether a session of a registered broker has ended since /controller was taken."""
        began = self.tree.nodes[CONTROLLER].czxid if CONTROLLER in self.tree.nodes else 0
        return any(
            self.scene.members.broker_of.get(t.session) == broker
            for t in self.scene.log[began : self.place]
            if isinstance(t.operations[0], CloseSession)
        )

    def session_of(self, broker: int) -> int:
        """The session in which a broker is registered."""
        return self.tree.nodes[f"{IDS}/{broker}"].ephemeral_owner

    def proposed(self) -> set[str]:
        """The states of which the record's broker has written an ISR as leader before, in any of its sessions."""
        return {c.path for c in self.scene.changes if c.zxid < self.zxid and c.broker == self.broker and c.by_leader}

    def never_ruled(self) -> list[int]:
        """Sessions of registered brokers that have not had /controller yet."""
        ruled = {c.session for c in self.scene.controllers.all if c.zxid <= self.zxid}
        return [s for b in sorted(self.registered) if (s := self.session_of(b)) not in ruled]

    def later(self, wanted: Callable[[Transaction], bool]) -> int | None:
        """The zxid of the first later record that succeeded and is as wanted."""
        return next((t.zxid for t in self.scene.log[self.place + 1 :] if not t.failed and wanted(t)), None)

    def next_of(self, session: int | None = None) -> int | None:
        """The zxid of the next record of a session, of its own by default, that does more than end it."""
        wanted = session or self.session
        found = self.later(lambda t: t.session == wanted)
        return None if found is None or isinstance(self.scene.log[found - 1].operations[0], CloseSession) else found

    def next_write_of(self, path: str) -> int | None:
        """The zxid of the next record that creates, sets or deletes a znode."""
        return self.later(
            lambda t: any(
                getattr(o, "path", None) == path and isinstance(o, Create | SetData | Delete) for o in t.operations
            )
        )

    def scene_record(self, zxid: int) -> "Record":
        """The place of an earlier record; what stood there before it is not at hand."""
        return Record(self.scene, zxid - 1, self.scene.log[zxid - 1], Tree())

    # What can be done here

    def drop(self, until: int | None, raw: bool = False, *others: int) -> Tampered | None:
        """Leave the record out, and perhaps others; the next one in its place may show it."""
        if until is None:
            return None
        return Tampered(lambda log: dropped(log, self.zxid, *others), self.zxid, until, raw)

    def rewrite(self, change: Callable[[dict], None], until: int | None = None) -> Tampered:
        """Change the JSON that the record writes."""
        return Tampered(lambda log: rewritten(log, self.zxid, change), self.zxid, until)

    def restate(self, until: int | None = None, raw: bool = False, **fields) -> Tampered:
        """Change fields of the partition state that the record writes."""
        edit = rewritten_state(self.zxid, fields)
        return Tampered(edit, self.zxid, until, raw)

    def substitute(self, raw: bool = False, until: int | None = None, **fields) -> Tampered:
        """Change fields of the record itself."""
        return Tampered(
            lambda log: [replace(t, **fields) if t is self.transaction else t for t in log], self.zxid, until, raw
        )

    def operate(self, *operations: Operation, raw: bool = False, session: int | None = None) -> Tampered:
        """Let the record do something else."""
        return self.substitute(raw, operations=operations, multi=len(operations) > 1, session=session or self.session)

    def insert(self, session: int, *operations: Operation, raw: bool = False, cxid: int = 1) -> Tampered:
        """Put a record in before this one."""
        extra = Transaction(INSERTED, session, cxid, self.transaction.time, operations, len(operations) > 1)
        return Tampered(lambda log: [*log[: self.place], extra, *log[self.place :]], INSERTED, None, raw)

    def swap(self, other: int | None, until: int | None = None, raw: bool = False) -> Tampered | None:
        """Let the record and a later one change places; the first of both may show it."""
        if other is None:
            return None
        return Tampered(lambda log: swapped(log, self.zxid, other), other, until or self.zxid, raw)

    def move(self, zxid: int, raw: bool = False, until: int | None = None) -> Tampered:
        """Let another, later record come before this one."""
        before = self.scene.log[self.place - 1].zxid
        return Tampered(lambda log: moved(log, zxid, before), zxid, until, raw)


def rewritten_state(zxid: int, fields: dict) -> Callable[[Log], Log]:
    """An edit that changes fields of the partition state that a record writes."""
    return lambda log: rewritten(log, zxid, lambda content: content.update(fields))


def opens(transaction: Transaction) -> bool:
    """Whether a record opens a session."""
    return isinstance(transaction.operations[0], CreateSession)
