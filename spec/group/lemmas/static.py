"""Lemmas of groups with static members (static), beside those of *current*.

In short: a group.instance.id is that of one member; of the new id and the former one, at most one is in the group.
"""

from kafkaproof.spec.group.coordinator import GONE, MEMBER, PENDING, has_timers
from kafkaproof.spec.group.lemmas.group import append_is_of_group
from kafkaproof.spec.group.lemmas.member import CURRENT, committer_waits, has
from kafkaproof.spec.group.member import JOINING, WORKING
from kafkaproof.spec.group.network import UNANSWERED, WAIT, shared_instance
from kafkaproof.spec.group.properties.invariants import Place
from kafkaproof.spec.group.properties.members import instance_is_one
from kafkaproof.spec.group.records import GROUP_RECORD, NO_RECORD, OFFSET_RECORD, STATIC_RECORD
from kafkaproof.spec.group.sorts import Broker, Client, KnownId
from kafkaproof.spec.language.sets import contains, is_empty


def gone_has_no_instance(s, b: Broker, id: KnownId):
    """Who is no member has no group.instance.id."""
    member = s.brokers[b].group.members[id]
    return member.status == MEMBER or is_empty(member.instance)


def stored_instance_is_one(s, p: Place, i: Client, id: KnownId, other: KnownId):
    """A record names one member at most for a group.instance.id."""
    instances = s.storage.log.slots[p].instances[i]
    return id == other or not contains(instances, id) or not contains(instances, other)


def callback_is_of_group(s, b: Broker):
    """A callback is of a commit, of a static member, or of the group in the cache; an orphan when that is gone."""
    broker = s.brokers[b]
    for append in broker.appends.slots:
        if append.kind == GROUP_RECORD:
            if not has_timers(broker.group) or append.orphan or not is_empty(append.waiter):
                return False
        elif append.kind == OFFSET_RECORD or append.kind == STATIC_RECORD:
            if not has_timers(broker.group) and not append.orphan:
                return False
        elif append.kind != NO_RECORD:
            return False
    return True


def whose_callback_waits(s, b: Broker, m: Client):
    """The client behind a callback waits for its answer: it works; or the group is Dead, and it joins with the id that the
    member had then.
    """
    for append in s.brokers[b].appends.slots:
        if contains(append.waiter, m):
            if s.network.requests[m].kind != WAIT or s.network.answers[m].verdict != UNANSWERED:
                return False
            joins = append.kind == STATIC_RECORD and append.orphan and s.clients[m].phase == JOINING
            if joins and (s.network.requests[m].id != append.now or s.network.requests[m].known):
                return False
            if not joins and (append.kind != OFFSET_RECORD or s.clients[m].phase != WORKING):
                return False
    return True


def replaced_again_is_gone(s, b: Broker):
    """The new id of a static member that was replaced again is not in the group."""
    for append in s.brokers[b].appends.slots:
        if append.kind == STATIC_RECORD and not append.orphan and append.now != append.id:
            if s.brokers[b].group.members[append.id].status != GONE:
                return False
    return True


def one_of_both_ids(s, b: Broker):
    """Of the new and the former id of a static member one at most is in the group, which has a generation."""
    group = s.brokers[b].group
    for append in s.brokers[b].appends.slots:
        if append.kind == STATIC_RECORD:
            if append.generation == 0 or append.id == append.former:
                return False
            both = group.members[append.id].status == MEMBER and group.members[append.former].status != GONE
            if not append.orphan and (both or group.generation == 0):
                return False
    return True


def static_is_not_pending(s, b: Broker, id: KnownId, m: Client):
    """A static client has no id that is pending."""
    if s.brokers[b].group.members[id].status != PENDING or is_empty(shared_instance(s.network, m)):
        return True
    return not has(s, m, id)


STATIC = (
    *(f for f in CURRENT if f not in (append_is_of_group, committer_waits)),
    gone_has_no_instance,
    stored_instance_is_one,
    callback_is_of_group,
    whose_callback_waits,
    replaced_again_is_gone,
    one_of_both_ids,
    static_is_not_pending,
    instance_is_one,
)
