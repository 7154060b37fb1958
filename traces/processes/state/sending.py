"""Messages that are no steps of their senders: whether one may be sent."""

from __future__ import annotations

from kafkaproof.spec.cluster.control import is_refused
from kafkaproof.spec.cluster.data_plane import send_request
from kafkaproof.spec.kafka.state_machines import REPLICA_DELETION_STARTED
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.network import PREFERRED_TYPE, UNCLEAN_TYPE
from kafkaproof.spec.partition.reassignment.network import CANCELLATION
from kafkaproof.spec.partition.verdicts import WAIT, alter_error, compared, reaction
from kafkaproof.spec.replica.broker import LEADER
from kafkaproof.spec.replica.network import is_request
from kafkaproof.spec.running.processes import PARTITION
from kafkaproof.spec.running.replica_messages import ASKED, fields_of
from kafkaproof.traces.processes.state.messages import Sent, delivered
from kafkaproof.traces.processes.state.world import World


def may_send(world: World, kind: str, broker: int, content: dict, answered: Sent | None) -> bool:
    """Whether a broker may send a message that is no step of its own; `answered` is the one that it answers."""
    state = world.states[PARTITION]
    match kind:
        case "ControlledShutdown":
            return contains(state.network.shutdowns, broker)
        case "AlterPartition":
            replica = state.planes[content["p"]].brokers[broker]
            return (replica.state, replica.leader_epoch, replica.pending) == (
                LEADER,
                content["leader_epoch"],
                content["isr"],
            )
        case "AlterPartitionReassignments":
            return _may_want(state, content["p"], content["kind"], content["replicas"])
        case "ElectLeaders":
            named = set(content["partitions"]) <= set(range(len(state.zk.partitions)))
            return named and content["type"] in (PREFERRED_TYPE, UNCLEAN_TYPE)
        case "IsrRefused" if answered:
            with delivered(state, answered, broker):
                return is_refused(state, broker, content["p"], answered.sender, content["fields"]["isr"])
        case "IsrOutdated" if answered:
            return reaction(_error_of(world, broker, answered.sender, answered.content)) == WAIT
        case "StopReplica":
            controller = state.brokers[broker].controller
            started = REPLICA_DELETION_STARTED in controller.partitions[content["p"]].replicas
            return controller.epoch == content["epoch"] and started
        case "Fetch":
            return _asks_again(world, broker, content["p"], content["fields"])
    return False


def _error_of(world: World, broker: int, sender: int, asked: dict) -> int:
    """The error with which a broker answers an AlterPartition."""
    controller, p = world.states[PARTITION].brokers[broker].controller, asked["p"]
    version = compared(asked["version"], world.known.version(broker, p))
    return alter_error(controller, controller.partitions[p], sender, asked["leader_epoch"], asked["isr"], version)


def _may_want(state, p: int, kind: int, replicas: list[int]) -> bool:
    """Whether an administrator may ask for this: a cancellation, or replicas of a partition, each once."""
    brokers, most = len(state.brokers), len(state.zk.targets[p].slots) - 1
    sound = all(0 <= replica < brokers for replica in replicas) and len(set(replicas)) == len(replicas)
    return 0 <= p and sound and (not replicas if kind == CANCELLATION else 0 < len(replicas) <= most)


def _asks_again(world, broker: int, p: int, fields: dict) -> bool:
    """Whether a follower may send its request again: it is the present one, which may have been answered since."""
    message = world.states[PARTITION].planes[p].network.messages[broker]
    if fields_of(message) != fields:
        world.take(PARTITION, send_request.__name__, b=broker, p=p)
        message = world.states[PARTITION].planes[p].network.messages[broker]
    return fields_of(message) == fields


def first_request(world: World, broker: int, p: int) -> tuple[Sent, ...]:
    """What a new follower asks at once although a request of the former process may be on its way still.

    In the model it asks in a step of its own, unless that request was the same.
    """
    world.take(PARTITION, send_request.__name__, b=broker, p=p)
    plane = world.states[PARTITION].planes[p]
    message, replica = plane.network.messages[broker], plane.brokers[broker]
    if not is_request(plane.network, broker) or message.epoch != replica.leader_epoch:
        return ()
    return (Sent(ASKED, broker, message.peer, {"p": p, "fields": fields_of(message)}),)
