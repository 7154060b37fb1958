"""Lemmas of topics (KIP-455): what a controller's event has still to do, and what a controller by right knows.

In short: a term has an epoch of its own, and only the present one writes; so the topic that a controller by right
knows is the one that exists, its marker stands while it deletes, and what it remembers of leadership is the state.
"""

from kafkaproof.spec.kafka.assignment import origin, target
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, union, with_member
from kafkaproof.spec.topics.context import Broker, Partition
from kafkaproof.spec.topics.properties.events_in_progress import EVENTS
from kafkaproof.spec.topics.properties.invariants import (
    assignment_is_known,
    cache_is_state,
    config_goes_before_marker,
    dead_rules_not,
    left_over_is_deleted,
    no_topic_is_nothing,
    owner_rules,
    queued_is_marked,
    state_was_written,
    topic_is_known,
    unknown_partition_has_no_state,
    wanted_when_written,
    watches_in_term,
)
from kafkaproof.spec.topics.znodes import REASSIGNMENT


def term_was_elected(s, b: Broker):
    """The epoch of a term was written."""
    return s.brokers[b].controller.epoch <= s.zk.epoch


def terms_differ(s, a: Broker, b: Broker):
    """No two controllers have the same epoch."""
    mine = s.brokers[a].controller.epoch
    return a == b or mine == 0 or mine != s.brokers[b].controller.epoch


def is_well_formed(replicas, adding, removing):
    """Whether replicas are distinct, those added and removed among them, and those that are removed come last; there is
    a target and an origin.
    """
    members = 0
    removed = False
    for i in range(replicas.length):
        replica = replicas.slots[i]
        if contains(members, replica) or removed and not contains(removing, replica):
            return False
        removed = removed or contains(removing, replica)
        members = with_member(members, replica)
    both = intersection(adding, removing)
    if not is_empty(difference(union(adding, removing), members)) or not is_empty(both):
        return False
    return is_empty(members) or not is_empty(target(replicas, removing)) and not is_empty(origin(replicas, adding))


def is_known_well_formed(assigned):
    """The same of an assignment that a controller knows."""
    return is_well_formed(assigned.assignment, assigned.adding, assigned.removing)


def written_is_well_formed(s, p: Partition):
    """So are the assignments in the topic znode."""
    return is_well_formed(s.zk.assignments[p], s.zk.adding[p], s.zk.removing[p])


def known_is_well_formed(s, b: Broker, p: Partition):
    """So are those in a context."""
    return is_known_well_formed(s.brokers[b].controller.partitions[p])


def wanted_is_well_formed(s, b: Broker):
    """So is the one that a reassignment writes."""
    return is_known_well_formed(s.brokers[b].controller.wanted)


def asked_is_well_formed(s):
    """The replicas that an administrator asks for are distinct, and some are asked for in a reassignment."""
    asked = s.network.asked.target
    members = 0
    for i in range(asked.length):
        if contains(members, asked.slots[i]):
            return False
        members = with_member(members, asked.slots[i])
    return (asked.length > 0) == (s.network.asked.wanted == REASSIGNMENT)


def size_of(sequence, brokers):
    """How many elements of a sequence are in a set."""
    size = 0
    for i in range(sequence.length):
        size += contains(brokers, sequence.slots[i])
    return size


def is_as_large(zk, replicas, adding, removing):
    """Whether target and origin of an assignment are as large as a topic is created."""
    wanted = len(zk.request.target.slots) - 1
    if replicas.length == 0:
        return True
    return size_of(replicas, target(replicas, removing)) == wanted == size_of(replicas, origin(replicas, adding))


def is_known_as_large(zk, assigned):
    """The same of an assignment that a controller knows."""
    return is_as_large(zk, assigned.assignment, assigned.adding, assigned.removing)


def written_is_as_large(s, p: Partition):
    """The assignments in the topic znode are as large as the topic was created."""
    return is_as_large(s.zk, s.zk.assignments[p], s.zk.adding[p], s.zk.removing[p])


def known_is_as_large(s, b: Broker, p: Partition):
    """So are those in a context."""
    return is_known_as_large(s.zk, s.brokers[b].controller.partitions[p])


def wanted_is_as_large(s, b: Broker):
    """So is the one that a reassignment writes."""
    return is_known_as_large(s.zk, s.brokers[b].controller.wanted)


def asked_is_as_large(s):
    """So is the target that an administrator asks for."""
    return s.network.asked.wanted != REASSIGNMENT or s.network.asked.target.length == len(s.zk.request.target.slots) - 1


KIP455 = (
    *EVENTS,
    term_was_elected,
    terms_differ,
    owner_rules,
    dead_rules_not,
    watches_in_term,
    queued_is_marked,
    topic_is_known,
    config_goes_before_marker,
    no_topic_is_nothing,
    left_over_is_deleted,
    written_is_well_formed,
    known_is_well_formed,
    wanted_is_well_formed,
    asked_is_well_formed,
    written_is_as_large,
    known_is_as_large,
    wanted_is_as_large,
    asked_is_as_large,
    assignment_is_known,
    wanted_when_written,
    cache_is_state,
    unknown_partition_has_no_state,
    state_was_written,
)
