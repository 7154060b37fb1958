"""The partition system with a controller that deletes topics, and what is known of it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.kafka.declarations import acting, asking
from kafkaproof.spec.language.model import CONTINUATION, LIVENESS, Model, Property, Transition, concerning
from kafkaproof.spec.partition import brokers, context, network, progress, zookeeper
from kafkaproof.spec.partition import replica as partition_replica
from kafkaproof.spec.partition.creation import zookeeper as creation_zookeeper
from kafkaproof.spec.partition.deletion import brokers as deletion_brokers
from kafkaproof.spec.partition.deletion import deletion, faults, replica, state
from kafkaproof.spec.partition.deletion import network as deletion_network
from kafkaproof.spec.partition.deletion import progress as deletion_progress
from kafkaproof.spec.partition.deletion import properties as topic_deletion
from kafkaproof.spec.partition.deletion import zookeeper as deletion_zookeeper
from kafkaproof.spec.partition.model import FENCED, reading, scope, writing

CONTROLLER = (
    *reading(deletion_brokers.load_state, kind=CONTINUATION),
    *asking(deletion.mark_topic),
    *writing(
        deletion.delete_state,
        deletion.delete_topic,
        deletion.delete_config,
        deletion.delete_marker,
        deletion.delete_leftovers,
    ),
    *acting(deletion_brokers.broker_startup, deletion_brokers.broker_failure, kind=CONTINUATION),
    *acting(deletion_brokers.storage_error, deletion.topic_deletion),
    *acting(deletion.resume_deletion, deletion.stop_replicas, kind=CONTINUATION),
    *acting(deletion.replica_stopped, deletion.leftover_deletion, deletion.drop_reassignment),
)
OPERATORS = declared.faults(faults.ask_for_deletion, faults.ask_for_unknown_deletion)
SEAMS = (
    deletion_zookeeper.checked_delete_state,
    deletion_zookeeper.checked_delete_topic,
    deletion_zookeeper.checked_delete_config,
    deletion_zookeeper.checked_delete_marker,
    deletion_zookeeper.checked_delete_leftovers,
    deletion_zookeeper.create_marker,
)
WITH_DELETIONS = {
    progress.end_event: deletion_progress.end_event,
    progress.to_take_offline: deletion_progress.to_take_offline,
    brokers.start_on: deletion_brokers.start_on,
    context.forget: state.forget,
    context.drop_event: state.drop_event,
    network.drop_requests: deletion_network.drop_requests,
    network.fall_silent: deletion_network.fall_silent,
    partition_replica.make_log: replica.make_log,
    zookeeper.deletion_wanted: deletion_zookeeper.deletion_wanted,
}
OF_CREATION = {
    creation_zookeeper.assign_new: deletion_zookeeper.assign_new,
    creation_zookeeper.is_taken: deletion_zookeeper.is_taken,
}


def deleting(
    model: Model,
    variant: str,
    story: str,
    transitions: tuple[Transition, ...],
    asked: Mapping[Callable, Callable] = {},
    replaced: Mapping[Callable, Callable] = {},
    properties: Callable[[tuple[Property, ...]], tuple[Property, ...]] = topic_deletion.properties,
    **changes,
) -> Model:
    """A variant in which the controller deletes topics: these transitions beside or instead of those of `model`.

    `asked` replaces callees of its properties, and `replaced` callees of transitions; `properties` makes those of the
    variant from those of `model`, of which those that are about other transitions alone are left out.
    """
    own = {transition.function.__name__ for transition in transitions}
    new = tuple(t for t in CONTROLLER + OPERATORS if t.function.__name__ not in own) + transitions
    names = {transition.function.__name__ for transition in new} | {"queue_deletion"}
    kept = tuple(t for t in model.transitions if t.function.__name__ not in names)
    safety = tuple(p for p in model.properties if p.kind not in LIVENESS)
    creates = any(t.function.__name__ == "create_topic" for t in model.transitions)
    return replace(
        model,
        variant=variant,
        story=story,
        transitions=kept + new,
        seams=model.seams + SEAMS,
        properties=concerning(tuple(p.rebound(asked) for p in properties(safety)), kept + new),
    ).rebound(WITH_DELETIONS | (OF_CREATION if creates else {}) | replaced, **changes)


LATE_ANSWER = {"state_goes_with_topic": 29, "removed_when_deleted": 30, "log_goes_with_topic": 33}
DELETING = deleting(
    FENCED,
    "deleting",
    "An administrator has topics deleted while brokers fail: the controller stops the replicas, waits for those that "
    "are not there, and deletes the znodes; what one controller has begun the next one ends.",
    acting(replica.stop_replica),
    state=state.STATE,
    initial=state.initial,
    scope=scope(),
    expected={
        scope(epochs=1): LATE_ANSWER,
        scope(): LATE_ANSWER,
        scope(epochs=1, faults=2): LATE_ANSWER,
        scope(brokers=3): LATE_ANSWER,
        scope(replicas=1, partitions=2, epochs=1, leader_epochs=2): {
            "state_goes_with_topic": 32,
            "removed_when_deleted": 33,
            "log_goes_with_topic": 36,
        },
    },
    others={"quick": scope(epochs=1), "deep": scope(epochs=1, faults=2)},
)
MODELS = (DELETING,)
