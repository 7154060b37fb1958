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
from kafkaproof.spec.partition.deletion import zookeeper as deletion_zookeeper
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.history import triggers as former
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
from kafkaproof.spec.partition.releases import rules

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
        reassignment.tell_raised: phases.tell_raised,
        reassignment.read_again: phases.read_again,
        reassignment.end_telling: rebind(phases.end_telling, GOING_ON),
        rebalance.is_barred: rebind(brokers.is_barred, REASSIGNED),
        context.forget: state.forget,
        context.drop_event: state.drop_event,
        deletion_state.forget_topic: state.forget_topic,
    }
)


def in_phases(
    variant,
    released,
    story,
    asked,
    replaced,
    *,
    told,
    expected,
    created=(),
    beside=(),
    seams=(),
    made_of=properties.properties,
    **changes,
) -> Model:
    """A variant in which the controller deletes topics and reassigns partitions in two phases.

    `asked` are the properties of the releases, `replaced` their rules, and `told` those that properties call; `made_of`
    makes the properties from those that are asked. `created` are the transitions that create topics, if there are any,
    and `beside` others beside these or in their place, with their `seams`.
    """
    given = {transition.function.__name__ for transition in beside}
    present = CONTROLLER + OPERATORS + LEADERS + acting(replica.stop_replica)
    own = tuple(t for t in present if t.function.__name__ not in given) + beside
    names = {transition.function.__name__ for transition in own}
    kept = tuple(t for t in COMMON if t.function.__name__ not in names | REPLACED)
    base = model(variant, released, story, kept, asked, QUICK, TWO_FAULTS, {})
    without = tuple(t for t in base.transitions if t.function.__name__ not in REPLACED)
    made = partition_deletion.deleting(
        replace(base, transitions=without + created, seams=base.seams + SEAMS + seams),
        variant,
        story,
        own,
        told,
        WITH_PHASES,
        made_of,
        state=state.STATE,
        initial=state.initial,
    )
    kept = tuple(t for t in made.transitions if t.function.__name__ not in REPLACED)
    return replace(made, transitions=kept).rebound(replaced, expected=expected, **changes)


UNTIL_2_2 = {deletion_progress.is_heeded: phases_progress.is_asked_by_deletion}
"""What a deletion does otherwise, beside what `releases` has."""
UNTIL_2_0 = UNTIL_2_2 | {
    zookeeper.checked_create_state: deletion_zookeeper.create_state,
    deletion_progress.ended_at_start: former.end_none_at_start,
}
UNTIL_2_0 |= {
    request: rebind(request, {zookeeper.check_epoch: leader_zk.check_nothing})
    for request in SEAMS + partition_deletion.SEAMS
    if request is not deletion_zookeeper.create_marker
}
TOLD_UNTIL_2_2 = releases.FORMER_MOVES | {event_properties.counts: properties.counts_if_assigned}
"""What properties call that is another rule in these releases."""
TOLD_UNTIL_2_1 = TOLD_UNTIL_2_2 | {zookeeper.known_as_they_are: zookeeper.as_they_are}
TOLD_UNTIL_2_0 = TOLD_UNTIL_2_1 | {event_properties.ended: properties.end_when_completed}
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
LATE_ANSWER = NOT_AWAITED | {"state_goes_with_topic": 29, "removed_when_deleted": 30}
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
LATE_ANSWER_UNNAMED = NOT_AWAITED | {"state_goes_with_topic": 31, "removed_when_deleted": 32}
"""The same where requests name no process."""
NAMED_PROCESS = {"state_goes_with_topic": 25, "removed_when_deleted": 26}
"""The late answer with one replica, where requests name a process, and where they do not."""
LATE_ANSWER_OF_ONE = {"state_goes_with_topic": 29, "removed_when_deleted": 30}
STUCK = HALF_DONE | LATE_ANSWER_OF_ONE | {"deletion_goes_on": 24, "log_goes_with_topic": 28, "local_epoch": 31}
"""A replica that a reassignment has added half done does not exist for the controller, and cannot be deleted."""
UNFENCED = LOST | {"context_is_zookeeper": 11, "online_has_leader": 13, "queued_left_alone": 16}
"""Up to 2.0 a partition stays Online while its topic is deleted, and a controlled shutdown moves its leader."""
ZOMBIE = UNFENCED | {
    "no_stale_write": 7,
    "not_deleted_while_reassigned": 19,
    "local_epoch": 22,
    "context_is_zookeeper": 10,
    "state_deleted_by_right": 21,
    "deleted_by_right": 22,
    "state_goes_with_topic": 22,
    "replicas_remembered": 22,
    "removed_when_deleted": 23,
    "deletion_goes_on": 26,
    "marker_last": 28,
}
ZOMBIE_OF_ONE = {
    "no_stale_write": 7,
    "not_deleted_while_reassigned": 17,
    "local_epoch": 19,
    "context_is_zookeeper": 10,
    "online_has_leader": 11,
    "state_deleted_by_right": 17,
    "deleted_by_right": 18,
    "leaderless_for_a_reason": 19,
    "state_goes_with_topic": 19,
    "stopped_out_of_isr": 19,
    "replicas_remembered": 19,
    "removed_when_deleted": 20,
    "isr_assigned": 20,
    "deletion_goes_on": 22,
    "marker_last": 23,
    "led_if_possible": 23,
}
ZOMBIE_WITH_LIST = {
    "no_stale_write": 7,
    "not_deleted_while_reassigned": 15,
    "local_epoch": 17,
    "waits_for_somebody": 8,
    "listed_by_right": 9,
    "no_stale_delete": 10,
    "assigned_by_right": 10,
    "context_is_zookeeper": 10,
    "request_goes_last": 11,
    "online_has_leader": 11,
    "led_if_possible": 11,
    "request_remembered": 11,
    "deleted_by_right": 14,
    "queued_left_alone": 19,
    "state_deleted_by_right": 16,
    "replicas_remembered": 16,
    "state_goes_with_topic": 17,
    "isr_assigned": 17,
    "removed_when_deleted": 18,
    "marker_last": 19,
    "deletion_goes_on": 20,
}
ASKED_TWICE = scope(replicas=1, epochs=1, leader_epochs=1, faults=2)
CHECKED = in_phases(
    "phases-checked",
    Releases("2.3", "2.3"),
    "A reassignment has two phases, and only /admin/reassign_partitions knows of it. Every write of a controller is "
    "checked against the epoch.",
    releases.WITHOUT_ADMIN_ELECTIONS + releases.FOLLOWED + goals.FROM_2_2,
    rules.UNTIL_2_6 | rules.UNTIL_2_3,
    told={},
    scope=scope(),
    expected={
        scope(epochs=1): LOST | LATE_ANSWER,
        scope(): LOST | LATE_ANSWER,
        scope(brokers=3, epochs=1): LOST | LATE_ANSWER | {"context_is_zookeeper": 10},
        scope(brokers=3): LOST | LATE_ANSWER | {"context_is_zookeeper": 10},
        scope(replicas=1, epochs=1, faults=2): STUCK | NAMED_PROCESS,
        ASKED_TWICE: GIVEN_UP | {"deletion_goes_on": 24},
        scope(replicas=1, leader_epochs=1, faults=2): GIVEN_UP | {"deletion_goes_on": 24, "local_epoch": 27},
    },
    others={"quick": scope(epochs=1), "deep": scope(replicas=1, epochs=1, faults=2), "two-faults": ASKED_TWICE},
)
REWRITING = in_phases(
    "phases-rewriting",
    Releases("2.1", "2.1"),
    "The same in the first release whose writes are checked (KAFKA-6082): there are no broker epochs, a request for "
    "preferred leaders writes every state again, and a new controller leaves the replicas of dead brokers in the ISRs.",
    releases.WITHOUT_BROKER_EPOCHS + releases.FOLLOWED,
    rules.UNTIL_2_6 | rules.UNTIL_2_1 | UNTIL_2_2,
    told=TOLD_UNTIL_2_1,
    scope=scope(),
    expected={
        scope(epochs=1): LOST | LATE_ANSWER_UNNAMED,
        scope(): LOST | LATE_ANSWER_UNNAMED,
        scope(brokers=3): LOST | LATE_ANSWER_UNNAMED | {"context_is_zookeeper": 10},
        scope(replicas=1, epochs=1, faults=2): STUCK,
    },
    others={"quick": scope(epochs=1), "deep": scope(replicas=1, epochs=1, faults=2)},
)
UNCHECKED = in_phases(
    "phases-unchecked",
    Releases("2.0", "2.0"),
    "The same when nothing checks a controller's writes: a zombie writes assignments, takes partitions off the list, and "
    "ends deletions behind its successor's back. Up to 1.1 the context changes only once the assignment is written, which "
    "is not modelled.",
    releases.WITHOUT_BROKER_EPOCHS + goals.GOALS,
    rules.UNFENCED | UNTIL_2_0,
    told=TOLD_UNTIL_2_0,
    scope=scope(),
    expected={
        scope(epochs=1): UNFENCED | LATE_ANSWER_UNNAMED | {"local_epoch": 37},
        scope(): ZOMBIE,
        scope(replicas=1): ZOMBIE_OF_ONE,
        scope(brokers=3): ZOMBIE,
        scope(replicas=1, epochs=1, faults=2): STUCK | {"online_has_leader": 11, "queued_left_alone": 19},
        scope(replicas=1, leader_epochs=1, faults=2): ZOMBIE_WITH_LIST,
    },
    others={"quick": scope(epochs=1), "deep": scope(replicas=1, epochs=1, faults=2)},
)
MODELS = (CHECKED, REWRITING, UNCHECKED)
