"""Mutants of topics: one deliberate mistake each, on the variants `kip455` and `two-phase`.

Mutations known for T1 to T10, P2, C4, C12 to C14 and C17, as far as this system can express them, each at a scope
where the variant itself keeps the property. A mutant is not held to the rules of writing a transition.
"""

from kafkaproof.spec.kafka.assignment import append_members
from kafkaproof.spec.kafka.deletion_moves import move_partition
from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    NON_EXISTENT_PARTITION,
    ONLINE_PARTITION,
    ONLINE_REPLICA,
    REPLICA_DELETION_SUCCESSFUL,
)
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import OK
from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere, within
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, difference, with_member
from kafkaproof.spec.partition.context import clear
from kafkaproof.spec.partition.deletion.state import DELETING_CONFIG, DELETING_MARKER, DELETING_TOPIC
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.reassignment.state import WRITING_TARGET
from kafkaproof.spec.partition.znodes import NONE
from kafkaproof.spec.topics import (
    context,
    creation,
    deletion,
    fencing,
    machines,
    progress,
    reassignment,
    replica,
    zookeeper,
)
from kafkaproof.spec.topics.context import REWRITING, Broker, copy_assignment, forget, is_present, members
from kafkaproof.spec.topics.fencing import checked_delete_topic
from kafkaproof.spec.topics.history import two_phase
from kafkaproof.spec.topics.history.two_phase import set_union
from kafkaproof.spec.topics.model import scope
from kafkaproof.spec.topics.progress import any_in, end_election, rest
from kafkaproof.spec.topics.reassignment import finish, origin_of, plan, target_of
from kafkaproof.spec.topics.tree import delete_config, delete_request, delete_topic
from kafkaproof.spec.topics.zookeeper import data_changed, get_assignments

MOVED, MOVED_TWICE = scope(brokers=3, replicas=2, requests=1), scope(brokers=3, replicas=2)
CALM, TWICE, FAULT = scope(requests=1), scope(), scope(epochs=2, faults=1, requests=1)
PAIR, PAIR_FAULT = scope(replicas=2, requests=1), scope(replicas=2, faults=1, requests=1)
EXPANDED, AGAIN = scope(partitions=2, leader_epochs=3, requests=1), scope(topics=2, epochs=2, leader_epochs=3, faults=1)
MOVED_FAULT = scope(brokers=3, replicas=2, epochs=2, leader_epochs=1, faults=1, requests=1)
SPARE = scope(brokers=3)


def mutant(name, kills, replacements, at=CALM):
    """A mutant, told by the docstring of what replaces something."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


def mutant_within(name, kills, transition, replacements, at=CALM):
    """The same, in one transition alone."""
    told = first_paragraph(next(iter(replacements.values())))
    return Mutant(name, told, kills, within(transition, replacements), at)


def any_deleted(controller):
    """A deletion is completed when any replica is deleted."""
    return any_in(controller, REPLICA_DELETION_SUCCESSFUL)


def marker_first(controller):
    """The marker is deleted before the topic."""
    controller.doing = DELETING_MARKER


def config_first(controller):
    """The configuration is deleted before the topic."""
    controller.doing = DELETING_CONFIG


def delete_tree_only(s, b: Broker):
    """The configuration is not deleted."""
    controller = s.brokers[b].controller
    if controller.doing != DELETING_TOPIC:
        return False

    answer = checked_delete_topic(s.zk, b, controller.epoch)
    if answer == OK:
        controller.doing = DELETING_MARKER
    else:
        forget(controller)
    return True


def nothing_reassigned(controller):
    """A topic is not ineligible for deletion while a partition is being reassigned."""
    return False


def trigger_any(controller):
    """Leaders are elected for a topic that is queued for deletion, too."""
    for p in range(len(controller.partitions)):
        if is_present(controller.partitions[p]) and controller.partitions[p].state != ONLINE_PARTITION:
            controller.todo = with_member(controller.todo, p)


def always_valid(controller, partition, proposed, target):
    """A reassignment begins in a topic that is queued for deletion, too."""
    return is_present(partition)


def never_stale(broker, epoch):
    """A broker obeys StopReplica whatever the controller epoch."""
    return False


def plan_target_alone(assigned, target, planned):
    """A reassignment writes the target instead of the union."""
    clear(planned.assignment)
    append_members(target, replicas_of(target), planned.assignment)
    planned.adding = difference(replicas_of(target), replicas_of(assigned.assignment))
    planned.removing = 0


def plan_adding_all(assigned, target, planned):
    """Every replica of the union counts as added."""
    clear(planned.assignment)
    append_members(target, replicas_of(target), planned.assignment)
    append_members(assigned.assignment, origin_of(assigned), planned.assignment)
    planned.adding = replicas_of(planned.assignment)
    planned.removing = difference(replicas_of(planned.assignment), replicas_of(target))


def plan_old_first(assigned, target, planned):
    """What there was comes before the target."""
    clear(planned.assignment)
    append_members(assigned.assignment, origin_of(assigned), planned.assignment)
    append_members(target, replicas_of(target), planned.assignment)
    planned.adding = difference(replicas_of(planned.assignment), origin_of(assigned))
    planned.removing = difference(replicas_of(planned.assignment), replicas_of(target))


def plan_adding_to_union(assigned, target, planned):
    """What is added is computed from the union that there is, not from what there was before."""
    plan(assigned, target, planned)
    planned.adding = difference(replicas_of(planned.assignment), replicas_of(assigned.assignment))


def plan_with_duplicates(assigned, target, planned):
    """Who is in both, the target and what there was, is in the union twice."""
    plan(assigned, target, planned)
    clear(planned.assignment)
    for i in range(target.length):
        push(planned.assignment, target.slots[i])
    for i in range(assigned.assignment.length):
        push(planned.assignment, assigned.assignment.slots[i])


def finish_by_id(controller, partition):
    """The assignment that ends a reassignment has its replicas in the order of their ids."""
    target = target_of(partition)
    finish(controller, partition)
    clear(controller.wanted.assignment)
    for r in range(len(partition.replicas)):
        if contains(target, r):
            push(controller.wanted.assignment, r)
    copy_assignment(controller.wanted, partition)


def set_union_and_forget(zk, b, p, context, epoch):
    """The request is deleted as soon as the union is written."""
    answer = set_union(zk, b, p, context, epoch)
    if answer == OK:
        delete_request(zk, b, epoch)
    return answer


def origin_with_added(assigned):
    """What is added counts as having been there, when another reassignment follows."""
    return replicas_of(assigned.assignment)


def complete_at_once(assigned, isr):
    """A reassignment is finished without looking at the ISR."""
    return True


def cancel_nothing(assigned, planned):
    """A cancellation keeps the union."""
    copy_assignment(assigned, planned)


def target_first(controller, partition):
    """The target is written before the leader is moved and old replicas are stopped."""
    finish(controller, partition)
    controller.doing = WRITING_TARGET


def all_assigned(assignment, online):
    """The first ISR is of all replicas, live or not."""
    return replicas_of(assignment)


def keep_cache(controller):
    """The leadership of a deleted topic stays in the cache."""
    controller.topic = 0
    controller.deleting = 0
    controller.started = 0
    controller.ineligible = 0
    controller.resuming = 0


def read_unwatched(zk, b, reader):
    """The topic is read without its watch being armed."""
    return get_assignments(zk, b, reader, NONE)


def restore_any(s, b: Broker):
    """New partitions are undone though the topic is not queued for deletion."""
    controller = s.brokers[b].controller
    if not at_work(controller) or not data_changed(s.zk, b) or controller.topic == 0:
        return False

    copy_assignment(controller.partitions[0], controller.wanted)
    controller.doing = REWRITING
    return True


def stay_idle(controller):
    """An answer to StopReplica does not resume the deletion."""
    rest(controller)


def mark_nothing(controller):
    """A partition whose leader has gone stays Online."""
    return 0


def online_anyway(controller, p):
    """A partition is Online though the election failed."""
    controller.partitions[p].state = ONLINE_PARTITION
    end_election(controller, p)


def begin_online(controller):
    """Replicas of a new partition are Online without having been New."""
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        if is_present(partition) and partition.state == NON_EXISTENT_PARTITION:
            partition.state = NEW_PARTITION
            for r in range(len(partition.replicas)):
                if contains(members(partition), r):
                    partition.replicas[r] = ONLINE_REPLICA
            controller.todo = with_member(controller.todo, p)


def skip_offline(partition):
    """A partition of a deleted topic is to be NonExistent without having been Offline, which is refused."""
    move_partition(partition, NON_EXISTENT_PARTITION)


def begin_led(controller):
    """New partitions are Online without having been New."""
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        if is_present(partition) and partition.state == NON_EXISTENT_PARTITION:
            partition.state = ONLINE_PARTITION
            controller.todo = with_member(controller.todo, p)


def topic_unchecked(zk, b, epoch):
    """The topic znode deleted without the check of the epoch."""
    return delete_topic(zk, b, epoch)


def config_unchecked(zk, b, epoch):
    """The configuration deleted without the check of the epoch."""
    return delete_config(zk, b, epoch)


MUTANTS = (
    mutant("complete-early", "removed_when_deleted", {progress.all_deleted: any_deleted}, PAIR),
    mutant("delete-topic-unchecked", "removed_when_deleted", {fencing.checked_delete_topic: topic_unchecked}, AGAIN),
    mutant("marker-first", "marker_last", {progress.begin_completion: marker_first}),
    mutant("config-left", "marker_last", {deletion.delete_topic_node: delete_tree_only}),
    mutant("config-first", "configured", {progress.begin_completion: config_first}),
    mutant("delete-config-unchecked", "configured", {fencing.checked_delete_config: config_unchecked}, AGAIN),
    mutant_within(
        "reassigned-eligible",
        "not_deleted_while_reassigned",
        "topic_deletion",
        {context.is_reassigned: nothing_reassigned},
        TWICE,
    ),
    mutant_within(
        "reassigned-eligible-for-the-next",
        "not_deleted_while_reassigned",
        "load_context",
        {context.is_reassigned: nothing_reassigned},
        scope(epochs=2, faults=1),
    ),
    mutant("elect-queued", "queued_elects_nothing", {progress.trigger_online: trigger_any}, FAULT),
    mutant("reassign-queued", "queued_begins_nothing", {reassignment.is_valid: always_valid}, TWICE),
    mutant("obey-stale-stop", "own_logs_deleted", {replica.is_stale: never_stale}, AGAIN),
    mutant("target-first", "replicas_remembered", {reassignment.finish: target_first}),
    mutant("target-before-the-isr", "isr_assigned", {reassignment.finish: target_first}),
    mutant("adding-all", "assignment_well_formed", {reassignment.plan: plan_adding_all}),
    mutant(
        "duplicates",
        "assignment_well_formed",
        {reassignment.plan: plan_with_duplicates},
        scope(brokers=4, replicas=2, requests=1),
    ),
    mutant("old-first", "planned_as_asked", {reassignment.plan: plan_old_first}, MOVED),
    mutant("adding-to-union", "planned_as_asked", {reassignment.plan: plan_adding_to_union}, MOVED_TWICE),
    mutant("target-by-id", "target_order_kept", {reassignment.finish: finish_by_id}, MOVED),
    mutant_within("origin-forgotten", "origin_kept", "reassign", {reassignment.origin_of: origin_with_added}, SPARE),
    mutant_within("finish-early", "target_in_sync", "check", {reassignment.is_ready: complete_at_once}),
    mutant_within("finish-too-early", "force_elects", "check", {reassignment.is_ready: complete_at_once}),
    mutant("cancel-nothing", "cancelled_to_origin", {reassignment.plan_cancellation: cancel_nothing}, TWICE),
    mutant("dead-in-first-isr", "first_state", {machines.new_topic_isr: all_assigned}, PAIR_FAULT),
    mutant("keep-cache", "cache_of_this_topic", {context.forget_topic: keep_cache}),
    mutant("watch-not-armed", "partitions_known", {zookeeper.read_topic: read_unwatched}, EXPANDED),
    mutant("restore-any", "no_partition_undone", {creation.new_partitions: restore_any}, EXPANDED),
    mutant_within("answer-in-vain", "deletion_goes_on", "handle_answer", {progress.proceed: stay_idle}),
    mutant("stay-online", "state_tells", {progress.mark_offline_leaders: mark_nothing}, FAULT),
    mutant_within("online-anyway", "state_tells", "create_first_state", {progress.end_election: online_anyway}, FAULT),
    mutant("new-skipped", "moves_legal", {creation.begin_partitions: begin_online}, EXPANDED),
    mutant("partition-new-skipped", "moves_legal", {creation.begin_partitions: begin_led}, EXPANDED),
    mutant("offline-skipped", "marked_before_deletion", {progress.end_partition: skip_offline}),
)
TWO_PHASE_MUTANTS = (
    mutant("target-early", "replicas_remembered", {reassignment.plan: plan_target_alone}),
    mutant_within("finish-early", "target_in_sync", "check_target", {two_phase.is_in_sync: complete_at_once}),
    mutant("request-deleted-early", "request_remembered", {two_phase.set_union: set_union_and_forget}),
)
