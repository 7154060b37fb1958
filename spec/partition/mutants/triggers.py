"""Mutants of partitions: rebalance, elections that are asked for, reassignment, log directories, queued deletion."""

from kafkaproof.spec.kafka import strategies
from kafkaproof.spec.kafka.state_machines import NEW_PARTITION, OFFLINE_PARTITION
from kafkaproof.spec.kafka.strategies import first_in, prefers, replicas_of
from kafkaproof.spec.kafka.zookeeper import FENCED
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, with_member
from kafkaproof.spec.partition import brokers, context, elections, progress, rebalance, replica, triggers, zookeeper
from kafkaproof.spec.partition.context import FORCED, OFFLINE, Broker, alive, has_leader, is_known, is_queued
from kafkaproof.spec.partition.mutants.partition_mutant import MORE, PAIR, THREE, TWO, mutant, mutant_within
from kafkaproof.spec.partition.progress import at_work, proceed
from kafkaproof.spec.partition.triggers import needs_any
from kafkaproof.spec.partition.znodes import LOG_DIR_EVENTS, PREFERRED_REQUEST, REASSIGN_REQUEST
from kafkaproof.spec.partition.zookeeper import delete_request, election_wanted, session_open


def at_the_limit(preferring, led_by_others, percentage):
    """The automatic rebalance acts where the share reaches the limit."""
    return led_by_others > 0 and led_by_others * 100 >= percentage * preferring


def all_partitions(controller, preferred):
    """The automatic rebalance takes the share of all partitions."""
    return len(controller.partitions)


def outside_the_isr(assignment, isr, online, leader):
    """The automatic rebalance has partitions elected whose preferred replica is not in the ISR."""
    return contains(online, assignment.slots[0]) and not prefers(assignment, leader)


def forced_by_znode(s, b: Broker):
    """An election that is asked for in ZooKeeper may be unclean."""
    controller = s.brokers[b].controller
    if not at_work(controller) or not election_wanted(s.zk):
        return False

    controller.strategy = FORCED
    for p in range(len(controller.partitions)):
        if needs_any(controller, p):
            controller.todo = with_member(controller.todo, p)
    proceed(controller)
    return True


def whoever_leads(controller, p):
    """An unclean election that is asked for is held whoever leads."""
    return is_known(controller.partitions[p]) and not is_queued(controller, p)


def before_a_deletion(controller, p):
    """An administrator's election is held for a topic that is queued for deletion."""
    partition = controller.partitions[p]
    return is_known(partition) and (partition.leader == NOBODY or not contains(alive(controller), partition.leader))


def preferred_before_a_deletion(controller, p):
    """A preferred election is held for a topic that is queued for deletion."""
    partition = controller.partitions[p]
    return is_known(partition) and not prefers(partition.assignment, partition.leader)


def moved_before_a_deletion(controller, p, leaver):
    """A controlled shutdown moves leaders of a topic that is queued for deletion."""
    partition = controller.partitions[p]
    return is_known(partition) and contains(replicas_of(partition.assignment), leaver)


def reassigned_before_a_deletion(controller, p):
    """A reassignment goes on for a topic that is queued for deletion."""
    partition = controller.partitions[p]
    return is_known(partition)


def first_of_the_target(target, isr, online):
    """A reassignment elects the first replica of the target that is in the ISR, online or not."""
    return first_in(target, isr)


def unchecked_preferred(zk, b, request, epoch, delivery):
    """The request for preferred leaders is deleted without the check of the epoch."""
    if request != PREFERRED_REQUEST and session_open(zk, b) and zk.epoch != epoch:
        return FENCED
    return delete_request(zk, b, request, epoch, delivery)


def unchecked_reassignment(zk, b, request, epoch, delivery):
    """The request for a reassignment is deleted without the check of the epoch."""
    if request != REASSIGN_REQUEST and session_open(zk, b) and zk.epoch != epoch:
        return FENCED
    return delete_request(zk, b, request, epoch, delivery)


def unchecked_notifications(zk, b, request, epoch, delivery):
    """Notifications of failed log directories are deleted without the check of the epoch."""
    if request != LOG_DIR_EVENTS and session_open(zk, b) and zk.epoch != epoch:
        return FENCED
    return delete_request(zk, b, request, epoch, delivery)


def alive_is_online(controller, partition):
    """A replica whose log directory has failed counts as online while its broker is alive."""
    return alive(controller)


def elect_nobody(controller):
    """A storage error takes the replica out of the ISR, and elects nobody first."""
    controller.strategy = OFFLINE
    controller.todo = 0


def remember_failures(broker, members):
    """A log directory that has failed is taken for failed when its broker has started again."""
    return 0


def never_lost(replica):
    """A broker obeys requests for a replica whose log directory has failed."""
    return False


def wanted_before_a_deletion(controller, p):
    """New and Offline partitions are elected even for a topic that is queued for deletion."""
    partition = controller.partitions[p]
    return partition.state == NEW_PARTITION or partition.state == OFFLINE_PARTITION


def mark_before_a_deletion(controller):
    """Partitions of a topic that is queued for deletion count as having an offline leader."""
    for partition in controller.partitions:
        if is_known(partition) and not has_leader(controller, partition):
            partition.state = OFFLINE_PARTITION


def always_told(controller, p):
    """The removal of a replica is told even for a topic that is queued for deletion."""
    return True


def in_group_before_a_deletion(controller, p, preferred):
    """The automatic rebalance moves leaders of a topic that is queued for deletion."""
    partition = controller.partitions[p]
    return prefers(partition.assignment, preferred)


REASSIGNED_ANYWAY = {triggers.is_reassignable: reassigned_before_a_deletion}
PREFERRED_ANYWAY = {triggers.needs_preferred: preferred_before_a_deletion}
UNCHECKED_REASSIGNMENT = {zookeeper.checked_delete_request: unchecked_reassignment}
UNCHECKED_NOTIFICATIONS = {zookeeper.checked_delete_request: unchecked_notifications}
MARKED = {progress.mark_offline_leaders: mark_before_a_deletion}
AT_THE_LIMIT = {strategies.is_imbalanced: at_the_limit}
UNTRIGGERED = {progress.trigger_online: elect_nobody}
MUTANTS = (
    mutant("rebalance-at-the-limit", "rebalance_acts", AT_THE_LIMIT, PAIR),
    mutant("rebalance-of-all", "rebalance_acts", {rebalance.group_size: all_partitions}, THREE),
    mutant("rebalance-outside-isr", "rebalance_acts", {strategies.may_rebalance: outside_the_isr}),
    mutant("rebalance-before-deletion", "rebalance_acts", {rebalance.is_in_group: in_group_before_a_deletion}, TWO),
    mutant("forced-by-znode", "clean", {triggers.preferred_election: forced_by_znode}, TWO),
    mutant("forced-whoever-leads", "asked_for", {triggers.needs_any: whoever_leads}),
    mutant("asked-before-deletion", "asked_for", {triggers.needs_any: before_a_deletion}, MORE),
    mutant("preferred-before-deletion", "queued_left_alone", PREFERRED_ANYWAY, MORE),
    mutant("reassigned-before-deletion", "queued_left_alone", REASSIGNED_ANYWAY, TWO),
    mutant("moved-before-deletion", "queued_left_alone", {brokers.is_moved_away: moved_before_a_deletion}, TWO),
    mutant("target-not-online", "strategy", {strategies.reassign_leader: first_of_the_target}, TWO),
    mutant("request-unchecked", "no_stale_delete", {zookeeper.checked_delete_request: unchecked_preferred}, TWO),
    mutant("reassignment-unchecked", "no_stale_delete", UNCHECKED_REASSIGNMENT, TWO),
    mutant("notification-unchecked", "no_stale_delete", UNCHECKED_NOTIFICATIONS, TWO),
    mutant("failure-unheard", "led_if_possible", {context.online: alive_is_online}),
    mutant_within("failed-leader-kept-first", "leaderless_for_a_reason", "storage_error", UNTRIGGERED),
    mutant("failure-remembered", "failed_is_lost", {brokers.forget_failures: remember_failures}, TWO),
    mutant("lost-replica-obeys", "lost_leads_nothing", {replica.is_lost: never_lost}),
    mutant("elected-before-deletion", "queued_left_alone", {progress.wants_leader: wanted_before_a_deletion}),
    mutant("offline-before-deletion", "queued_has_no_offline_leader", MARKED, TWO),
    mutant("told-before-deletion", "removal_recipients", {elections.is_removal_told: always_told}, TWO),
)
