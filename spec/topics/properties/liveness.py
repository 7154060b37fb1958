"""Liveness of topics (L5, L6, L14): if every broker runs from some time on, deletions and reassignments complete."""

from kafkaproof.spec.kafka.state_machines import OFFLINE_REPLICA
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.fairness import at_last, finitely, strong, weak
from kafkaproof.spec.language.model import eventually, eventually_always
from kafkaproof.spec.language.sets import contains, intersection, is_empty, union
from kafkaproof.spec.partition.context import Partition
from kafkaproof.spec.partition.deletion.progress import replicas_in


def all_run(s):
    """Every broker has a process, and is registered."""
    for b in range(len(s.brokers)):
        if not s.brokers[b].up or not contains(s.zk.registered, b):
            return False
    return True


def named(s, p):
    """The replicas that the leader of a partition knows."""
    return replicas_of(s.zk.assignments[p])


def is_everybody(s, p, isr):
    """Whether an ISR has all live replicas that the leader of `p` knows."""
    return isr == intersection(named(s, p), s.zk.registered)


def leaves_out(s, p, isr):
    """Whether an ISR leaves out a live replica that the leader of `p` knows."""
    return not is_everybody(s, p, isr)


def no_log_fails(s):
    """No controller has given up the deletion of a log on a live broker: the replica is Online, or being deleted."""
    for broker in s.brokers:
        controller = broker.controller
        for p in range(len(controller.partitions)):
            given_up = intersection(replicas_in(controller.partitions[p], OFFLINE_REPLICA), controller.live)
            if contains(controller.ineligible, p) and not is_empty(given_up):
                return False
    return True


def no_directory_fails(s):
    """Every log directory works."""
    for broker in s.brokers:
        for replica in broker.replicas:
            if replica.failed:
                return False
    return True


def is_queued(s):
    """A topic is queued for deletion."""
    return not is_empty(s.zk.deleting)


def is_deleted_despite_failures(s):
    """A topic that is queued for deletion is deleted, and its marker with it (L5)."""
    return is_empty(s.zk.deleting)


def is_deleted(s):
    """The same, unless a log cannot be deleted (L5)."""
    return is_empty(s.zk.deleting)


def no_stray_log(s):
    """Eventually no broker has a log of a topic that is gone (L5)."""
    for broker in s.brokers:
        for p in range(len(broker.replicas)):
            log = broker.replicas[p].topic
            if log > 0 and (log != s.zk.ids[p] or s.zk.assignments[p].length == 0):
                return False
    return True


def is_moving(s, p: Partition):
    """The topic znode says that replicas of a partition are added or removed."""
    return not is_empty(union(s.zk.adding[p], s.zk.removing[p]))


def has_moved(s, p: Partition):
    """A reassignment completes: nothing is added or removed any more (L6)."""
    return not is_moving(s, p)


def is_listed(s, p: Partition):
    """/admin/reassign_partitions lists a partition."""
    return s.zk.targets[p].length > 0


def is_dealt_with(s, p: Partition):
    """A partition is taken off /admin/reassign_partitions, its reassignment done or refused (L6, L14)."""
    return not is_listed(s, p)


EVENTS_IN_TURN = tuple(
    strong(name, each=("b",))
    for name in (
        "resign",
        "reopen",
        "broker_change",
        "topic_change",
        "topic_gone",
        "new_partitions",
        "restore_partitions",
        "topic_deletion",
        "leftover_deletion",
        "alter_reassignment",
        "find_request",
        "caught_up",
        "isr_notification",
        "replica_stopped",
    )
)
CONTROLLERS_WORK = EVENTS_IN_TURN + (
    weak("elect"),
    weak(
        "load_context",
        "create_first_state",
        "elect_leader",
        "remove_replica",
        "resume_deletion",
        "stop_replicas",
        "stop_removed",
        "broker_startup",
        "broker_failure",
        "delete_state",
        "delete_topic",
        "delete_config",
        "delete_marker",
        "delete_leftovers",
        "write_assignment",
        "write_union",
        "check",
        "check_target",
        "raise_epoch",
        "write_target",
        "delete_listed",
        each=("b",),
    ),
    strong("leader_and_isr", "refuse_topic", "stop_replica", "late_stop_replica", each=("b", "epoch", "p")),
)
FOLLOWERS_CATCH_UP = (
    strong("alter_partition", "change_isr", each=("p",), when=is_everybody),
    finitely("alter_partition", "change_isr", when=leaves_out),
)
DESPITE_FAILURES = CONTROLLERS_WORK + FOLLOWERS_CATCH_UP + (at_last(all_run),)
ASSUMED = DESPITE_FAILURES + (at_last(no_directory_fails),)
DELETION = (
    eventually(is_deleted_despite_failures, after=is_queued, given=DESPITE_FAILURES, requests=1),
    eventually(is_deleted, after=is_queued, given=ASSUMED + (at_last(no_log_fails),), requests=1),
)
KIP455 = DELETION + (
    eventually_always(no_stray_log, given=ASSUMED, requests=2, leader_epochs=4),
    eventually(has_moved, after=is_moving, given=ASSUMED, requests=1, brokers="replicas"),
)
TWO_PHASE = DELETION + (
    eventually_always(no_stray_log, given=ASSUMED, requests=1, faults=1),
    eventually(is_dealt_with, after=is_listed, given=ASSUMED, requests=1, brokers="replicas"),
)
