"""Liveness of partitions (L3, L7, L8, L14): if controllers handle their events, every partition that can be led gets a
leader.
"""

from kafkaproof.spec.kafka.strategies import is_imbalanced
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.fairness import at_last, finitely, strong, weak
from kafkaproof.spec.language.model import eventually, eventually_always
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty
from kafkaproof.spec.partition.context import DELETING_EVENTS, Broker, Partition
from kafkaproof.spec.partition.network import leaves
from kafkaproof.spec.partition.rebalance import PERCENTAGE
from kafkaproof.spec.partition.zookeeper import assigned, is_moved, wanted_target


def is_fit(s, b, p):
    """Whether the replica of `p` on `b` can lead: it runs, is registered, does not shut down, its directory works."""
    broker = s.brokers[b]
    lives = broker.up and contains(s.zk.registered, b) and not leaves(s.network, b)
    return lives and not broker.replicas[p].failed and contains(assigned(s.zk, p), b)


def a_member_is_fit(s, p):
    """Some member of the ISR of `p` can lead, and the topic is not deleted."""
    for b in range(len(s.brokers)):
        if contains(s.zk.partitions[p].isr, b) and is_fit(s, b, p):
            return is_empty(s.zk.deleting)
    return False


def is_handled(s):
    """Whether some controller is about to delete notifications that it has read."""
    for broker in s.brokers:
        if broker.controller.doing == DELETING_EVENTS:
            return True
    return False


def has_lost(s):
    """A write of a state was applied and its answer lost, so its controller may have a wrong cache for its whole term.
    Or a deposed controller has read a notification that it could not delete: here a notification read by one controller
    does not reach another, whereas in Kafka each has a watch of its own.
    """
    return s.zk.ghosts.lost == 1 or not is_empty(s.zk.log_dir_read) and not is_handled(s)


def is_served_despite_loss(s, p: Partition):
    """If some member of the ISR can lead from some time on, eventually there is a live leader, which knows that it
    leads (L3).
    """
    state = s.zk.partitions[p]
    if state.leader == NOBODY:
        return False
    broker = s.brokers[state.leader]
    lives = broker.up and contains(s.zk.registered, state.leader)
    replica = broker.replicas[p]
    return lives and replica.leader == state.leader and replica.leader_epoch == state.leader_epoch


def is_served(s, p: Partition):
    """The same, unless an answer or a notification was lost (L3)."""
    return has_lost(s) or is_served_despite_loss(s, p)


def preferred(s, p):
    """The preferred replica of `p`."""
    return s.zk.assignments[p].slots[0]


def preferred_is_fit(s, p):
    """The preferred replica of `p` can lead, and is in the ISR; the topic stays."""
    first = preferred(s, p)
    return contains(s.zk.partitions[p].isr, first) and is_fit(s, first, p) and is_empty(s.zk.deleting)


def is_out_of_balance(s, b):
    """Whether too many of the partitions that prefer broker `b` are led by others."""
    size = 0
    led_by_others = 0
    for p in range(len(s.zk.partitions)):
        if preferred(s, p) == b:
            size += 1
            led_by_others += 0 if s.zk.partitions[p].leader == b else 1
    return is_imbalanced(size, led_by_others, PERCENTAGE)


def is_balanced(s, p: Partition):
    """A preferred replica that can lead from some time on eventually leads, or few enough partitions are led by others
    (L7), unless an answer or a notification was lost.
    """
    return has_lost(s) or s.zk.partitions[p].leader == preferred(s, p) or not is_out_of_balance(s, preferred(s, p))


def leads_nothing_else(s, b):
    """Wherever broker `b` leads, another member of the ISR can lead; the topic is not deleted."""
    for p in range(len(s.zk.partitions)):
        if s.zk.partitions[p].leader == b:
            other = False
            for r in range(len(s.brokers)):
                other = other or r != b and contains(s.zk.partitions[p].isr, r) and is_fit(s, r, p)
            if not other:
                return False
    return is_empty(s.zk.deleting)


def is_followed(s, b):
    """Wherever broker `b` leads, another replica can lead as soon as it is in the ISR; the topic is not deleted."""
    for p in range(len(s.zk.partitions)):
        if s.zk.partitions[p].leader == b:
            other = False
            for r in range(len(s.brokers)):
                other = other or r != b and is_fit(s, r, p)
            if not other:
                return False
    return is_empty(s.zk.deleting)


def has_everybody(s, p, isr):
    """Whether an ISR has every replica that is registered."""
    return isr == intersection(assigned(s.zk, p), s.zk.registered)


def completes(s, p, isr):
    """The ISR that is written has all registered replicas, and the previous one did not."""
    return has_everybody(s, p, isr) and isr != s.zk.partitions[p].isr


def completes_nothing(s, p, isr):
    """The ISR that is written leaves out a registered replica, or is the current one."""
    return not completes(s, p, isr)


def shuts_down(s, b: Broker):
    """A broker asks to be shut down."""
    return leaves(s.network, b)


def may_go(s, b: Broker):
    """A broker that asks to be shut down eventually leads nothing, where others can lead in its place (L8), unless an
    answer or a notification was lost.
    """
    for state in s.zk.partitions:
        if state.leader == b and leaves(s.network, b):
            return has_lost(s)
    return True


def may_go_when_followed(s, b: Broker):
    """A broker that asks to be shut down eventually leads nothing, where others join the ISR as soon as they may (L8),
    unless an answer or a notification was lost.
    """
    return may_go(s, b)


def somebody_lives(s):
    """Some broker has a process that does not shut down."""
    for b in range(len(s.brokers)):
        if s.brokers[b].up and not leaves(s.network, b):
            return True
    return False


def wants_preferred(s):
    """There is /admin/preferred_replica_election."""
    return s.zk.preferred == 1


def preferred_dealt_with(s):
    """A request for preferred leaders is deleted, whether it succeeded or not (L14)."""
    return s.zk.preferred == 0


def wants_target(s, p: Partition):
    """There is /admin/reassign_partitions for `p`."""
    return is_moved(s.zk, p)


def target_is_fit(s, p):
    """The target of the reassignment of `p` is in its ISR, and can lead; the topic stays."""
    for b in range(len(s.brokers)):
        if contains(wanted_target(s.zk, p), b) and not is_fit(s, b, p):
            return False
    return is_empty(difference(wanted_target(s.zk, p), s.zk.partitions[p].isr)) and is_empty(s.zk.deleting)


def reassignment_dealt_with(s, p: Partition):
    """A reassignment request whose target stays in the ISR is deleted (L14), except as above."""
    return has_lost(s) or not is_moved(s.zk, p)


EVENTS_IN_TURN = tuple(
    strong(name, each=("b",))
    for name in (
        "resign",
        "reopen",
        "broker_change",
        "controlled_shutdown",
        "unclean_enabled",
        "preferred_election",
        "reassignment",
        "topic_deletion",
        "admin_election",
        "log_dir_notification",
        "storage_error",
        "isr_notification",
    )
)
CONTROLLERS_WORK = EVENTS_IN_TURN + (
    weak("elect"),
    weak(
        "load_brokers",
        "load_state",
        "read_for_election",
        "write_leader",
        "create_first_state",
        "read_for_removal",
        "write_removal",
        "broker_startup",
        "broker_failure",
        "delete_request",
        "pending_election",
        "move_controller",
        each=("b",),
    ),
    weak("expire_orphan", each=("b",)),
    weak("notify", "receive_error", each=("b",)),
    strong("leader_and_isr", each=("b", "p")),
    finitely("release_lock"),
)
THE_ISR_SETTLES = (finitely("change_isr", "alter_partition"),)
FOLLOWERS_CATCH_UP = (
    strong("alter_partition", "change_isr", each=("p",), when=completes),
    finitely("alter_partition", "change_isr", when=completes_nothing),
)
ASSUMED = CONTROLLERS_WORK + THE_ISR_SETTLES
LIVENESS = (
    eventually_always(is_served_despite_loss, given=ASSUMED + (at_last(a_member_is_fit),)),
    eventually_always(is_served, given=ASSUMED + (at_last(a_member_is_fit),)),
    eventually(is_balanced, given=ASSUMED + (strong("rebalance", each=("b",)), at_last(preferred_is_fit))),
    eventually(may_go, after=shuts_down, given=ASSUMED + (at_last(leads_nothing_else),)),
    eventually(
        may_go_when_followed, after=shuts_down, given=CONTROLLERS_WORK + FOLLOWERS_CATCH_UP + (at_last(is_followed),)
    ),
    eventually(preferred_dealt_with, after=wants_preferred, given=ASSUMED + (at_last(somebody_lives),)),
    eventually(reassignment_dealt_with, after=wants_target, given=ASSUMED + (at_last(target_is_fit),)),
)
