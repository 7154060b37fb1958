"""What the steps of the specification are from outside: frames on the links of real brokers, or deeds done to them.

A frame is held until the step that it stands for comes. A deed is done by the driver. The rest happens inside a
process, and shows in what the process sends next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from kafkaproof.impl.harness.driving.acts import KAFKA, ZOOKEEPER
from kafkaproof.impl.harness.driving.cluster import TOPIC
from kafkaproof.impl.harness.links.passed import ANSWER, REQUEST
from kafkaproof.impl.seams.zookeeper.znodes import BROKER_IDS, TOPICS, BrokerId, ControllerEpoch
from kafkaproof.spec.language.steps import Step

CONTROLLER, TOPIC_ZNODE = "/controller", f"{TOPICS}/{TOPIC}"
ISR_CHANGES, PREFERRED = "/isr_change_notification", "/admin/preferred_replica_election"
LIST, READ, WRITE, CREATE, DELETE = "getChildren2?", "getData", "setData", "create2?", "delete"
LOOK_FOR, NUMBER = "exists", {"data": "\\d+"}
STOP, DELETES = "StopReplica", {"delete_partition": True}
ANY = -1
FOLDER, ANY_STATE = f"{TOPIC_ZNODE}/partitions(/\\d+)?", f"{TOPIC_ZNODE}/partitions/\\d+/state"


class Wanted(NamedTuple):
    """A frame: on which link of which broker (ANY: of one of them), and what it says.

    `before`: what may come before it, and belongs to it. `reign`: the epoch of the controller that sends it, where one
    does. `said`: what LeaderAndIsr tells of the partition.
    """

    link: str
    broker: int
    pattern: Mapping[str, object]
    before: Mapping[str, object] | None = None
    reign: int | None = None
    said: Mapping[str, object] = MappingProxyType({})

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


def _zk(b: int, operation: str, path: str, before: Mapping[str, object] | None = None) -> Wanted:
    return Wanted(ZOOKEEPER, b, _asked(operation, path), before)


def _kafka(b: int, api: str, reign: int | None = None, part: str = REQUEST, **said: object) -> Wanted:
    return Wanted(KAFKA, b, {"part": part, "api": api, **said}, reign=reign)


def _state(p: int) -> str:
    return f"{TOPIC_ZNODE}/partitions/{p}/state"


def _reads(b, p, **_):
    return [_zk(b, READ, _state(p))]


def _writes(b, p, **_):
    return [_zk(b, WRITE, _state(p))]


def _both(b, p, **_):
    return [*_reads(b, p), *_writes(b, p)]


def _lists_brokers(b):
    return [_zk(b, LIST, BROKER_IDS)]


def _reads_controller(b):
    return [_zk(b, READ, CONTROLLER)]


def _writes_epoch(b, operation):
    return Wanted(ZOOKEEPER, b, _asked(operation, ControllerEpoch.path) | NUMBER)


def _writes_topic(b, p=0):
    return [_zk(b, WRITE, TOPIC_ZNODE)]


FRAMES: Mapping[str, Callable[..., list[Wanted]]] = {
    "elect": lambda b: [_zk(b, CREATE, CONTROLLER)],
    "load_brokers": _lists_brokers,
    "load_context": _lists_brokers,
    "broker_change": _lists_brokers,
    "load_state": _reads,
    "caught_up": _reads,
    "check": _reads,
    "read_for_election": _reads,
    "read_for_removal": _reads,
    "create_first_state": lambda b, p, **_: [_zk(b, CREATE, _state(p), _asked(CREATE, FOLDER))],
    "write_leader": _writes,
    "write_removal": _writes,
    "tell_replicas": _writes,
    "change_isr": _writes,
    "elect_leader": _both,
    "remove_replica": _both,
    "move_leader": _both,
    "write_assignment": _writes_topic,
    "write_target": _writes_topic,
    "isr_notification": lambda b, p: [_zk(b, LIST, ISR_CHANGES)],
    "delete_request": lambda b, **_: [_zk(b, DELETE, PREFERRED)],
    "register_broker": lambda b: [_zk(b, CREATE, BrokerId.path_of(b))],
    "maybe_resign": lambda b: [_zk(b, f"{LOOK_FOR}|{READ}", CONTROLLER)],
    "look_for_controller": _reads_controller,
    "confirm_owner": _reads_controller,
    "confirm_controller": _reads_controller,
    "learn_epoch": lambda b: [_zk(b, f"{LOOK_FOR}|{READ}", ControllerEpoch.path)],
    "confirm_epoch": lambda b: [_zk(b, READ, ControllerEpoch.path)],
    "found_epoch": lambda b: [_writes_epoch(b, CREATE)],
    "raise_epoch": lambda b: [_writes_epoch(b, WRITE)],
    "create": lambda b: [_zk(b, CREATE, CONTROLLER)],
    "register": lambda b: [_zk(b, CREATE, CONTROLLER)],
    "delete_any_controller": lambda b: [_zk(b, DELETE, CONTROLLER)],
    "delete_own_controller": lambda b: [_zk(b, DELETE, CONTROLLER)],
    "clean": lambda b: [_zk(b, LIST, ISR_CHANGES)],
    "load": _lists_brokers,
    "leader_and_isr": lambda b, epoch, p: [
        _kafka(b, "LeaderAndIsr", epoch, controller_epoch=epoch, topic_name=TOPIC, partition_index=p)
    ],
    "stop_replica": lambda b, epoch, p: [
        _kafka(b, STOP, epoch, controller_epoch=epoch, topic_name=TOPIC, partition_index=p, **DELETES)
    ],
    "replica_stopped": lambda b, p, r: [_kafka(r, STOP, part=ANSWER, sender=b, partition_index=p, **DELETES)],
    "delete_state": lambda b, p: [_zk(b, DELETE, _state(p))],
    "delete_topic": lambda b: [_zk(b, DELETE, TOPIC_ZNODE)],
    "controlled_shutdown": lambda b, leaver: [_kafka(b, "ControlledShutdown", broker_id=leaver)],
    "alter_partition": lambda b, p, isr, **of: [_kafka(b, "AlterPartition", partition_index=p, **of), *_writes(b, p)],
    "confirm_isr": lambda b, p, sender: [_kafka(b, "AlterPartition", partition_index=p, sender=sender)],
    "refuse_isr": lambda sender, p, b, isr: [_kafka(b, "AlterPartition", partition_index=p, sender=sender)],
    "learn_isr": lambda b, p: [_kafka(ANY, "AlterPartition", part=ANSWER, sender=b)],
    "serve_fetch": lambda b, p, follower: [_kafka(b, "Fetch", sender=follower)],
    "receive_answer": lambda b, p: [_kafka(ANY, "Fetch", part=ANSWER, sender=b)],
}
"""The frames of a step, in order, by the name of its transition."""
PROPOSALS: Mapping[str, Callable[..., Wanted]] = {
    name: lambda b, p, follower: _kafka(ANY, "AlterPartition", partition_index=p, sender=b)
    for name in ("expand_isr", "shrink_isr")
}
"""The frames that a step sends, and that are let through by a later one."""
DEEDS = (
    "crash",
    "restart",
    "stop",
    "shut_down",
    "expire_session",
    "expire_orphan",
    "delete_controller",
    "ask_for_preferred",
    "ask_for_reassignment",
    "ask_for_cancellation",
    "ask_for_election",
    "ask_for_deletion",
    "queue_deletion",
    "mark_topic",
    "expand",
    "allow_unclean",
    "reopen",
    "produce",
    "consume",
    "start",
    "edit_epoch",
)
"""The steps that the driver brings about."""
ASKS = ("ask_for_reassignment", "ask_for_cancellation", "ask_for_election", "ask_for_deletion", "expand")
"""What an administrator asks the controller, which deals with it behind what it is at."""
HEARD = ("delete_controller", "expire_session", "expire_orphan", "ask_for_election")
"""The steps of which brokers hear at once, though the specification lets them go on for a while: they come late."""
INSIDE = (
    "broker_failure",
    "broker_startup",
    "resign",
    "stop_replicas",
    "reassign",
    "rebalance",
    "preferred_election",
    "unclean_enabled",
    "reassignment",
    "topic_deletion",
    "send_request",
    "handle_change",
    "trigger_move",
    "admin_election",
    "resume_deletion",
)
"""The steps that nobody sees: they show in the frames of later ones."""
UNKNOWN = ("requests.leader_and_isr", "requests.stop_replica", "session.reopen", "zkclient_session.reopen")
"""Steps of *election* that have the name of another system's, and are not the same outside: a request names no
partition, and a session that is opened again is not registered yet.
"""
CANDIDACY = _asked(CREATE, CONTROLLER)
"""By what a broker stands for election."""
ALWAYS_HELD = (CANDIDACY, _asked(CREATE, FOLDER), _asked(f"{CREATE}|{WRITE}", ANY_STATE))
"""What a broker asks of ZooKeeper only when its step has come."""
IN_ELECTIONS = (CANDIDACY, _asked(f"{CREATE}|{WRITE}", ControllerEpoch.path) | NUMBER, _asked(DELETE, CONTROLLER))
"""The same where brokers start, and stand for election, in steps."""
IN_TURN = ("AlterPartition", "ControlledShutdown")
"""What a broker asks of the controller only when its step has come."""
OF_DATA = ("Fetch", "AlterPartition")
"""What leaders and followers tell each other, and leaders controllers: where there are data planes, in steps alone."""


def name_of(step: Step) -> str:
    """The name of a step's transition, without its module."""
    return step.transition.rsplit(".", 1)[-1]


def frames_of(step: Step) -> list[Wanted]:
    """The frames of a step. One that has no answer has written nothing: it ends with what it reads."""
    arguments = {name: value for name, value in step.arguments.items() if name != "fate"}
    if name_of(step) == "create_first_state" and step.answer is None:
        return []
    if name_of(step) == "tell_replicas" and step.answer == "NONODE":
        return _reads(**arguments)
    found = FRAMES[name_of(step)](**arguments) if name_of(step) in FRAMES else []
    return found[:1] if len(found) > 1 and step.answer is None else found


def answer_to(step: Step) -> Wanted:
    """The frame by which a controller answers a leader that has proposed an ISR."""
    return _kafka(step.arguments["b"], "AlterPartition", part=ANSWER, sender=step.arguments["sender"])


def how(step: Step) -> str:
    """How a step is brought about, in words."""
    if found := frames_of(step):
        return "held until then: " + ", then ".join(wanted.text for wanted in found)
    if name_of(step) in PROPOSALS:
        return f"awaited: {proposal_of(step).text}"
    return "done by the driver" if name_of(step) in DEEDS else "inside the process: what follows shows it"


def proposal_of(step: Step) -> Wanted:
    """The frame by which a leader proposes an ISR."""
    return PROPOSALS[name_of(step)](**step.arguments)


def is_known(step: Step) -> bool:
    """Whether anything is known of what a step is outside."""
    return step.transition not in UNKNOWN and name_of(step) in {*FRAMES, *PROPOSALS, *DEEDS, *INSIDE}
