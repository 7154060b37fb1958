"""Static members (KIP-345, 2.3+): a client with a group.instance.id takes the place of its former member id.

In a Stable group there is no rebalance: the group is stored with the new id, and the client is told the present
generation. Meanwhile its join is parked: if a rebalance begins, it counts as joined, and is answered with the next
generation if that comes first. It is never told that it leads, even if its former id did (up to 3.1; later it is told to skip the
assignment, which amounts to the same).
"""

from kafkaproof.spec.group.coordinator import JOIN_PARKED, MEMBER, SYNC_PARKED, forget_member, is_heir, park, unpark
from kafkaproof.spec.group.join import offer, prepare_rebalance
from kafkaproof.spec.group.membership import lose_member
from kafkaproof.spec.group.network import (
    FENCED_INSTANCE_ID,
    JOIN,
    NONE,
    PARKED,
    REBALANCE_IN_PROGRESS,
    STORED,
    UNKNOWN_MEMBER_ID,
    answer,
    answer_operator,
    asked,
    give_error,
    give_generation,
    id_known,
    id_of,
    instance,
    refuse,
    waiter,
)
from kafkaproof.spec.group.records import STATIC_RECORD, forget_append
from kafkaproof.spec.group.sorts import Broker, Client, MemberId, Protocol
from kafkaproof.spec.group.storage import Failure, acknowledge, count_fault, fail, may_fail, may_succeed, store_static
from kafkaproof.spec.group.sync import Slot, meaning
from kafkaproof.spec.group.verdicts import member_of_instance, remove_static_verdict, static_join_verdict
from kafkaproof.spec.language.domains import NOBODY, Flag
from kafkaproof.spec.language.sets import only


def replace_member(broker, former, id):
    """replaceStaticMember: move a member to another id. If it led or had the assignment, it still does."""
    group = broker.group
    group.members[id].status = MEMBER
    group.members[id].fresh = group.members[former].fresh
    group.members[id].first = group.members[former].first
    group.members[id].second = group.members[former].second
    group.members[id].instance = group.members[former].instance
    forget_former(group.members[former])
    if group.leader == former:
        group.leader = id
    if group.owner == former:
        group.owner = id
    for append in broker.appends.slots:
        if append.kind == STATIC_RECORD and append.now == former and not append.orphan:
            append.now = id


def forget_former(member):
    """Remove the former id from the group."""
    forget_member(member)


def static_join(s, b: Broker, m: Client, late: Flag(), first: Protocol, second: Protocol):
    """Client `m`, without a member id but with a group.instance.id that the group knows, asks broker `b` to join.

    Guards:  the request arrives; a member has its group.instance.id.
    Request: STORED if Stable and its protocols leave the group's as it is; else PARKED, or an error as in
             `static_join_verdict`.
    Effects: it takes the place of the former id, whose parked request is refused; the group is stored,
             or there is a rebalance.
    Kafka:   GroupCoordinator.doUnknownJoinGroup, 2.3 to 2.4; updateStaticMemberAndRebalance, 2.5 to 3.9.
    """
    broker = s.brokers[b]
    group = broker.group
    former = member_of_instance(group, instance(s.network, m))
    if asked(s.network, m, late) != JOIN or id_known(s.network, m, late) or former == NOBODY:
        return False

    id = id_of(s.network, m, late)
    verdict = static_join_verdict(broker, former, first, second)
    answer(s.network, m, late, verdict)
    if verdict == STORED or verdict == PARKED:
        give_error(s.network, group.members[former].waiter, FENCED_INSTANCE_ID)
        replace_member(broker, former, id)
        offer(group.members[id], first, second)
    if verdict == STORED:
        store_static(s.storage, b, broker, id, former)
    elif verdict == PARKED:
        refuse(s.network, group, SYNC_PARKED, REBALANCE_IN_PROGRESS)
        prepare_rebalance(group)
    if verdict == STORED or verdict == PARKED:
        park(group.members[id], JOIN_PARKED, waiter(m, late))
    return True


def take_join(broker, append):
    """The client whose join the callback answers: of a Dead group, the one that waited then. The join is parked no more."""
    member = broker.group.members[append.now]
    if append.orphan:
        return append.waiter
    if member.parked != JOIN_PARKED:
        return 0
    clients = member.waiter
    unpark(member)
    return clients


def static_stored(s, b: Broker, i: Slot):
    """The group with the new member id is committed.

    Guards:  append `i` is that of a static member, and may be acknowledged.
    Effects: a join that is still parked is answered with the present generation, or that of the Dead group, if the group
             was unloaded meanwhile. If the member was replaced again, that is the join of the client that came last.
    Kafka:   GroupCoordinator.updateStaticMemberAndRebalance, 2.6.1 to 3.9 (callback of storeGroup).
    """
    broker = s.brokers[b]
    append = broker.appends.slots[i]
    if append.kind != STATIC_RECORD or not may_succeed(s.storage, b, append.position):
        return False

    acknowledge(s.storage, append.position)
    generation = append.generation if append.orphan else broker.group.generation
    give_generation(s.network, take_join(broker, append), append.id, generation, broker.epoch, 0)
    forget_append(broker, i)
    return True


def static_not_stored(s, b: Broker, i: Slot, error: Failure):
    """The append of the group with the new member id has failed.

    Guards:  append `i` is that of a static member, and may fail with this error.
    Effects: the former id is restored, unless the new one is gone, or the group was unloaded meanwhile; the client gets
             the error. The protocols stay the new ones. If the member was replaced again, a parked join is dropped
             without an answer. (A client that has its answer already would get another one.)
    Kafka:   GroupCoordinator.updateStaticMemberAndRebalance, 2.6.1 to 3.9 (callback of storeGroup).
    """
    broker = s.brokers[b]
    append = broker.appends.slots[i]
    if append.kind != STATIC_RECORD or not may_fail(s.storage, append.position, error):
        return False

    fail(s.storage, append.position)
    clients = take_join(broker, append)
    if append.now == append.id:
        give_error(s.network, clients, meaning(error))
        if not append.orphan and broker.group.members[append.id].status == MEMBER:
            give_error(s.network, broker.group.members[append.id].waiter, FENCED_INSTANCE_ID)
            replace_member(broker, append.id, append.former)
    forget_append(broker, i)
    return True


def remove_static(s, b: Broker, i: Client, heir: MemberId):
    """An operator asks broker `b` to remove the member with the group.instance.id `i` (KIP-345).

    Guards:  `heir` leads afterwards: it is any other member if the leader is removed.
    Request: NONE, or an error as in `remove_static_verdict`.
    Effects: on NONE the member is gone, its parked request is refused, and there is a rebalance.
    Kafka:   GroupCoordinator.handleLeaveGroup, 2.4 to 3.9 (with a group.instance.id and no member id).
    """
    group = s.brokers[b].group
    id = member_of_instance(group, only(i))
    verdict = remove_static_verdict(s.brokers[b], id)
    if not is_heir(group, id if verdict == NONE else NOBODY, heir):
        return False

    answer_operator(s.network, verdict)
    if verdict == NONE:
        give_error(s.network, group.members[id].waiter, UNKNOWN_MEMBER_ID)
        refuse(s.network, group, SYNC_PARKED, REBALANCE_IN_PROGRESS)
        lose_member(group, id, heir)
        count_fault(s.storage)
    return True
