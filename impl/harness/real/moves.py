"""What the steps of the specification are from outside: frames on the links of real brokers, or deeds done to them.

A frame is held until the step that it stands for comes. A deed is done by the driver. The rest happens inside a
process, and shows in what the process sends next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from kafkaproof.impl.harness.driving.acts import KAFKA, ZOOKEEPER
from kafkaproof.impl.harness.driving.cluster import TOPIC
from kafkaproof.impl.seams.zookeeper.znodes import BROKER_IDS, TOPICS, BrokerId, ControllerEpoch
from kafkaproof.spec.cluster import control, data_plane
from kafkaproof.spec.election import active_controller, election, requests, session
from kafkaproof.spec.election import faults as any_system
from kafkaproof.spec.election.history import legacy, zkclient_session
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.steps import Step, by_name, names
from kafkaproof.spec.partition import brokers, failover, faults, machines, rebalance, triggers
from kafkaproof.spec.partition.deletion import deletion, replica
from kafkaproof.spec.partition.deletion.faults import ask_for_deletion
from kafkaproof.spec.partition.expansion import expansion
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.reassignment import admin_requests, reassignment
from kafkaproof.spec.partition.reassignment import faults as alterations
from kafkaproof.spec.protocol.passed import ANSWER, REQUEST
from kafkaproof.spec.topics.history import leaders
from kafkaproof.spec.topics.steps import CHECK, ELECT_LEADER, LOAD_CONTEXT, REMOVE_REPLICA

CONTROLLER, TOPIC_ZNODE = "/controller", f"{TOPICS}/{TOPIC}"
ISR_CHANGES, PREFERRED = "/isr_change_notification", "/admin/preferred_replica_election"
LIST, READ, WRITE, CREATE, DELETE = "getChildren2?", "getData", "setData", "create2?", "delete"
LOOK_FOR, NUMBER = "exists", {"data": "\\d+"}
STOP = "StopReplica"
DELETES: Mapping[str, Any] = {"delete_partition": True}
ANY = -1
FOLDER, ANY_STATE = f"{TOPIC_ZNODE}/partitions(/\\d+)?", f"{TOPIC_ZNODE}/partitions/\\d+/state"


class Wanted(NamedTuple):
    """A frame: on which link of which broker (ANY: of one of them), and what it says.

    `before`: what may come before it, and belongs to it. `epoch`: that of the controller that sends it, where one does.
    `said`: what LeaderAndIsr tells of the partition.
    """

    link: str
    broker: int
    pattern: Mapping[str, Any]
    before: Mapping[str, Any] | None = None
    epoch: int | None = None
    said: Mapping[str, Any] = MappingProxyType({})

    @property
    def text(self) -> str:
        """The frame in words."""
        said = [str(value).replace("2?", "") for name, value in self.pattern.items() if name not in ("part", "sender")]
        said += ["answered"] if self.pattern["part"] == ANSWER else []
        said += [f"of broker {self.pattern['sender']}"] if "sender" in self.pattern else []
        where = "" if self.broker == ANY else f", {'of' if self.link == ZOOKEEPER else 'to'} broker {self.broker}"
        return " ".join(said) + where


def _asked(operation: str, path: str) -> dict[str, object]:
    return {"part": REQUEST, "operation": operation, "path": path}


def _zk(b: int, operation: str, path: str, before: Mapping[str, Any] | None = None) -> Wanted:
    return Wanted(ZOOKEEPER, b, _asked(operation, path), before)


def _kafka(b: int, api: str, epoch: int | None = None, part: str = REQUEST, **said: object) -> Wanted:
    return Wanted(KAFKA, b, {"part": part, "api": api, **said}, epoch=epoch)


def _state(p: int) -> str:
    return f"{TOPIC_ZNODE}/partitions/{p}/state"


def _reads(b, p, **_):
    return [_zk(b, READ, _state(p))]


def _writes(b, p, **_):
    return [_zk(b, WRITE, _state(p))]


def _both(b, p, **_):
    return [*_reads(b, p), *_writes(b, p)]


def _raises_epoch(b, p=None, **_):
    """The epoch of an election, or, of a reassignment in two phases, the leader epoch of a partition."""
    return [_writes_epoch(b, WRITE)] if p is None else _both(b, p)


def _lists_brokers(b):
    return [_zk(b, LIST, BROKER_IDS)]


def _reads_controller(b):
    return [_zk(b, READ, CONTROLLER)]


def _writes_epoch(b, operation):
    return Wanted(ZOOKEEPER, b, _asked(operation, ControllerEpoch.path) | NUMBER)


def _writes_topic(b, p=0):
    return [_zk(b, WRITE, TOPIC_ZNODE)]


_JOINED: dict[str, Callable[..., list[Wanted]]] = {
    LOAD_CONTEXT: _lists_brokers,
    CHECK: _both,
    ELECT_LEADER: _both,
    REMOVE_REPLICA: _both,
}
FRAMES: Mapping[str, Callable[..., list[Wanted]]] = _JOINED | by_name(
    {
        failover.elect: lambda b: [_zk(b, CREATE, CONTROLLER)],
        failover.load_brokers: _lists_brokers,
        brokers.broker_change: _lists_brokers,
        failover.load_state: _reads,
        leaders.caught_up: _reads,
        machines.read_for_election: _reads,
        machines.read_for_removal: _reads,
        machines.create_first_state: lambda b, p, **_: [_zk(b, CREATE, _state(p), _asked(CREATE, FOLDER))],
        machines.write_leader: _writes,
        machines.write_removal: _writes,
        reassignment.tell_replicas: _writes,
        leader_zk.change_isr: _writes,
        reassignment.write_assignment: _writes_topic,
        reassignment.write_target: _writes_topic,
        leader_zk.isr_notification: lambda b, p: [_zk(b, LIST, ISR_CHANGES)],
        triggers.delete_request: lambda b, **_: [_zk(b, DELETE, PREFERRED)],
        session.register_broker: lambda b: [_zk(b, CREATE, BrokerId.path_of(b))],
        election.maybe_resign: lambda b: [_zk(b, f"{LOOK_FOR}|{READ}", CONTROLLER)],
        election.look_for_controller: _reads_controller,
        legacy.confirm_owner: _reads_controller,
        election.confirm_controller: _reads_controller,
        election.learn_epoch: lambda b: [_zk(b, f"{LOOK_FOR}|{READ}", ControllerEpoch.path)],
        election.confirm_epoch: lambda b: [_zk(b, READ, ControllerEpoch.path)],
        election.found_epoch: lambda b: [_writes_epoch(b, CREATE)],
        legacy.raise_epoch: _raises_epoch,
        legacy.create: lambda b: [_zk(b, CREATE, CONTROLLER)],
        election.register: lambda b: [_zk(b, CREATE, CONTROLLER)],
        legacy.delete_any_controller: lambda b: [_zk(b, DELETE, CONTROLLER)],
        active_controller.delete_own_controller: lambda b: [_zk(b, DELETE, CONTROLLER)],
        failover.move_controller: lambda b: [_zk(b, DELETE, CONTROLLER)],
        active_controller.clean: lambda b: [_zk(b, LIST, ISR_CHANGES)],
        active_controller.load: _lists_brokers,
        control.leader_and_isr: lambda b, epoch, p: [
            _kafka(b, "LeaderAndIsr", epoch, controller_epoch=epoch, topic_name=TOPIC, partition_index=p)
        ],
        replica.stop_replica: lambda b, epoch, p: [
            _kafka(b, STOP, epoch, controller_epoch=epoch, topic_name=TOPIC, partition_index=p, **DELETES)
        ],
        deletion.replica_stopped: lambda b, p, r: [
            _kafka(r, STOP, part=ANSWER, sender=b, partition_index=p, **DELETES)
        ],
        deletion.delete_state: lambda b, p: [_zk(b, DELETE, _state(p))],
        deletion.delete_topic: lambda b: [_zk(b, DELETE, TOPIC_ZNODE)],
        brokers.controlled_shutdown: lambda b, leaver: [_kafka(b, "ControlledShutdown", broker_id=leaver)],
        control.alter_partition: lambda b, p, isr, **of: [
            _kafka(b, "AlterPartition", partition_index=p, **of),
            *_writes(b, p),
        ],
        control.confirm_isr: lambda b, p, sender: [_kafka(b, "AlterPartition", partition_index=p, sender=sender)],
        control.refuse_isr: lambda sender, p, b, isr: [_kafka(b, "AlterPartition", partition_index=p, sender=sender)],
        data_plane.learn_isr: lambda b, p: [_kafka(ANY, "AlterPartition", part=ANSWER, sender=b)],
        data_plane.serve_fetch: lambda b, p, follower: [_kafka(b, "Fetch", sender=follower)],
        data_plane.receive_answer: lambda b, p: [_kafka(ANY, "Fetch", part=ANSWER, sender=b)],
    }
)
"""The frames of a step, in order, by the name of its transition."""
PROPOSALS: Mapping[str, Callable[..., Wanted]] = {
    name: lambda b, p, follower: _kafka(ANY, "AlterPartition", partition_index=p, sender=b)
    for name in names(data_plane.expand_isr, data_plane.shrink_isr)
}
"""The frames that a step sends, and that are let through by a later one."""
PROPOSED = names(control.alter_partition, leader_zk.change_isr)
"""The steps that write an ISR as its leader has proposed it."""
DEEDS = names(
    faults.crash,
    faults.restart,
    faults.stop,
    faults.shut_down,
    faults.expire_session,
    faults.expire_orphan,
    any_system.delete_controller,
    faults.ask_for_preferred,
    alterations.ask_for_alteration,
    alterations.ask_for_cancellation,
    faults.ask_for_election,
    ask_for_deletion,
    faults.queue_deletion,
    deletion.mark_topic,
    expansion.add_partitions,
    faults.allow_unclean,
    session.reopen,
    data_plane.produce,
    data_plane.consume,
    session.start,
    any_system.edit_epoch,
)
"""The steps that the driver brings about."""
ASKS = names(
    alterations.ask_for_alteration,
    alterations.ask_for_cancellation,
    faults.ask_for_election,
    ask_for_deletion,
    expansion.add_partitions,
)
"""What an administrator asks the controller, which deals with it after what it is doing."""
HEARD = names(any_system.delete_controller, faults.expire_session, faults.expire_orphan, faults.ask_for_election)
"""The steps of which brokers hear at once, though the specification lets them go on for a while: they come late."""
INSIDE = names(
    brokers.broker_failure,
    brokers.broker_startup,
    failover.resign,
    deletion.stop_replicas,
    reassignment.stop_removed,
    admin_requests.reassign,
    admin_requests.alter_reassignment,
    rebalance.rebalance,
    triggers.preferred_election,
    triggers.pending_election,
    triggers.unclean_enabled,
    triggers.reassignment,
    triggers.topic_deletion,
    data_plane.send_request,
    election.handle_change,
    active_controller.trigger_move,
    triggers.admin_election,
    deletion.resume_deletion,
)
"""The steps that nobody sees: they show in the frames of later ones."""
UNKNOWN = [
    Transition(function).name
    for function in (requests.leader_and_isr, requests.stop_replica, session.reopen, zkclient_session.reopen)
]
"""Steps of *election* that have the name of another system's, and are not the same outside: a request names no
partition, and a session that is opened again is not registered yet.
"""
CANDIDACY = _asked(CREATE, CONTROLLER)
"""The request by which a broker stands for election."""
ALWAYS_HELD = (CANDIDACY, _asked(CREATE, FOLDER), _asked(f"{CREATE}|{WRITE}", ANY_STATE))
"""What a broker asks of ZooKeeper only when its step has come."""
IN_ELECTIONS = (CANDIDACY, _asked(f"{CREATE}|{WRITE}", ControllerEpoch.path) | NUMBER, _asked(DELETE, CONTROLLER))
"""The same where brokers start, and stand for election, in steps."""
IN_TURN = ("AlterPartition", "ControlledShutdown")
"""What a broker asks of the controller only when its step has come."""
OF_DATA = ("Fetch", "AlterPartition")
"""What leaders and followers tell each other, and leaders tell controllers: only in steps, where there are data
planes.
"""


def frames_of(step: Step) -> list[Wanted]:
    """The frames of a step. One that has no answer has written nothing: it ends with what it reads."""
    arguments = {name: value for name, value in step.arguments.items() if name != "delivery"}
    if step.name == machines.create_first_state.__name__ and step.answer is None:
        return []
    if step.name == reassignment.tell_replicas.__name__ and step.answer == "NONODE":
        return _reads(**arguments)
    found = FRAMES[step.name](**arguments) if step.name in FRAMES else []
    return found[:1] if len(found) > 1 and step.answer is None else found


def answer_to(step: Step) -> Wanted:
    """The frame by which a controller answers a leader that has proposed an ISR."""
    return _kafka(step.arguments["b"], "AlterPartition", part=ANSWER, sender=step.arguments["sender"])


def how(step: Step) -> str:
    """How a step is brought about, in words."""
    if found := frames_of(step):
        return "held until then: " + ", then ".join(wanted.text for wanted in found)
    if step.name in PROPOSALS:
        return f"awaited: {proposal_of(step).text}"
    return "done by the driver" if step.name in DEEDS else "inside the process: what follows shows it"


def proposal_of(step: Step) -> Wanted:
    """The frame by which a leader proposes an ISR."""
    return PROPOSALS[step.name](**step.arguments)


def is_known(step: Step) -> bool:
    """Whether anything is known of what a step is outside."""
    return step.transition not in UNKNOWN and step.name in {*FRAMES, *PROPOSALS, *DEEDS, *INSIDE}
