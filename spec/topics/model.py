"""The topics system: its variants, oldest first, and what is known of each."""

from kafkaproof.spec.election import faults as any_system
from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.kafka import zookeeper as answers
from kafkaproof.spec.kafka.declarations import BROKER, acting, asking, lanes
from kafkaproof.spec.language.domains import Size
from kafkaproof.spec.language.model import CONTINUATION, Model, among
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import brokers as partition_brokers
from kafkaproof.spec.partition import context as partition_context
from kafkaproof.spec.partition import failover as terms
from kafkaproof.spec.partition import faults as partition_faults
from kafkaproof.spec.partition import network as partition_network
from kafkaproof.spec.partition import progress as partition_progress
from kafkaproof.spec.partition import zookeeper as shared
from kafkaproof.spec.topics import (
    brokers,
    context,
    creation,
    deletion,
    failover,
    faults,
    fencing,
    isr,
    machines,
    network,
    progress,
    reassignment,
    replica,
    state,
    tree,
    zookeeper,
)
from kafkaproof.spec.topics.history import two_phase
from kafkaproof.spec.topics.properties import liveness
from kafkaproof.spec.topics.properties import safety as properties
from kafkaproof.spec.topics.properties.goals import GOALS
from kafkaproof.spec.topics.properties.memory import MEMORY
from kafkaproof.spec.topics.properties.reassignment import REASSIGNMENT as REASSIGNING
from kafkaproof.spec.topics.properties.steps import STEPS

SEAMS = (
    shared.create_controller,
    shared.read_controller,
    shared.list_brokers,
    zookeeper.get_assignments,
    zookeeper.arm,
    zookeeper.create_state,
    zookeeper.set_state,
    zookeeper.get_state,
    zookeeper.set_isr,
    zookeeper.shrink,
    tree.set_topic,
    tree.delete_state,
    tree.delete_topic,
    tree.delete_config,
    tree.delete_marker,
    tree.delete_request,
    fencing.checked_create_state,
    fencing.checked_set_state,
    fencing.checked_set_isr,
    fencing.checked_shrink,
    fencing.checked_set_topic,
    fencing.checked_delete_state,
    fencing.checked_delete_topic,
    fencing.checked_delete_config,
    fencing.checked_delete_marker,
    fencing.checked_delete_request,
    two_phase.write_isr,
    two_phase.set_union,
)
DELETE_CONTROLLER = rebind(any_system.delete_controller, {answers.remove_controller: shared.remove_controller})


SLICE = {
    partition_context.forget: context.forget,
    partition_context.drop_event: context.drop_nothing,
    partition_context.empty_queue: context.keep_nothing,
    partition_network.drop_requests: network.drop_requests,
    partition_progress.proceed: progress.proceed,
    shared.forget_versions: zookeeper.end_watch,
}
"""What stands for the parts of `partition` that are not here: context, event queue, the rest of an event, requests, versions."""


FAULTS = declared.faults(faults.crash, faults.restart, faults.refuse_deletion, lane=BROKER) + declared.faults(
    partition_faults.expire_session, DELETE_CONTROLLER, faults.create_again, faults.ask_for_deletion, faults.expand
)
ADMINISTRATOR = declared.faults(faults.ask_for_reassignment, faults.ask_for_cancellation)
CONTROLLER = (
    *asking(terms.elect),
    *asking(failover.load_context, kind=CONTINUATION),
    *asking(terms.resign),
    *asking(machines.create_first_state, machines.elect_leader, machines.remove_replica, kind=CONTINUATION),
    *asking(
        partition_brokers.broker_change, creation.topic_change, creation.new_partitions, creation.ignore_partitions
    ),
    *asking(
        creation.restore_partitions,
        deletion.delete_states,
        deletion.delete_topic_node,
        deletion.delete_topic_config,
        deletion.delete_topic_marker,
        kind=CONTINUATION,
    ),
    *acting(terms.reopen),
    *acting(machines.stop_replicas, brokers.broker_startup, brokers.broker_failure, kind=CONTINUATION),
    *acting(deletion.topic_deletion, deletion.handle_answer),
)
REPLICAS = acting(replica.leader_and_isr, replica.stop_replica)
REASSIGNMENT = asking(
    reassignment.check,
    reassignment.tell_replicas,
    reassignment.move_leader,
    reassignment.write_target,
    kind=CONTINUATION,
)
KIP455_ONLY = acting(reassignment.reassign) + asking(reassignment.write_assignment, kind=CONTINUATION)

SIZES = {
    "brokers": "brokers, each of which may become the controller",
    "replicas": "replicas of each partition, no more than brokers",
    "partitions": "partitions of the topic, which begins with one",
    "topics": "creations of the topic",
    "epochs": "elections of a controller",
    "leader_epochs": "changes of a partition's leader, or of its ISR by a controller",
    "faults": "crashes, expiries of living sessions, deletions of /controller, and logs that cannot be deleted",
    "requests": "what operators ask for: deletion, creation again, another partition, reassignment, cancellation",
}


def scope(*, brokers=2, replicas=1, partitions=1, topics=1, epochs=1, leader_epochs=4, faults=0, requests=2) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(
        brokers=brokers,
        replicas=replicas,
        partitions=partitions,
        topics=topics,
        epochs=epochs,
        leader_epochs=leader_epochs,
        faults=faults,
        requests=requests,
    )


def model(variant, releases, story, transitions, properties, expected, **named):
    """A variant of topics from its own transitions, its recorded verdicts, and scopes with names of its own."""
    return Model(
        system="topics",
        variant=variant,
        releases=releases,
        story=story,
        state=state.STATE,
        initial=state.initial,
        transitions=transitions,
        properties=among(properties, transitions),
        scope=scope(epochs=2, faults=1, requests=1),
        largest=scope(brokers=4, replicas=4, partitions=3, topics=2, epochs=4, leader_epochs=12, faults=4, requests=4),
        lanes=lanes,
        seams=SEAMS,
        answers=answers.Answer.names,
        expected=expected,
        safety_only=LARGE,
        others={"quick": scope(), "deep": scope(epochs=2, leader_epochs=5, faults=1), **named},
        sizes=SIZES,
        interchangeable={"brokers": ()},
    ).rebound(SLICE)


LARGE = (
    scope(brokers=3, replicas=2, requests=1),
    scope(brokers=3, replicas=2),
    scope(brokers=3, replicas=2, epochs=2, faults=1, requests=1),
    scope(replicas=2, topics=2, epochs=2, leader_epochs=3, faults=1),
    scope(brokers=3, replicas=2, leader_epochs=5, faults=1),
)
SHRUNK = {"isr_assigned": 17, "force_elects": 17, "state_tells": 17}
PAIR_OF_REQUESTS = {"not_deleted_while_reassigned": 15, "isr_assigned": 24, "force_elects": 24, "state_tells": 24}
STUCK = {"is_deleted_despite_failures": 7}
UNLED = STUCK | {"has_moved": 16}
TWO_REQUESTS = UNLED | {"not_deleted_while_reassigned": 15, "isr_assigned": 16, "is_deleted": 18}
LEADER_ZK = asking(two_phase.change_isr) + acting(reassignment.caught_up)
KIP455 = model(
    "kip455",
    Releases("2.7", "3.9"),
    "The topic znode says what is added and removed; every write of a controller is checked against the epoch; "
    "leaders ask the controller to change an ISR.",
    CONTROLLER + REPLICAS + REASSIGNMENT + KIP455_ONLY + asking(isr.alter_partition) + FAULTS + ADMINISTRATOR,
    properties.SAFETY + MEMORY + STEPS + REASSIGNING + GOALS + liveness.KIP455,
    {
        scope(): {},
        scope(epochs=2, faults=1, requests=1): UNLED,
        scope(brokers=3, epochs=2, faults=1, requests=1): UNLED,
        scope(brokers=3, leader_epochs=5): {},
        scope(brokers=3): {},
        scope(replicas=2, epochs=2, faults=1, requests=1): {"is_deleted_despite_failures": 9},
        scope(brokers=3, replicas=2, requests=1): {},
        scope(brokers=3, replicas=2): {},
        scope(brokers=3, replicas=2, epochs=2, faults=1, requests=1): {},
        scope(replicas=2, topics=2, epochs=2, leader_epochs=3, faults=1): {},
        scope(brokers=3, replicas=2, leader_epochs=5, faults=1): PAIR_OF_REQUESTS,
        scope(partitions=2, leader_epochs=3): {"no_partition_undone": 8},
        scope(partitions=2, epochs=2, faults=1, requests=1): UNLED | {"partitions_known": 6},
        scope(epochs=2, leader_epochs=5, faults=1): TWO_REQUESTS | {"no_stray_log": 30},
        scope(topics=2, epochs=2, leader_epochs=3, faults=1): TWO_REQUESTS,
    },
    expanded=scope(partitions=2, epochs=2, faults=1, requests=1),
    undone=scope(partitions=2, leader_epochs=3),
    recreated=scope(brokers=1, partitions=2, topics=2),
)
KIP455_ZK = model(
    "kip455-zk",
    Releases("2.4", "2.6"),
    "As in kip455, but leaders write the ISR themselves: it may shrink between the look at it and the move.",
    CONTROLLER + REPLICAS + REASSIGNMENT + KIP455_ONLY + LEADER_ZK + FAULTS + ADMINISTRATOR,
    properties.SAFETY + GOALS + liveness.KIP455,
    {
        scope(): SHRUNK | {"has_moved": 25},
        scope(epochs=2, faults=1, requests=1): SHRUNK | STUCK,
        scope(brokers=3): SHRUNK | {"has_moved": 25},
        scope(brokers=3, epochs=2, faults=1, requests=1): SHRUNK | STUCK,
        scope(brokers=3, replicas=2, requests=1): SHRUNK,
        scope(brokers=3, replicas=2): SHRUNK,
    },
)
MODELS = (KIP455_ZK, KIP455)
