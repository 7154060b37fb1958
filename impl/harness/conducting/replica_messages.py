"""What messages of data planes say in a step of *cluster*, and which of its steps have no equivalent in a live cluster.

The model's networks tell it, before the step. A record of the model is a batch whose checksum is its id in a log: of
partition p record n is always the same batch.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

from kafkaproof.impl.protocol.batches import one_record
from kafkaproof.spec.cluster import control, data_plane, faults
from kafkaproof.spec.language.plain import Plain, ids_in
from kafkaproof.spec.language.steps import Step, by_name, names
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.partition.faults import ask_for_election
from kafkaproof.spec.partition.triggers import admin_election
from kafkaproof.spec.protocol.batches import read_header
from kafkaproof.spec.replica.network import RECORD
from kafkaproof.spec.running.replica_messages import fields_of

NOT_SERVED = names(ask_for_election, admin_election)


def batch_of(p: int, record: int) -> bytes:
    """The batch that stands for a record of a partition."""
    return one_record(f"{p}-{record}".encode())


def _leader_and_isr(state, b, epoch, p) -> dict:
    request, isr = state.network.requests[epoch][p], state.network.isrs[epoch][p]
    named = {"isr": ids_in(isr)} if request.leader == b and isr else {}
    return {"leader": request.leader, "leader_epoch": request.leader_epoch} | named


def _proposal(state, p, sender, b, isr=None) -> dict:
    alter = state.planes[p].network.alters[sender]
    return {"isr": alter.isr, "leader_epoch": alter.epoch}


def _decision(state, b, p) -> dict:
    return {"fields": fields_of(state.planes[p].network.alters[b])}


def _request(state, b, p, follower) -> dict:
    return {"fields": fields_of(state.planes[p].network.messages[follower])}


def _answer(state, b, p) -> dict:
    fields = fields_of(state.planes[p].network.messages[b])
    if fields["kind"] == RECORD:
        fields["id"] = read_header(batch_of(p, fields["id"])).crc
    return {"fields": fields}


def _offer(state, b, p, acks) -> dict:
    return {"batch": b64encode(batch_of(p, state.planes[p].clients.next_record)).decode()}


def _position(state, b, p) -> dict:
    return {"position": state.planes[p].clients.position}


CONTENTS: dict[str, Callable[..., dict]] = by_name(
    {
        control.leader_and_isr: _leader_and_isr,
        control.alter_partition: _proposal,
        control.confirm_isr: _proposal,
        control.refuse_isr: _proposal,
        data_plane.learn_isr: _decision,
        data_plane.serve_fetch: _request,
        data_plane.receive_answer: _answer,
        data_plane.produce: _offer,
        data_plane.consume: _position,
    }
)


def said_to(state: Plain, step: Step) -> dict:
    """What the message says that a step handles, as the model has it before the step."""
    arguments = {key: value for key, value in step.arguments.items() if key != "delivery"}
    return CONTENTS[step.name](state, **arguments) if step.name in CONTENTS else {}


def _is_told(state, b, p) -> bool:
    """Whether a controller has told a broker of a replica."""
    return state.brokers[b].replicas[p].leader_epoch != NO_EPOCH


def why_not(state: Plain, step: Step) -> str | None:
    """Why a step that is enabled in the model cannot be driven, None where it can."""
    name, arguments = step.name, step.arguments
    if name in NOT_SERVED:
        return "elections that an administrator asks for by a request are not served"
    if name == faults.fail_log_dir.__name__ and not _is_told(state, **arguments):
        return f"no controller has told broker {arguments['b']} of the replica whose log directory fails"
    if name == faults.restart.__name__:
        highest = max(plane.brokers[arguments["b"]].hw for plane in state.planes)
        if arguments["hw"] not in (0, highest):
            return f"the checkpoint that it finds would have to be neither its last one, {highest}, nor none"
    return None
