"""Who reads which partition: the old consumer's assignment strategies as pure functions.

Every member computes the whole assignment from what it has read: the threads of all members, in the order
of their names, and the partitions in ascending order. A strategy maps the place of a partition to the place
of a thread, NOBODY without threads.

The name of thread i of a consumer is "<consumer id>-<i>"; names compare as text, so that thread 10 stands
before thread 2. Consumers are numbered in the order of their ids, `<group>_<host>-<ms>-<8 hex digits>` or
`<group>_<consumer.id>`: the order of start-up only on one host. (An id that begins with another id and "-"
would stand among that one's threads; no generated id does.)

Source: kafka.consumer.RangeAssignor and RoundRobinAssignor, 0.8.2 to 0.11; before that the range alone, in
ZookeeperConsumerConnector.
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
    """What is left of n."""
    return n - divisor * quotient(n, divisor)


def size(members):
    """How many consumers are in a set."""
    count = 0
    for c in range(MOST_MEMBERS):
        if contains(members, c):
            count += 1
    return count


def range_first(i, partitions, threads):
    """The first partition of thread i: those before it have one more each while there is a rest.

    Kafka: RangeAssignor.assign, startPart, 0.8 to 0.11.
    """
    return quotient(partitions, threads) * i + min(i, remainder(partitions, threads))


def range_owner(p, partitions, threads):
    """The thread that reads partition p: consecutive partitions, the first threads one more.

    Kafka: RangeAssignor.assign, 0.8 to 0.11.
    """
    for i in range(threads):
        if range_first(i, partitions, threads) <= p < range_first(i + 1, partitions, threads):
            return i
    return NOBODY


def range_ceil_owner(p, partitions, threads):
    """The formula of textbooks: as many partitions for each as the quotient rounded up, the last get the rest.

    Not Kafka's: 4 partitions and 3 threads give 2, 2, 0 here, and 2, 1, 1 in Kafka.
    """
    if threads == 0:
        return NOBODY
    share = quotient(partitions + threads - 1, threads)
    return quotient(p, share)


def deal(last, subscribed, threads):
    """The next thread after `last` in the circle (-1 at the beginning) that has subscribed to the topic.

    Kafka: RoundRobinAssignor.assign, threadAssignor.dropWhile, 0.8.2 to 0.11.
    """
    for step in range(threads):
        i = remainder(last + 1 + step, threads)
        if contains(subscribed, i):
            return i
    return NOBODY


def round_robin_owner(p, partitions, threads):
    """The thread that reads the partition dealt as number p, when all have subscribed to the one topic.

    The order of dealing is that of hash codes; of one topic's first ten partitions it is ascending.
    """
    return NOBODY if threads == 0 else remainder(p, threads)


def stands_before(i, j):
    """Whether the name of thread i stands before that of thread j of the same consumer; both below 100."""
    if i < TEN <= j:
        return i <= quotient(j, TEN)
    if j < TEN <= i:
        return quotient(i, TEN) < j
    return i < j


def place_of(i, threads):
    """The place of thread i among the threads of its consumer."""
    place = 0
    for j in range(threads):
        if stands_before(j, i):
            place += 1
    return place


def thread_at(place, threads):
    """The thread at a place among those of its consumer."""
    for i in range(threads):
        if place_of(i, threads) == place:
            return i
    return NOBODY


def member_at(place, members):
    """The consumer at a place in a set of consumers."""
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
    """The consumer that reads partition p, NOBODY without members; each has so many threads."""
    place = place_of_owner(p, partitions, size(members) * threads)
    return NOBODY if place == NOBODY else member_at(quotient(place, threads), members)


def owner_thread(p, partitions, members, threads):
    """The thread of that consumer which reads partition p."""
    place = place_of_owner(p, partitions, size(members) * threads)
    return NOBODY if place == NOBODY else thread_at(remainder(place, threads), threads)
