"""Who reads which partition: the old consumer's assignment strategies as pure functions.

Every member computes the whole assignment from what it has read: the threads of all members, ordered by name, and the
partitions in ascending order. A strategy maps the index of a partition to the index of a thread, or to NOBODY without
threads.

The name of thread i of a consumer is "<consumer id>-<i>". Names compare as text, so thread 10 comes before thread 2.
Consumers are numbered in the order of their ids, `<group>_<host>-<ms>-<8 hex digits>` or `<group>_<consumer.id>`, which
is the order of start-up only on a single host. (An id that begins with another id and "-" would sort among the other's
threads; no generated id does.)

Source: kafka.consumer.RangeAssignor.assign, kafka.consumer.RoundRobinAssignor.assign, 0.8.2 to 1.1;
        ZKRebalancerListener.rebalance, 0.8.0 to 0.8.1 (ranges only).
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains

MOST_MEMBERS = 8
TEN = 10


def quotient(n, divisor):
    """n divided by a positive divisor, rounded down."""
    found = 0
    for i in range(n):
        if (i + 1) * divisor <= n:
            found = i + 1
    return found


def remainder(n, divisor):
    """The remainder of n."""
    return n - divisor * quotient(n, divisor)


def size(members):
    """The number of consumers in a set."""
    count = 0
    for c in range(MOST_MEMBERS):
        if contains(members, c):
            count += 1
    return count


def range_first(i, partitions, threads):
    """The first partition of thread i. Each of the first threads has one partition more, until the remainder is used
    up.

    Kafka: ZKRebalancerListener.rebalance, 0.8.0 to 0.8.1; kafka.consumer.RangeAssignor.assign, 0.8.2 to 1.1.
    """
    return quotient(partitions, threads) * i + min(i, remainder(partitions, threads))


def range_owner(p, partitions, threads):
    """The thread that reads partition p: each reads consecutive partitions, the first threads one more.

    Kafka: ZKRebalancerListener.rebalance, 0.8.0 to 0.8.1; kafka.consumer.RangeAssignor.assign, 0.8.2 to 1.1.
    """
    for i in range(threads):
        if range_first(i, partitions, threads) <= p < range_first(i + 1, partitions, threads):
            return i
    return NOBODY


def range_ceil_owner(p, partitions, threads):
    """The textbook formula: each thread gets the quotient rounded up, and the last ones what is left.

    This is not Kafka's: 4 partitions and 3 threads give 2, 2, 0 here, but 2, 1, 1 in Kafka.
    """
    if threads == 0:
        return NOBODY
    share = quotient(partitions + threads - 1, threads)
    return quotient(p, share)


def deal(last, subscribed, threads):
    """The next thread after `last` in the circle (-1 at the beginning) that has subscribed to the topic.

    Kafka: kafka.consumer.RoundRobinAssignor.assign, 0.10.2 to 1.1 (from 0.8.2 to 0.10.1 the attempt fails unless all
           members subscribe to the same topics, each with as many threads for one topic as for another).
    unless all members subscribe to the same topics, each with as many threads for one topic as for another.
    """
    for step in range(threads):
        i = remainder(last + 1 + step, threads)
        if contains(subscribed, i):
            return i
    return NOBODY


def round_robin_owner(p, partitions, threads):
    """The thread that reads the partition dealt as number p, if all have subscribed to the one topic.

    Partitions are dealt in the order of their hash codes, which is ascending for a topic's first ten partitions.
    """
    return NOBODY if threads == 0 else remainder(p, threads)


def stands_before(i, j):
    """Whether the name of thread i sorts before that of thread j of the same consumer; both are below 100."""
    if i < TEN <= j:
        return i <= quotient(j, TEN)
    if j < TEN <= i:
        return quotient(i, TEN) < j
    return i < j


def place_of(i, threads):
    """The index of thread i among the sorted threads of its consumer."""
    place = 0
    for j in range(threads):
        if stands_before(j, i):
            place += 1
    return place


def thread_at(place, threads):
    """The thread at an index among the sorted threads of its consumer."""
    for i in range(threads):
        if place_of(i, threads) == place:
            return i
    return NOBODY


def member_at(place, members):
    """The consumer at an index in a set of consumers."""
    before = 0
    for c in range(MOST_MEMBERS):
        if contains(members, c):
            if before == place:
                return c
            before += 1
    return NOBODY


def place_of_owner(p, partitions, threads):
    """The strategy in use."""
    return range_owner(p, partitions, threads)


def owner(p, partitions, members, threads):
    """The consumer that reads partition p, NOBODY without members; each member has `threads` threads."""
    place = place_of_owner(p, partitions, size(members) * threads)
    return NOBODY if place == NOBODY else member_at(quotient(place, threads), members)


def owner_thread(p, partitions, members, threads):
    """The thread of that consumer which reads partition p."""
    place = place_of_owner(p, partitions, size(members) * threads)
    return NOBODY if place == NOBODY else thread_at(remainder(place, threads), threads)
