"""What one record of a log may be: which transitions of the election system, or what outside of it."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from kafkaproof.spec.election import election, faults
from kafkaproof.spec.election.active_controller import clean, delete_own_controller, write_state, write_when_asked
from kafkaproof.spec.election.history import legacy
from kafkaproof.spec.election.session import register_broker, reopen, start
from kafkaproof.spec.language.steps import names
from kafkaproof.traces.evidence.accounts import TOOLS
from kafkaproof.traces.explain.election.possibilities import Candidate
from kafkaproof.traces.reading.cluster import below
from kafkaproof.traces.zookeeper.transactions import (
    Check,
    CloseSession,
    Create,
    CreateSession,
    Delete,
    Failure,
    Operation,
    Reconfig,
    SetAcl,
    SetData,
    Transaction,
)
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState, state_in
from kafkaproof.traces.zookeeper.znodes.topics import is_of_state

NONODE, BADVERSION, NODEEXISTS = -101, -103, -110
_OF_ZNODES = (Create, Delete, SetData, Reconfig, SetAcl, Check)
_NAMES = {NONODE: "NONODE", BADVERSION: "BADVERSION", NODEEXISTS: "NODEEXISTS"}
_OF_CONTROLLER = {
    Create: re.compile(r"/brokers/topics/[^/]+/.+"),
    SetData: re.compile(r"/admin/reassign_partitions"),
    Delete: re.compile(
        r"/brokers/topics/.+|/admin/.+|/config/(?!changes/).+|/(isr_change|log_dir_event)_notification/.+"
    ),
}
"""What only a controller writes, where no check of the epoch tells it (see C4 in docs/glossary.md)."""
_OUTSIDE = (
    (
        (Create,),
        r"/(consumers|cluster|feature|config|admin|brokers|isr_change_notification|log_dir_event_notification"
        r"|latest_producer_id_block|brokers/(ids|topics|seqid)|config/\w+|admin/delete_topics|cluster/id)",
        "persistent znodes at start",
    ),
    ((Create, SetData, Delete), r"/(kafka-acl|delegation_token).*", "access control and tokens"),
    ((SetData, Create), r"/feature", "feature levels, written unguarded"),
    ((SetData,), r"/latest_producer_id_block", "blocks of producer ids"),
    ((SetData,), r"/brokers/seqid", "generated broker ids"),
    ((SetData,), r"/brokers/ids/\d+", "listeners of a broker, changed while it runs"),
    ((Create,), r"/brokers/ids/\d+", "registrations that no broker made"),
    ((Delete,), r"/brokers/ids/\d+", "registrations deleted by hand"),
    ((Create, SetData), r"/config/\w+/.+", "configuration"),
    ((Delete,), r"/config/changes/.+", "old notifications of configuration, purged by any broker"),
    ((Delete,), r"/config/.+", "configuration"),
    ((Create,), r"/brokers/topics/[^/]+", "topics, created by whoever was asked"),
    ((SetData,), r"/brokers/topics/[^/]+", "assignments: partitions added, or a reassignment"),
    (
        (Create, SetData, Delete),
        r"/admin/(delete_topics/.+|reassign_partitions|preferred_replica_election)",
        "requests to the controller",
    ),
    ((Create,), r"/(isr_change|log_dir_event)_notification/.+", "notifications by leaders and brokers"),
    ((Create, SetData, Delete), r"/consumers/.+", "old consumers"),
)
"""Records that no transition of the election system makes: forms of operations, path, and what they are."""


class Observation(NamedTuple):
    """What a record may be.

    `candidates`: the transitions that may explain it. `outside`: the kind of what else it may be, None for nothing;
    `otherwise`: the same where no candidate explains it. `applied`: whether it changed something. `state`, `known`: the
    partition state that is written and the one before, if it is one.
    """

    candidates: tuple[Candidate, ...] = ()
    outside: str | None = None
    applied: bool = True
    state: PartitionState | None = None
    known: PartitionState | None = None
    otherwise: str | None = None

    @property
    def sign(self) -> tuple:
        """All that matters to the election system: equal for records that are alike to it."""
        state, known = self.state, self.known
        epochs = state and state.controller_epoch, known and known.controller_epoch
        return self.candidates, self.outside, self.otherwise, self.applied, epochs


def refused(*transitions: Callable, answer: str, outside: str | None = None) -> Observation:
    """A request that changed nothing."""
    return Observation(tuple(Candidate(name, answer) for name in names(*transitions)), outside, applied=False)


@lru_cache
def done(*transitions: Callable) -> Observation:
    """A request that was answered OK."""
    return Observation(tuple(Candidate(name, "OK") for name in names(*transitions)))


OPENS = done(start, reopen)
CLOSES = Observation()


class Observer:
    """Reads records of a variant that guards its writes (2.1 and later) or not, below a chroot."""

    def __init__(self, guarded: bool, root: str):
        self.guarded = guarded
        self.root = root
        self._registered: set[int] = set()
        """The sessions in which a broker has registered."""

    def of_broker(self, transaction: Transaction, broker: int) -> Observation | None:
        """What a broker's record may be that does not just set a state; None for what is in no table."""
        operations = self._below_root(transaction)
        if not operations:
            return None
        if isinstance(operations[0], CreateSession):
            return OPENS
        if isinstance(operations[0], CloseSession):
            return CLOSES
        if transaction.multi:
            return self._multi(operations, broker, transaction.session)
        return self._single(operations[0], broker)

    def of_state(
        self, state: PartitionState | None, known: PartitionState | None, checked: bool, broker: int
    ) -> Observation | None:
        """What a broker's record that sets a partition's state may be; None for what is in no table."""
        if checked:
            return _of_controller(SetData, state, known)
        return self._state(state, known, broker)

    def of_operator(self, transaction: Transaction) -> str | None:
        """The fault that an operator's record is, None when it does not touch the election."""
        match self._below_root(transaction):
            case (Delete("/controller"),):
                return faults.delete_controller.__name__
            case (SetData("/controller_epoch"),):
                return faults.edit_epoch.__name__
        return None

    def unregisters(self, transaction: Transaction) -> int | None:
        """The broker whose registration somebody deletes, without the end of a session."""
        if type(transaction.first) is not Delete:
            return None
        match self._below_root(transaction):
            case (Delete(path),) if found := re.fullmatch(r"/brokers/ids/(\d+)", path):
                return int(found[1])
        return None

    def kind_of_tool(self, transaction: Transaction) -> str:
        """The kind of a record of a session that is no broker's."""
        operation = next(iter(self._below_root(transaction)), None)
        if isinstance(operation, CreateSession | CloseSession):
            return "sessions that never were a broker's"
        if transaction.failed:
            return TOOLS + refusal(operation)
        return TOOLS + (operation and outside(operation) or "other znodes")

    def _below_root(self, transaction: Transaction) -> tuple[Operation, ...]:
        """The operations with the paths as brokers know them; a znode of others gets a path that none of ours has."""
        if not self.root:
            return transaction.operations
        return tuple(
            replace(o, path=below(self.root, o.path) or f"elsewhere: {o.path}") if isinstance(o, _OF_ZNODES) else o
            for o in transaction.operations
        )

    def _multi(self, operations: tuple[Operation, ...], broker: int, session: int) -> Observation | None:
        match operations:
            case (Check("/controller_epoch"), operation):
                return self._checked(operation)
            case (Check("/controller"), Create(path) | SetData(path)) if path.startswith("/config/"):
                return Observation(outside="configuration")
            case (Check("/controller"), Failure()):
                return refused(answer="", outside="configuration")
            case (Create("/controller"), SetData("/controller_epoch")):
                return done(election.register)
            case (Create("/controller"), Failure(code)) if code == BADVERSION:
                return refused(election.register, answer="BADVERSION")
            case (Create(path), SetData(again)) if path == again == f"/brokers/ids/{broker}":
                self._registered.add(session)
                return done(register_broker)
            case (Failure(code), Failure(-2)) if code == NODEEXISTS:
                asks_again = refusal(operations[0]) if session in self._registered else None
                return refused(election.register, register_broker, answer="NODEEXISTS")._replace(otherwise=asks_again)
            case (Failure(code), Failure(-2)) if code == BADVERSION:
                return refused(write_state, write_when_asked, clean, delete_own_controller, answer="FENCED")
        return None

    def _checked(self, operation: Operation) -> Observation | None:
        """A write that passed the check of the epoch, and was perhaps refused by its own znode."""
        match operation:
            case Failure(code):
                asked = [(clean, "OK"), (write_state, "BADVERSION"), (delete_own_controller, "NONODE")]
                fitting = [(each, answer) for each, answer in asked if answer in ("OK", _NAMES.get(code))]
                return Observation(tuple(Candidate(each.__name__, a) for each, a in fitting), applied=False)
            case Delete("/controller"):
                return done(delete_own_controller)
        return self._write(operation)

    def _write(self, operation: Operation) -> Observation | None:
        """A controller's write that depends on no version, as a state's creation."""
        if type(operation) is not Create or not is_of_state(operation.path):
            return done(clean)
        return _of_controller(Create, state_in(operation.data), None)

    def _single(self, operation: Operation, broker: int) -> Observation | None:
        match operation:
            case Failure(code):
                asked: list[Callable] = [
                    legacy.create,
                    election.found_epoch,
                    legacy.raise_epoch,
                    register_broker,
                    legacy.delete_any_controller,
                ]
                asked += [] if self.guarded else [write_state]
                return refused(*asked, answer=_NAMES.get(code, ""), outside=refusal(operation))
            case Create("/controller"):
                return done(legacy.create)
            case Create("/controller_epoch"):
                return done(election.found_epoch)
            case Create(path) if path == f"/brokers/ids/{broker}":
                return done(register_broker)
            case Create(path) | SetData(path) if path.startswith("/brokers/ids/") and path != f"/brokers/ids/{broker}":
                return None
            case SetData("/controller_epoch"):
                return done(legacy.raise_epoch)
            case Delete("/controller"):
                return done(legacy.delete_any_controller)
        pattern = _OF_CONTROLLER.get(type(operation))
        if pattern and pattern.fullmatch(getattr(operation, "path", "")):
            return None if self.guarded else self._write(operation)
        kind = outside(operation)
        return Observation(outside=kind) if kind else None

    def _state(self, state: PartitionState | None, known: PartitionState | None, broker: int) -> Observation | None:
        """A partition state without a check: a controller's up to 2.0, or of its leader, which proposes an ISR."""
        if state is None or known is None:
            return None
        if not self.guarded and state.leader_epoch > known.leader_epoch:
            return _of_controller(SetData, state, known)
        same = (state.leader, state.leader_epoch) == (known.leader, known.leader_epoch)
        if not same or state.leader != broker or broker not in state.isr:
            return None
        return Observation(outside="changes of an ISR by its leader", state=state, known=known)


def _of_controller(form: type, state: PartitionState | None, known: PartitionState | None) -> Observation | None:
    """A partition state that a controller creates or sets."""
    return (
        Observation(done(clean if form is Create else write_state).candidates, state=state, known=known)
        if state
        else None
    )


def refusal(operation: Operation | None) -> str:
    """The kind of a request that was refused: its code is logged, and not its path."""
    return f"refused: {_NAMES.get(getattr(operation, 'code', 0), 'another code')}"


def outside(operation: Operation) -> str | None:
    """The kind of an operation outside the election system, None when no table has it."""
    path = getattr(operation, "path", "")
    for forms, pattern, kind in _OUTSIDE:
        if isinstance(operation, forms) and re.fullmatch(pattern, path):
            return kind
    return None
