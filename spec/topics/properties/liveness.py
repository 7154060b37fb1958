"""Liveness of topics (L5, L6, L14): if every broker runs from some time on, deletions and reassignments complete."""

from kafkaproof.spec.kafka.state_machines import OFFLINE_REPLICA
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.fairness import at_last, finitely, strong, weak
from kafkaproof.spec.language.model import eventually, eventually_always
from kafkaproof.spec.language.sets import contains, intersection, is_empty, union
from kafkaproof.spec.topics.context import Partition, is_present
from kafkaproof.spec.topics.network import named
from kafkaproof.spec.topics.progress import replicas_in
from kafkaproof.spec.topics.znodes import NOTHING


def all_run(s):
    """Every broker has a process, and is registered."""
    for b in range(len(s.brokers)):
        if not s.brokers[b].up or not contains(s.zk.registered, b):
            return False
    return True


def is_everybody(s, p, isr):
    """Whether an ISR has all live replicas that the leader of `p` knows."""
    return isr == intersection(named(s.network, p), s.zk.registered)


def leaves_out(s, p, isr):
    """Whether an ISR leaves out a live replica that the leader of `p` knows."""
    return not is_everybody(s, p, isr)


def no_log_fails(s):
    """No controller has given up the deletion of a log on a live broker: the replica is Online, or being deleted."""
    for broker in s.brokers:
        controller = broker.controller
        for partition in controller.partitions:
            given_up = intersection(replicas_in(partition, OFFLINE_REPLICA), controller.live)
            if controller.ineligible and not is_empty(given_up):
                return False
    return True


def is_queued(s):
    """The topic is queued for deletion."""
    return s.zk.marker == 1


def is_deleted_despite_failures(s):
    """A topic that is queued for deletion is deleted, and its marker with it (L5)."""
    return s.zk.marker == 0


def is_deleted(s):
    """The same, unless a log cannot be deleted (L5)."""
    return s.zk.marker == 0


def no_stray_log(s):
    """Eventually no broker has a log of a topic that is gone (L5)."""
    for broker in s.brokers:
        for log in broker.logs:
            if log > 0 and log != s.zk.topic:
                return False
    return True


def is_moving(s, p: Partition):
    """The topic znode says that replicas of a partition are added or removed."""
    return not is_empty(union(s.zk.adding[p], s.zk.removing[p]))


def has_moved(s, p: Partition):
    """A reassignment completes: nothing is added or removed any more (L6)."""
    return not is_moving(s, p)


def is_listed(s):
    """There is /admin/reassign_partitions."""
    return s.zk.request.wanted != NOTHING


def listed_is_known(s):
    """The controller knows the listed partition; Kafka drops an unknown one from the list."""
    b = s.zk.controller
    return b != NOBODY and is_present(s.brokers[b].controller.partitions[s.zk.request.partition])


def is_dealt_with(s):
    """/admin/reassign_partitions is deleted, the reassignment done or refused (L6, L14)."""
    return not is_listed(s)


EVENTS_IN_TURN = tuple(
    strong(name, each=("b",))
    for name in (
        "resign",
        "reopen",
        "broker_change",
        "topic_change",
        "new_partitions",
        "ignore_partitions",
        "topic_deletion",
        "reassign",
        "find_request",
        "caught_up",
        "handle_answer",
    )
)
CONTROLLERS_WORK = EVENTS_IN_TURN + (
    weak("elect"),
    weak(
        "load_context",
        "arm_watch",
        "create_first_state",
        "elect_leader",
        "remove_replica",
        "stop_replicas",
        "broker_startup",
        "broker_failure",
        "restore_partitions",
        "delete_states",
        "delete_topic_node",
        "delete_topic_config",
        "delete_topic_marker",
        "write_assignment",
        "write_union",
        "check",
        "check_target",
        "tell_replicas",
        "move_leader",
        "write_target",
        "delete_listed",
        each=("b",),
    ),
    strong("leader_and_isr", "stop_replica", each=("b", "epoch", "p")),
)
FOLLOWERS_CATCH_UP = (
    strong("alter_partition", "change_isr", each=("p",), when=is_everybody),
    finitely("alter_partition", "change_isr", when=leaves_out),
)
ASSUMED = CONTROLLERS_WORK + FOLLOWERS_CATCH_UP + (at_last(all_run),)
DELETION = (
    eventually(is_deleted_despite_failures, after=is_queued, given=ASSUMED, requests=1),
    eventually(is_deleted, after=is_queued, given=ASSUMED + (at_last(no_log_fails),), requests=1),
)
KIP455 = DELETION + (
    eventually_always(no_stray_log, given=ASSUMED, requests=2, leader_epochs=4),
    eventually(has_moved, after=is_moving, given=ASSUMED, requests=1, brokers="replicas"),
)
TWO_PHASE = DELETION + (
    eventually_always(no_stray_log, given=ASSUMED, requests=1),
    eventually(
        is_dealt_with, after=is_listed, given=ASSUMED + (at_last(listed_is_known),), requests=1, brokers="replicas"
    ),
)
