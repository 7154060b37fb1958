"""Mutants of the placement of replicas: one deliberate mistake each, on the variant `repaired`."""

from kafkaproof.spec.kafka import placement
from kafkaproof.spec.kafka.placement import assign_among, assign_one, broker_at, remainder, size_of
from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, everybody
from kafkaproof.spec.placement import topic
from kafkaproof.spec.placement.model import scope
from kafkaproof.spec.placement.topic import Count, partitions_of


def assign_first_again(zk, assignment, replicas, first, farther, live, size):
    """All replicas of a partition are on one broker."""
    for i in range(len(assignment.slots)):
        if i < replicas:
            push(assignment, broker_at(zk, live, first))


def want_any_other(zk, live, assignment, r):
    """A follower goes to the next broker, on whatever rack."""
    for i in range(assignment.length):
        if assignment.slots[i] == r:
            return False
    return True


def broker_by_id(zk, live, place):
    """Brokers are counted whether they are registered or not."""
    return place


def assign_all_to_first(zk, into, new, count, replicas, start, shift, live):
    """The preferred replicas of all partitions are on one broker."""
    size = size_of(zk, live)
    for p in range(len(into.assignments)):
        if contains(new, p):
            assign_one(zk, into.assignments[p], replicas, remainder(start, size), shift, live, size)


def assign_followers_from_first(zk, assignment, replicas, first, farther, live, size):
    """The followers of each partition are the first brokers of all."""
    push(assignment, broker_at(zk, live, first))
    for place in range(len(zk.clients)):
        if place < size and assignment.length < replicas:
            r = broker_at(zk, live, place)
            if want_any_other(zk, live, assignment, r):
                push(assignment, r)


def take_as_known(s):
    """A topic is created although some brokers have a rack and others have none."""
    return True


def assign_anew(s, count: Count):
    """All partitions are assigned anew when some are added."""
    there = partitions_of(s)
    replicas = s.assignments[0].length
    if there == 0 or there + count > len(s.assignments) or replicas > size_of(s, s.live):
        return False

    for assignment in s.assignments:
        assignment.length = 0
        for i in range(len(assignment.slots)):
            assignment.slots[i] = 0
    assign_among(s, s, everybody(there + count), 0, replicas, 0, 0, s.live)
    return True


def begin_by_id(s, live, r):
    """Partitions that are added go on from the place of the preferred broker by id, as in Kafka."""
    lower = 0
    for q in range(len(s.clients)):
        if contains(live, q) and q < r:
            lower += 1
    return lower if lower < size_of(s, live) else 0


def mutant(name, kills, replacements, at):
    """A mutant told by the docstring of what replaces something."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


AT = scope()
MUTANTS = {
    "repaired": (
        mutant("replicas-on-one-broker", "replicas_are_distinct", {placement.assign_one: assign_first_again}, AT),
        mutant("racks-not-looked-at", "racks_are_spread", {placement.is_wanted: want_any_other}, AT),
        mutant("all-brokers-counted", "replicas_are_registered", {placement.broker_at: broker_by_id}, AT),
        mutant("all-on-first", "leaders_are_even", {placement.assign_among: assign_all_to_first}, AT),
        mutant("followers-from-first", "replicas_are_even", {placement.assign_one: assign_followers_from_first}, AT),
        mutant("some-without-rack", "none_if_some_have_no_rack", {topic.racks_are_known: take_as_known}, AT),
        mutant("assigned-anew", "assignments_stay", {topic.add_partitions: assign_anew}, AT),
        mutant("place-by-id", "leaders_stay_even", {topic.place_among_racks: begin_by_id}, AT),
    )
}
