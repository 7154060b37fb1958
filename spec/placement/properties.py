"""Properties of the placement of replicas: on different brokers and racks, and as many on each as Kafka promises."""

from kafkaproof.spec.kafka.assignment import is_distinct
from kafkaproof.spec.kafka.placement import racks_of, size_of
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains, everybody
from kafkaproof.spec.placement.topic import NO_RACK, partitions_of


def replicas_are_distinct(s):
    """The replicas of a partition are different brokers, as many as those of the first (T6)."""
    for assignment in s.assignments:
        if not is_distinct(assignment):
            return False
        if assignment.length != 0 and assignment.length != s.assignments[0].length:
            return False
    return True


def racks_used(s, assignment):
    """How many racks a partition is on."""
    used = 0
    for i in range(assignment.length):
        fresh = True
        for j in range(i):
            if s.clients[assignment.slots[j]].rack == s.clients[assignment.slots[i]].rack:
                fresh = False
        used = used + 1 if fresh else used
    return used


def racks_are_spread(before, after):
    """A partition that is created is on as many racks as it has replicas, or on all of them (T6)."""
    racks = racks_of(after, after.live)
    for p in range(len(after.assignments)):
        if before.assignments[p].length == 0 and after.assignments[p].length > 0:
            if racks_used(after, after.assignments[p]) != min(racks, after.assignments[p].length):
                return False
    return True


def replicas_are_registered(before, after):
    """A partition that is created has replicas on brokers that are registered."""
    for p in range(len(after.assignments)):
        if before.assignments[p].length == 0:
            for i in range(after.assignments[p].length):
                if not contains(after.live, after.assignments[p].slots[i]):
                    return False
    return True


def assignments_stay(before, after):
    """The replicas of a partition that is there do not change."""
    for p in range(len(before.assignments)):
        for i in range(before.assignments[p].length):
            if before.assignments[p].slots[i] != after.assignments[p].slots[i]:
                return False
    return True


def none_if_some_have_no_rack(before, after):
    """No partition is created while some brokers have a rack and others have none."""
    for r in range(len(before.clients)):
        for q in range(len(before.clients)):
            both = contains(before.live, r) and contains(before.live, q)
            mixed = before.clients[r].rack == NO_RACK and before.clients[q].rack != NO_RACK
            if both and mixed and partitions_of(after) != partitions_of(before):
                return False
    return True


def led_by(s, r, since):
    """How many partitions from `since` on prefer a broker."""
    count = 0
    for p in range(len(s.assignments)):
        if p >= since and s.assignments[p].length > 0 and s.assignments[p].slots[0] == r:
            count += 1
    return count


def replicas_on(s, r):
    """How many replicas of the topic a broker has."""
    count = 0
    for assignment in s.assignments:
        for i in range(assignment.length):
            if assignment.slots[i] == r:
                count += 1
    return count


def leaders_are_even_since(s, since):
    """Whether no registered broker is preferred by two partitions more than another, of those from `since` on."""
    for r in range(len(s.clients)):
        for q in range(len(s.clients)):
            if contains(s.live, r) and contains(s.live, q) and led_by(s, r, since) > led_by(s, q, since) + 1:
                return False
    return True


def leaders_are_even(before, after):
    """Of the partitions that one step creates each broker is preferred by as many as any other, or one more."""
    return leaders_are_even_since(after, partitions_of(before))


def leaders_stay_even(before, after, count):
    """A topic stays even when it gets more partitions, as long as no broker comes or goes."""
    return before.changed == 1 or not leaders_are_even_since(before, 0) or leaders_are_even_since(after, 0)


def racks_are_alike(s):
    """Whether each rack has as many brokers as any other."""
    for r in range(len(s.clients)):
        if contains(s.live, r) and size_on_rack(s, r) * racks_of(s, s.live) != size_of(s, s.live):
            return False
    return True


def size_on_rack(s, r):
    """How many registered brokers are on the rack of a broker."""
    count = 0
    for q in range(len(s.clients)):
        if contains(s.live, q) and s.clients[q].rack == s.clients[r].rack:
            count += 1
    return count


def is_whole(s):
    """Whether the topic has one or more whole rounds of partitions."""
    whole = False
    for rounds in range(len(s.assignments)):
        whole = whole or partitions_of(s) == (rounds + 1) * size_of(s, s.live)
    return whole


def replicas_are_even(before, after, count, replicas, start, shift):
    """A topic that is created with whole rounds, on racks alike, has as many replicas on each broker."""
    if not is_whole(after) or not racks_are_alike(after):
        return True
    for r in range(len(after.clients)):
        if contains(after.live, r) and replicas_on(after, r) * size_of(after, after.live) != count * replicas:
            return False
    return True


def all_have_racks(s):
    """Whether all brokers are registered, each with a rack."""
    for client in s.clients:
        if client.rack == NO_RACK:
            return False
    return s.live == everybody(len(s.clients))


def spread_over_racks(s):
    """All brokers have racks, two of them the same, and a partition has replicas on two racks."""
    return all_have_racks(s) and racks_of(s, s.live) < len(s.clients) and racks_used(s, s.assignments[0]) > 1


def more_replicas_than_racks(s):
    """A partition has more replicas than there are racks, of which there are two or more."""
    return all_have_racks(s) and s.assignments[0].length > racks_of(s, s.live) and racks_of(s, s.live) > 1


def second_round(s):
    """A topic on racks has more partitions than there are brokers."""
    return all_have_racks(s) and partitions_of(s) > len(s.clients)


def added_by_others(s):
    """The preferred replica of the first partition is gone, and a partition is on the others."""
    last = len(s.assignments) - 1
    return s.assignments[last].length > 0 and not contains(s.live, s.assignments[0].slots[0])


PROPERTIES = (
    always(replicas_are_distinct),
    always_step(racks_are_spread),
    always_step(replicas_are_registered),
    always_step(assignments_stay),
    always_step(none_if_some_have_no_rack),
    always_step(leaders_are_even),
    always_step(leaders_stay_even, of=("add_partitions",)),
    always_step(replicas_are_even, of=("create_topic",)),
    sometimes(spread_over_racks),
    sometimes(more_replicas_than_racks, replicas=3),
    sometimes(second_round, partitions=4),
    sometimes(added_by_others, changes=1),
)
