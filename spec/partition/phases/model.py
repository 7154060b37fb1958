"""The partition system with a controller that reassigns in two phases, and what is known of it."""

from dataclasses import replace

from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.kafka.declarations import acting, asking
from kafkaproof.spec.language.model import CONTINUATION, EVENT, Model
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import context, progress, rebalance, telling, zookeeper
from kafkaproof.spec.partition.deletion import event_properties, replica
from kafkaproof.spec.partition.deletion import model as partition_deletion
from kafkaproof.spec.partition.deletion import progress as deletion_progress
from kafkaproof.spec.partition.deletion import state as deletion_state
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.model import COMMON, QUICK, TWO_FAULTS, model, reading, scope, writing
from kafkaproof.spec.partition.phases import brokers, lists, phases, properties, state
from kafkaproof.spec.partition.phases import network as phases_network
from kafkaproof.spec.partition.phases import progress as phases_progress
from kafkaproof.spec.partition.phases import zookeeper as phases_zookeeper
from kafkaproof.spec.partition.properties import goals
from kafkaproof.spec.partition.reassignment import brokers as reassignment_brokers
from kafkaproof.spec.partition.reassignment import faults, reassignment
from kafkaproof.spec.partition.reassignment import network as reassignment_network
from kafkaproof.spec.partition.reassignment import progress as reassignment_progress
from kafkaproof.spec.partition.reassignment import zookeeper as reassignment_zookeeper
from kafkaproof.spec.partition.releases import model as releases

CONTROLLER = (
    *reading(brokers.load_state, kind=CONTINUATION),
    *reading(phases.check_target, phases.read_leader_epoch, kind=CONTINUATION),
    *writing(
        phases.write_union, reassignment.tell_replicas, phases.write_target, lists.delete_listed, lists.delete_request
    ),
    *acting(reassignment_brokers.broker_startup, kind=CONTINUATION),
    *acting(reassignment_brokers.topic_deletion, lists.find_request, phases.caught_up),
    *acting(reassignment.stop_removed, kind=CONTINUATION),
)
OPERATORS = declared.faults(faults.ask_for_reassignment)
LEADERS = asking(phases_network.change_isr) + writing(leader_zk.isr_notification, kind=EVENT)
REPLACED = {"reassignment", "drop_reassignment"}
"""Parts of a reassignment, which are whole here."""
SEAMS = (reassignment_zookeeper.checked_set_assignments, phases_zookeeper.checked_set_list)
GOING_ON = {
    progress.go_on: rebind(
        reassignment_progress.go_on,
        {progress.end_event: deletion_progress.end_event, reassignment_progress.take_up: phases_progress.take_up},
    ),
    progress.to_take_offline: reassignment_progress.to_take_offline,
}
REASSIGNED = {reassignment_progress.is_reassigned: phases_progress.is_reassigned}
NAMING = {telling.tell_leadership: phases_network.tell_leadership}
WITH_PHASES = (
    GOING_ON
    | REASSIGNED
    | NAMING
    | {
        reassignment_progress.target_of: phases_progress.target_of,
        reassignment_network.put_removal: phases_network.put_removal,
        reassignment.tell_raised: rebind(phases.tell_raised, NAMING),
        reassignment.read_again: phases.read_again,
        reassignment.end_telling: rebind(phases.end_telling, GOING_ON),
        rebalance.to_rebalance: rebind(brokers.to_rebalance, REASSIGNED),
        context.forget: state.forget,
        deletion_state.forget_topic: state.forget_topic,
    }
)


def in_phases(variant, released, story, asked, replaced, *, told, expected, **changes) -> Model:
    """A variant in which the controller deletes topics and reassigns partitions in two phases.

    `asked` are the properties of the releases, `replaced` their rules, and `told` those that properties call.
    """
    own = CONTROLLER + OPERATORS + LEADERS + acting(replica.leader_and_isr, replica.stop_replica)
    names = {transition.function.__name__ for transition in own}
    kept = tuple(t for t in COMMON if t.function.__name__ not in names | REPLACED)
    base = model(variant, released, story, kept, asked, QUICK, TWO_FAULTS, {})
    without = tuple(t for t in base.transitions if t.function.__name__ not in REPLACED)
    made = partition_deletion.deleting(
        replace(base, transitions=without, seams=base.seams + SEAMS),
        variant,
        story,
        own,
        told,
        WITH_PHASES,
        properties.properties,
        state=state.STATE,
        initial=state.initial,
    )
    kept = tuple(t for t in made.transitions if t.function.__name__ not in REPLACED)
    return replace(made, transitions=kept).rebound(replaced, expected=expected, **changes)


LOST = {
    "context_is_zookeeper": 11,
    "leaderless_for_a_reason": 13,
    "stopped_out_of_isr": 13,
    "isr_assigned": 14,
    "online_has_leader": 15,
    "led_if_possible": 17,
}
"""The raised leader epoch is not remembered; and the old replicas are stopped though none of the target can lead."""
NOT_AWAITED = {"not_deleted_while_reassigned": 19}
"""A deletion does not wait for a reassignment."""
LATE_ANSWER = NOT_AWAITED | {"state_goes_with_topic": 29, "local_epoch": 29, "removed_when_deleted": 30}
"""As in `deleting`."""
GIVEN_UP = {
    "waits_for_somebody": 8,
    "context_is_zookeeper": 10,
    "request_goes_last": 11,
    "led_if_possible": 11,
    "not_deleted_while_reassigned": 15,
}
"""With two faults a reassignment fails and is given up, and a deletion waits for one that was dropped."""
HALF_DONE = GIVEN_UP | {
    "leaderless_for_a_reason": 19,
    "stopped_out_of_isr": 19,
    "isr_assigned": 20,
    "online_has_leader": 21,
}
CHECKED = in_phases(
    "phases-checked",
    Releases("2.3", "2.3"),
    "A reassignment has two phases, and only /admin/reassign_partitions knows of it. Every write of a controller is "
    "checked against the epoch.",
    releases.WITHOUT_ADMIN_ELECTIONS + releases.FOLLOWED + goals.FROM_2_2,
    releases.UNTIL_2_6 | releases.UNTIL_2_5,
    told={},
    scope=scope(),
    expected={
        scope(epochs=1): LOST | LATE_ANSWER,
        scope(): LOST | NOT_AWAITED,
        scope(brokers=3, epochs=1): LOST | NOT_AWAITED | {"context_is_zookeeper": 10},
        scope(brokers=3): LOST | {"context_is_zookeeper": 10},
        scope(replicas=1, epochs=1, faults=2): HALF_DONE,
        scope(replicas=1, leader_epochs=1, faults=2): GIVEN_UP,
    },
    others={"quick": scope(epochs=1), "deep": scope(replicas=1, epochs=1, faults=2)},
)
REWRITING = in_phases(
    "phases-rewriting",
    Releases("2.1", "2.1"),
    "The same in the first release whose writes are checked (KAFKA-6082): there are no broker epochs, a request for "
    "preferred leaders writes every state again, and a new controller leaves the replicas of dead brokers in the ISRs.",
    releases.WITHOUT_BROKER_EPOCHS + releases.FOLLOWED,
    releases.UNTIL_2_6 | releases.UNTIL_2_1 | {deletion_progress.is_heeded: phases_progress.is_asked_by_deletion},
    told={zookeeper.known_as_they_are: zookeeper.as_they_are, event_properties.counts: properties.counts_if_assigned},
    scope=scope(),
    expected={
        scope(epochs=1): LOST
        | NOT_AWAITED
        | {"state_goes_with_topic": 31, "local_epoch": 31, "removed_when_deleted": 32},
        scope(): LOST | NOT_AWAITED,
        scope(brokers=3): LOST | {"context_is_zookeeper": 10},
        scope(replicas=1, epochs=1, faults=2): HALF_DONE,
    },
    others={"quick": scope(epochs=1), "deep": scope(replicas=1, epochs=1, faults=2)},
)
MODELS = (CHECKED, REWRITING)
