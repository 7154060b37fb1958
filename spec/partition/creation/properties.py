"""Properties of a partitions' controller that creates topics (T1, C12)."""

from kafkaproof.spec.kafka.assignment import is_distinct
from kafkaproof.spec.kafka.placement import broker_at, remainder, size_of
from kafkaproof.spec.kafka.state_machines import NEW_PARTITION, NEW_REPLICA, NON_EXISTENT_PARTITION, ONLINE_PARTITION
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.model import Property, always, always_step, sometimes
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty
from kafkaproof.spec.partition.context import ELECTING, OFFLINE, STUCK, is_queued
from kafkaproof.spec.partition.creation.creation import known_partitions
from kafkaproof.spec.partition.properties.controllers import rules, same_sequence
from kafkaproof.spec.partition.properties.sessions import has_session, loses_answer, rests, term_goes_on
from kafkaproof.spec.partition.zookeeper import partitions_of_topics


def rules_and_has_heard(s, b):
    """Whether `b` is the current controller, waits for events, and has handled every event, new topics included."""
    return rules(s, b) and is_empty(difference(partitions_of_topics(s.zk), known_partitions(s.brokers[b].controller)))


def replicas_are_distinct(s):
    """The replicas of a partition are different brokers (T6)."""
    for assignment in s.zk.assignments:
        if not is_distinct(assignment):
            return False
    return True


def is_gone(s, p):
    """Whether the topic that had a partition is gone: here none goes."""
    return False


def is_changed(before, after, p):
    """Whether the assignment of a partition has changed."""
    return not same_sequence(before.zk.assignments[p], after.zk.assignments[p])


def assignments_stay(before, after):
    """The assignment of a topic's partition does not change as long as the topic exists."""
    for p in range(len(before.zk.assignments)):
        there = before.zk.assignments[p].length > 0 and not is_gone(after, p)
        if there and is_changed(before, after, p):
            return False
    return True


def no_state_without_topic(s):
    """A partition that belongs to no topic has no state, and no leader."""
    for p in range(len(s.zk.partitions)):
        if s.zk.assignments[p].length == 0 and s.zk.partitions[p].leader_epoch >= 0:
            return False
    return True


def is_new_led_if_possible(s):
    """The current controller, once it has handled every event, leaves no partition New that has a live replica, unless
    the topic is queued for deletion, or an answer was lost (a retry gets NODEEXISTS, and leaves it New).
    """
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        if rules_and_has_heard(s, b) and not s.zk.ghosts.lost:
            for p in range(len(controller.partitions)):
                partition = controller.partitions[p]
                new = partition.state == NEW_PARTITION and not is_queued(controller, p)
                if new and lives(controller, partition):
                    return False
    return True


def lives(controller, partition):
    """Whether some replica's broker is registered, and not shutting down, and its log directory works."""
    for i in range(partition.assignment.length):
        r = partition.assignment.slots[i]
        works = not contains(partition.failed, r)
        if works and contains(controller.live, r) and not contains(controller.leaving, r):
            return True
    return False


def created_is_led(s):
    """The last partition, which belonged to no topic at first, has a leader."""
    last = len(s.zk.partitions) - 1
    for broker in s.brokers:
        if broker.controller.epoch > 0 and broker.controller.partitions[last].state == ONLINE_PARTITION:
            return True
    return False


def created_is_taken_over(s):
    """A controller of a later epoch knows a topic that has no state yet."""
    last = len(s.zk.partitions) - 1
    for broker in s.brokers:
        partition = broker.controller.partitions[last]
        known = broker.controller.epoch > 1 and partition.assignment.length > 0
        if known and s.zk.partitions[last].leader_epoch < 0:
            return True
    return False


def created_as_asked(before, after, b, new, replicas, start, shift, delivery):
    """A controller at work gives exactly the partitions that are asked for as many replicas as are asked for, on brokers
    that it knows to be live, the first of them to the broker that is asked for, or none of them any; it learns nothing of
    them yet.
    """
    old = before.brokers[b].controller
    if not rests(before, b) or is_empty(new) or not is_empty(intersection(new, known_partitions(old))):
        return False
    appeared = difference(partitions_of_topics(after.zk), partitions_of_topics(before.zk))
    preferred = broker_at(before.zk, old.live, remainder(start, size_of(before.zk, old.live)))
    begun = False
    for p in range(len(after.zk.assignments)):
        assignment = after.zk.assignments[p]
        alike = assignment.length == replicas and is_empty(difference(replicas_of(assignment), old.live))
        if contains(appeared, p):
            if not alike or not begun and assignment.slots[0] != preferred:
                return False
            begun = True
    over = after.brokers[b].controller.epoch == 0
    unlearnt = over or known_partitions(after.brokers[b].controller) == known_partitions(old)
    return unlearnt and (is_empty(appeared) or appeared == new)


def refused_when_fenced(before, after, b, new, replicas, start, shift, delivery):
    """A controller that is asked for a topic when another has been elected creates none, and its term is over."""
    fenced = has_session(before, b) and before.brokers[b].controller.epoch != before.zk.epoch
    appeared = difference(partitions_of_topics(after.zk), partitions_of_topics(before.zk))
    return not fenced or is_empty(appeared) and after.brokers[b].controller.epoch == 0


def created_taken_up(before, after, b):
    """A controller that hears of new topics reads their assignments: the partitions and their replicas are New, unless a
    state machine is dead, and all are to be elected whose topic is not queued for deletion; others stay as they are.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    fresh = difference(partitions_of_topics(before.zk), known_partitions(old))
    if not rests(before, b) or is_empty(fresh):
        return False
    if not has_session(before, b):
        return term_goes_on(before, after, b)
    for p in range(len(new.partitions)):
        partition = new.partitions[p]
        state = NEW_PARTITION if new.partition_batch != STUCK else NON_EXISTENT_PARTITION
        if partition.state != (state if contains(fresh, p) else old.partitions[p].state):
            return False
        if not same_sequence(partition.assignment, before.zk.assignments[p]) and contains(fresh, p):
            return False
        for r in range(len(partition.replicas)):
            begins = contains(fresh, p) and contains(replicas_of(before.zk.assignments[p]), r)
            begins = begins and new.replica_batch != STUCK
            if partition.replicas[r] != (NEW_REPLICA if begins else old.partitions[p].replicas[r]):
                return False
    elected = difference(fresh, old.deleting)
    elects = not is_empty(elected) and new.partition_batch != STUCK
    return new.doing == ELECTING and new.todo == elected and new.strategy == OFFLINE if elects else rests(after, b)


def configured_beforehand(before, after, b, delivery):
    """A controller writes the configuration of a topic when it is at work, and nothing else changes, but that an answer
    that is lost is a fault.
    """
    unchanged = partitions_of_topics(before.zk) == partitions_of_topics(after.zk)
    lost = after.zk.faults - before.zk.faults
    return (
        rests(before, b) and rests(after, b) and unchanged and lost == (1 if loses_answer(before, b, delivery) else 0)
    )


EVENTS = (
    always_step(created_as_asked, of=("create_topic",)),
    always_step(refused_when_fenced, of=("create_topic",)),
    always_step(created_taken_up, of=("topic_change",)),
    always_step(configured_beforehand, of=("configure_topic",)),
)
CREATION = (
    always(replicas_are_distinct),
    always(no_state_without_topic),
    always(is_new_led_if_possible),
    always_step(assignments_stay),
    sometimes(created_is_led),
    sometimes(created_is_taken_over, epochs=2),
)


WITHOUT_CREATION = ("machines_started",)
"""Properties of partitions that exist from the beginning."""


def properties(found: tuple[Property, ...]) -> tuple[Property, ...]:
    """The properties of a model with creations: those without, adapted, and those of creations."""
    kept = (p for p in found if p.name not in WITHOUT_CREATION)
    return tuple(p.rebound({rules: rules_and_has_heard}) for p in kept) + CREATION + EVENTS
