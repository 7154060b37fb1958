"""Messages between processes, as they stand in the model's networks while they are delivered.

The model's networks keep only the newest of some messages. In a recording each message is known by itself: it is
delivered with what it said, whatever was sent since, at most once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import with_member, without_member
from kafkaproof.spec.partition.network import UNCLEAN_TYPE, take_asked
from kafkaproof.spec.partition.reassignment.network import take_wanted
from kafkaproof.spec.running.replica_messages import ASKED, DECIDED, FETCHED, WRITTEN, fields_of, put_fields

REFUSED = "IsrRefused"


@dataclass(frozen=True)
class Sent:
    """A message on its way: its kind, from whom, to whom (None: to the controller), and what it says.

    `registration`: which one of the receiver's the sender knew, from 1; 0 for none.
    """

    kind: str
    sender: int
    receiver: int | None
    content: dict = field(default_factory=dict)
    registration: int = 0


@contextmanager
def delivered(state: Plain, message: Sent | None, broker: int) -> Iterator[None]:
    """Put what a message says into the network of a state, and afterwards what the model keeps of it."""
    shown = _SHOWN.get(message.kind) if message else None
    if shown is None:
        yield
        return
    with shown(state, message, broker):
        yield


@contextmanager
def _leader_and_isr(state, message, broker):
    """The newest request is put back; it is delivered where that is what arrived."""
    content = message.content
    request = state.network.requests[content["epoch"]][content["p"]]
    isrs = getattr(state.network, "isrs", None)
    kept = request.leader, request.leader_epoch, request.to
    kept_isr = isrs[content["epoch"]][content["p"]] if isrs else 0
    request.leader, request.leader_epoch = content["leader"], content["leader_epoch"]
    request.to = with_member(request.to, broker)
    if isrs:
        isrs[content["epoch"]][content["p"]] = content["isr"]
    yield
    request.leader, request.leader_epoch, request.to = kept
    is_newest = kept[:2] == (content["leader"], content["leader_epoch"])
    if is_newest:
        request.to = without_member(request.to, broker)
    if isrs:
        read = is_newest and broker == content["leader"]
        isrs[content["epoch"]][content["p"]] = 0 if read else kept_isr


@contextmanager
def _update_metadata(state, message, broker):
    """What was sent to the broker in one request; what else is on its way stays so."""
    content, network = message.content, state.network
    live, updates = network.live[content["epoch"]], network.updates[content["epoch"]]
    kept = live.brokers, live.to, [(each.leader, each.isr, each.leader_epoch, each.to) for each in updates]
    live.brokers, live.to = content["alive"], with_member(0, broker)
    for p, update in enumerate(updates):
        told = content["partitions"].get(p)
        update.to = with_member(0, broker) if told else 0
        if told:
            update.leader, update.leader_epoch, update.isr = told
    yield
    live.brokers, live.to = kept[:2]
    for update, (leader, isr, leader_epoch, to) in zip(updates, kept[2], strict=True):
        update.leader, update.isr, update.leader_epoch, update.to = leader, isr, leader_epoch, to


@contextmanager
def _stop_fetching(state, message, broker):
    """What is on its way besides stays so."""
    content = message.content
    halt = state.network.halts[content["epoch"]][content["p"]]
    kept = halt.to, halt.leader_epochs[broker]
    halt.to, halt.leader_epochs[broker] = with_member(halt.to, broker), content["leader_epoch"]
    yield
    halt.to, halt.leader_epochs[broker] = kept


@contextmanager
def _storage_error(state, message, broker):
    request = state.network.requests[message.content["epoch"]][message.content["p"]]
    request.errors = with_member(request.errors, message.sender)
    yield


@contextmanager
def _stop_replica(state, message, broker):
    stop = state.network.stops[message.content["epoch"]][message.content["p"]]
    stop.to = with_member(stop.to, broker)
    if hasattr(stop, "leader_epochs"):
        stop.leader_epochs[broker] = message.content["leader_epoch"]
    yield


@contextmanager
def _stopped(state, message, broker):
    """The answer that has come stands alone: another one of that broker may be on its way too."""
    stop, sender = state.network.stops[message.content["epoch"]][message.content["p"]], message.sender
    stop.deleted, stop.failed = without_member(stop.deleted, sender), without_member(stop.failed, sender)
    if message.content["failed"]:
        stop.failed = with_member(stop.failed, sender)
    else:
        stop.deleted = with_member(stop.deleted, sender)
    yield


@contextmanager
def _alter_partition(state, message, broker):
    """The leader epoch of the proposal and, where there is a data plane, its ISR; one that is now decided stays so."""
    content, sender = message.content, message.sender
    p = content["p"]
    network, planes = state.network, getattr(state, "planes", None)
    kept = network.proposals[p][sender]
    network.proposals[p][sender] = content["leader_epoch"]
    alter = planes[p].network.alters[sender] if planes else None
    if planes:
        before = fields_of(alter)
        put_fields(alter, content["fields"])
    yield
    state.network.proposals[p][sender] = kept
    if planes and alter.state not in DECIDED:
        put_fields(alter, before)


@contextmanager
def _alteration(state, message, broker):
    """What an administrator asks for; the step takes it."""
    content, request = message.content, state.network.alteration
    request.wanted, request.partition = content["kind"], content["p"]
    for replica in content["replicas"]:
        push(request.target, replica)
    yield
    take_wanted(state.network)


@contextmanager
def _election(state, message, broker):
    """An election that an administrator asks for; the step takes it."""
    state.network.asked = message.content["type"]
    for p in message.content["partitions"]:
        state.network.asked_of = with_member(state.network.asked_of, p)
    if message.content["type"] == UNCLEAN_TYPE:
        state.zk.ghosts.forced = 1
    yield
    take_asked(state.network)
    state.network.asked_of = 0


@contextmanager
def _controlled_shutdown(state, message, broker):
    kept = state.network.shutdowns
    state.network.shutdowns = with_member(kept, message.sender)
    yield
    state.network.shutdowns = kept


@contextmanager
def _between_replicas(state, message, broker):
    follower = message.sender if message.kind == ASKED else broker
    put_fields(state.planes[message.content["p"]].network.messages[follower], message.content["fields"])
    yield


@contextmanager
def _decision(state, message, broker):
    put_fields(state.planes[message.content["p"]].network.alters[broker], message.content["fields"])
    yield


_SHOWN = {
    "LeaderAndIsr": _leader_and_isr,
    "UpdateMetadata": _update_metadata,
    "StopFetching": _stop_fetching,
    "StorageError": _storage_error,
    "StopReplica": _stop_replica,
    "Stopped": _stopped,
    "AlterPartition": _alter_partition,
    "ControlledShutdown": _controlled_shutdown,
    "AlterPartitionReassignments": _alteration,
    "ElectLeaders": _election,
    ASKED: _between_replicas,
    FETCHED: _between_replicas,
    WRITTEN: _decision,
    REFUSED: _decision,
}
