"""Which brokers get the replicas of a topic's partitions: one text for topics with racks and without.

`start` and `shift` are the choices that Kafka makes at random; when partitions are added, both are the place of the
broker that is preferred for partition 0. `live` are the brokers to choose from. They stand in an order: one of each rack
in turn, racks by name, the brokers of a rack by id. Where nobody has a rack all count as being on one: Kafka has a text
of its own for that, which gives the same.

`zk` has an element of `clients` for each broker.

Source: kafka.admin.AdminUtils.assignReplicasToBrokers, 0.8 to 3.5; org.apache.kafka.admin.AdminUtils, 3.6 to 3.9 (with
        racks, KIP-36: 0.10.0 to 3.9).
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains

MOST = 64
"""Bounds sums of numbers of brokers or partitions: none here is more than this many times one of them."""
NO_RACK = 0


def rack_of(zk, r):
    """The rack that a broker has registered with: here none has."""
    return NO_RACK


def registered_rack(zk, r):
    """The rack that a broker has registered with, where some have racks: names as numbers, in their order."""
    return zk.clients[r].rack


def assign_among(zk, into, new, count, replicas, start, shift, live):
    """Give the new partitions of a topic, which has `count` already, their replicas, in the assignments of `into`.

    The preferred replicas go round the brokers. The followers of a partition go round the others, and start one broker
    farther after each round: a round is counted from the first partition of the topic, but only where new partitions
    begin one.

    Kafka: AdminUtils.assignReplicasToBrokers, 0.8 to 3.9.
    """
    size = size_of(zk, live)
    first = remainder(start + count, size)
    since = remainder(count, size)
    farther = shift
    begun = count > 0
    for p in range(len(into.assignments)):
        if contains(new, p):
            if begun and since == 0:
                farther = remainder(farther + 1, size - 1)
            assign_one(zk, into.assignments[p], replicas, first, farther, live, size)
            first = remainder(first + 1, size)
            since = remainder(since + 1, size)
            begun = True


def assign_one(zk, assignment, replicas, first, farther, live, size):
    """Replicas of one partition: the `first` broker, and those that follow it, `farther` times each rack of them skipped.

    Kafka: AdminUtils.assignReplicasToBrokersRackAware, AdminUtils.getRackAlternatedBrokerList, 0.10.0 to 3.9.
    """
    push(assignment, broker_at(zk, live, first))
    place = remainder(farther * racks_of(zk, live), size - 1)
    for _ in range(len(assignment.slots) - 1):
        for _ in range(len(zk.clients) - 1):
            if assignment.length < replicas:
                r = broker_at(zk, live, remainder(first + 1 + place, size))
                if is_wanted(zk, live, assignment, r):
                    push(assignment, r)
                place = place + 1 if place + 1 < size - 1 else 0


def is_wanted(zk, live, assignment, r):
    """Whether a broker becomes a replica: it is none yet, and nobody on its rack is, or some replica is on each rack."""
    used = 0
    alone = True
    for i in range(assignment.length):
        if assignment.slots[i] == r:
            return False
        fresh = True
        for j in range(i):
            if rack_of(zk, assignment.slots[j]) == rack_of(zk, assignment.slots[i]):
                fresh = False
        used = used + 1 if fresh else used
        alone = alone and rack_of(zk, assignment.slots[i]) != rack_of(zk, r)
    return alone or used == racks_of(zk, live)


def size_of(zk, live):
    """How many brokers there are."""
    size = 0
    for r in range(len(zk.clients)):
        if contains(live, r):
            size += 1
    return size


def racks_of(zk, live):
    """How many racks the brokers are on."""
    racks = 0
    for r in range(len(zk.clients)):
        if contains(live, r) and turn_of(zk, live, r) == 0:
            racks += 1
    return racks


def turn_of(zk, live, r):
    """How many brokers of a broker's rack have lower ids."""
    turn = 0
    for q in range(r):
        if contains(live, q) and rack_of(zk, q) == rack_of(zk, r):
            turn += 1
    return turn


def place_of(zk, live, r):
    """The place of a broker in the order."""
    turn = turn_of(zk, live, r)
    place = 0
    for q in range(len(zk.clients)):
        if contains(live, q):
            other = turn_of(zk, live, q)
            if other < turn or (other == turn and rack_of(zk, q) < rack_of(zk, r)):
                place += 1
    return place


def broker_at(zk, live, place):
    """The broker at a place in the order."""
    found = NOBODY
    for r in range(len(zk.clients)):
        if contains(live, r) and place_of(zk, live, r) == place:
            found = r
    return found


def place_by_id(zk, live, r):
    """Where partitions that are added begin, whose topic prefers broker `r` for its first partition: the place by id of the
    lowest broker from `r` on, 0 without one.

    Kafka: AdminUtils.addPartitions, 0.9 to 1.0; AdminZkClient.addPartitions, 1.1 to 3.9.
    """
    lower = 0
    there = False
    for q in range(len(zk.clients)):
        if contains(live, q):
            lower = lower + 1 if q < r else lower
            there = there or q >= r
    return lower if there else 0


def remainder(x, n):
    """What is left of `x` divided by `n`, both not negative; `x` itself where `n` is 0."""
    for _ in range(MOST):
        if x >= n:
            x -= n
    return x
