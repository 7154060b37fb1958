"""The partition system with a controller that reassigns partitions, and what is known of it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.kafka.declarations import acting
from kafkaproof.spec.language.model import CONTINUATION, Model, Property, Transition
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.partition import context, isr, network, progress, zookeeper
from kafkaproof.spec.partition.deletion import model as partition_deletion
from kafkaproof.spec.partition.deletion import network as deletion_network
from kafkaproof.spec.partition.deletion import progress as deletion_progress
from kafkaproof.spec.partition.deletion import replica
from kafkaproof.spec.partition.deletion import state as deletion_state
from kafkaproof.spec.partition.deletion import zookeeper as deletion_zookeeper
from kafkaproof.spec.partition.model import FENCED, reading, scope, writing
from kafkaproof.spec.partition.reassignment import admin_requests, brokers, faults, reassignment, state
from kafkaproof.spec.partition.reassignment import network as reassignment_network
from kafkaproof.spec.partition.reassignment import progress as reassignment_progress
from kafkaproof.spec.partition.reassignment import properties as partition_reassignment
from kafkaproof.spec.partition.reassignment import zookeeper as reassignment_zookeeper

CONTROLLER = (
    *reading(brokers.load_state, kind=CONTINUATION),
    *writing(reassignment.write_assignment),
    *reading(reassignment.check_reassignment, kind=CONTINUATION),
    *writing(reassignment.tell_replicas, reassignment.write_target, admin_requests.delete_request),
    *acting(brokers.broker_startup, kind=CONTINUATION),
    *acting(brokers.topic_deletion, brokers.drop_reassignment, brokers.drop_unknown, admin_requests.reassign),
    *acting(reassignment.stop_removed, kind=CONTINUATION),
)
OPERATORS = declared.faults(faults.ask_for_reassignment, faults.ask_for_unknown_reassignment)
REPLACED = ("reassignment",)
"""The election that belongs to a reassignment, without one."""
SEAMS = (reassignment_zookeeper.checked_set_topic, reassignment_zookeeper.checked_delist)
FENCED_STOPS = {
    deletion_network.put_stop: reassignment_network.put_stop,
    deletion_network.take_stop: reassignment_network.take_stop,
    deletion_network.is_overtaken: reassignment_network.is_overtaken,
}
WITH_REASSIGNMENTS = FENCED_STOPS | {
    progress.go_on: rebind(reassignment_progress.go_on, {progress.end_event: deletion_progress.end_event}),
    progress.to_take_offline: reassignment_progress.to_take_offline,
    progress.is_at_machines: reassignment_progress.is_at_machines,
    progress.start_replicas: reassignment_progress.start_replicas,
    context.forget: state.forget,
    context.drop_event: state.drop_event,
    deletion_state.forget_topic: state.forget_topic,
    network.drop_requests: rebind(deletion_network.drop_requests, FENCED_STOPS),
    zookeeper.load_partition: reassignment_zookeeper.load_reassigned,
    deletion_zookeeper.delete_topic: reassignment_zookeeper.delete_topic,
}


def reassigning(
    model: Model,
    variant: str,
    story: str,
    transitions: tuple[Transition, ...],
    asked: Mapping[Callable, Callable] = {},
    properties: Callable[[tuple[Property, ...]], tuple[Property, ...]] = partition_reassignment.properties,
    **changes,
) -> Model:
    """A variant in which the controller deletes topics and reassigns partitions (see `deleting`)."""
    kept = tuple(t for t in model.transitions if t.function.__name__ not in REPLACED)
    given = {transition.function.__name__ for transition in transitions}
    own = tuple(t for t in CONTROLLER + OPERATORS if t.function.__name__ not in given)
    proposes = any(t.function.__name__ == isr.alter_partition.__name__ for t in kept)
    looks = {isr.end_change: reassignment.end_change} if proposes else {}
    return partition_deletion.deleting(
        replace(model, transitions=kept, seams=model.seams + SEAMS),
        variant,
        story,
        own + transitions,
        asked,
        WITH_REASSIGNMENTS | looks,
        properties,
        **changes,
    )


LATE_ANSWER = {"not_deleted_while_reassigned": 19, "state_goes_with_topic": 29, "removed_when_deleted": 30}
"""As in `deleting`, whose log_goes_with_topic is another property; and a deletion does not wait for a reassignment."""
LATE_ANSWER_OF_ONE = {"not_deleted_while_reassigned": 17, "state_goes_with_topic": 25, "removed_when_deleted": 26}
ONE_RAISE = scope(replicas=1, epochs=1, leader_epochs=1, faults=2)
NEVER_LED = {
    "online_has_leader": 11,
    "led_if_possible": 11,
    "request_goes_last": 11,
    "deletion_goes_on": 24,
    "isr_assigned": 28,
}
"""A partition without a state is reassigned: its assignment is written, and the rest fails."""
WITH_TWO_FAULTS = LATE_ANSWER_OF_ONE | NEVER_LED | {"leaderless_for_a_reason": 17}
OF_THE_DEPOSED = {"sent_by_term": 23, "proposal_granted": 26, "local_epoch": 27}
"""A deposed controller sends and grants what it remembers of a topic that its successor has deleted; a broker that has
started again takes the leader epoch from it."""
REASSIGNING = reassigning(
    FENCED,
    "reassigning",
    "An operator has a partition reassigned while brokers fail: the topic znode says what is added and removed, so "
    "that what one controller has begun the next one ends.",
    acting(replica.stop_replica),
    state=state.STATE,
    initial=state.initial,
    scope=scope(leader_epochs=4),
    expected={
        scope(epochs=1, leader_epochs=4): LATE_ANSWER,
        scope(leader_epochs=4): LATE_ANSWER,
        scope(brokers=3, epochs=1, leader_epochs=4): LATE_ANSWER,
        scope(brokers=3, leader_epochs=4): LATE_ANSWER,
        scope(replicas=1, epochs=1): LATE_ANSWER_OF_ONE,
        ONE_RAISE: {"not_deleted_while_reassigned": 17} | NEVER_LED,
        scope(replicas=1, leader_epochs=4): LATE_ANSWER_OF_ONE,
        scope(replicas=1, epochs=1, leader_epochs=4, faults=2): WITH_TWO_FAULTS,
        scope(replicas=1, leader_epochs=4, faults=2): WITH_TWO_FAULTS | OF_THE_DEPOSED,
    },
    others={
        "quick": scope(epochs=1, leader_epochs=4),
        "deep": scope(brokers=3, epochs=1, leader_epochs=4),
        "two-faults": ONE_RAISE,
    },
)
ALTERATIONS = acting(admin_requests.alter_reassignment)
ADMINISTRATORS = declared.faults(faults.ask_for_alteration, faults.ask_for_cancellation)
REMOVED_IN_ISR = LATE_ANSWER_OF_ONE | {
    "led_if_possible": 10,
    "leaderless_for_a_reason": 17,
    "online_has_leader": 11,
    "deletion_goes_on": 23,
    "isr_assigned": 29,
}
"""What a cancellation does when the last member of the ISR is a replica that had been added."""
ALTERING = reassigning(
    FENCED,
    "altering",
    "An administrator has the controller reassign a partition, by requests that replace one another and cancel what is "
    "in progress (AlterPartitionReassignments), beside those in ZooKeeper.",
    acting(replica.stop_replica) + ALTERATIONS + ADMINISTRATORS,
    properties=partition_reassignment.with_alterations,
    state=state.WITH_ALTERATIONS,
    initial=state.initial,
    scope=scope(replicas=1, epochs=1, faults=2),
    expected={
        scope(replicas=1, epochs=1): LATE_ANSWER_OF_ONE,
        scope(replicas=1, epochs=1, faults=2): REMOVED_IN_ISR,
        scope(replicas=1, epochs=1, leader_epochs=4, faults=2): REMOVED_IN_ISR,
        scope(brokers=3, replicas=1, epochs=1, faults=2): REMOVED_IN_ISR,
    },
    others={"quick": scope(replicas=1, epochs=1), "deep": scope(brokers=3, replicas=1, epochs=1, faults=2)},
)
MODELS = (REASSIGNING, ALTERING)
