"""Static members (KIP-345, 2.3+): a client with a group.instance.id takes the place of its former member id.

In a Stable group there is no rebalance: the group is stored with the new id, and the client is told the present
generation. It is never told that it leads, even if its former id did (up to 3.1; later it is told to skip the
assignment, which comes to the same).
"""

from spec.group.coordinator import (
    JOIN_PARKED, MEMBER, STATIC_RECORD, SYNC_PARKED, Broker, Client, Protocol, forget_append, forget_member, park,
)
from spec.group.join import offer, prepare_rebalance
from spec.group.network import (
    FENCED_INSTANCE_ID, JOIN, PARKED, REBALANCE_IN_PROGRESS, STORED, answer, asked, give_error, give_generation,
    id_known, id_of, instance, refuse, waiter,
)
from spec.group.storage import AppendError, acknowledge, fail, may_fail, may_succeed, store_static
from spec.group.sync import Slot, meaning
from spec.group.verdicts import member_of_instance, static_join_verdict
from spec.language.domains import NOBODY, Flag


def replace_member(group, former, id):
    """replaceStaticMember: the same member under another id, leader and assignment included."""
    group.members[id].status = MEMBER
    group.members[id].first = group.members[former].first
    group.members[id].second = group.members[former].second
    group.members[id].instance = group.members[former].instance
    forget_former(group.members[former])
    if group.leader == former:
        group.leader = id
    if group.owner == former:
        group.owner = id


def forget_former(member):
    """The former id is not in the group any more."""
    forget_member(member)


def static_join(s, b: Broker, m: Client, late: Flag(), first: Protocol, second: Protocol):
    """Client `m`, which has a group.instance.id that the group knows, and no member id, asks broker `b` to join.

    Guards:  the request arrives; a member has its group.instance.id.
    Request: STORED when Stable and its protocols are as before; else PARKED, or as `static_join_verdict`.
    Effects: it takes the place of the former id, whose parked request is refused; the group is stored,
             or there is a rebalance.
    Kafka:   GroupCoordinator.updateStaticMemberAndRebalance, 2.3 to 3.9.
    """
    broker = s.brokers[b]
    group = broker.group
    former = member_of_instance(group, instance(m))
    if asked(s.network, m, late) != JOIN or id_known(s.network, m, late) or former == NOBODY:
        return False

    id = id_of(s.network, m, late)
    verdict = static_join_verdict(broker, former, first, second)
    answer(s.network, m, late, verdict)
    if verdict == STORED or verdict == PARKED:
        give_error(s.network, group.members[former].waiter, FENCED_INSTANCE_ID)
        replace_member(group, former, id)
    if verdict == STORED:
        store_static(s.storage, b, broker, id, former, waiter(m, late))
    elif verdict == PARKED:
        refuse(s.network, group, SYNC_PARKED, REBALANCE_IN_PROGRESS)
        prepare_rebalance(group)
        offer(group.members[id], first, second)
        park(group.members[id], JOIN_PARKED, waiter(m, late))
    return True


def static_stored(s, b: Broker, i: Slot):
    """The group with the new member id is committed.

    Guards:  append `i` is of a static member, and may be acknowledged.
    Effects: the client is told the present generation.
    Kafka:   GroupCoordinator.updateStaticMemberAndRebalance, callback of storeGroup, 2.3 to 3.9.
    """
    broker = s.brokers[b]
    append = broker.appends.slots[i]
    if append.kind != STATIC_RECORD or not may_succeed(s.storage, b, append.position):
        return False

    acknowledge(s.storage, append.position)
    give_generation(s.network, append.waiter, append.id, broker.group.generation, broker.epoch, 0)
    forget_append(broker, i)
    return True


def static_not_stored(s, b: Broker, i: Slot, error: AppendError):
    """The append of the group with the new member id has failed.

    Guards:  append `i` is of a static member, and may fail so.
    Effects: the former id is back, unless the new one is gone; the client gets the error.
    Kafka:   GroupCoordinator.updateStaticMemberAndRebalance, callback of storeGroup, 2.3 to 3.9.
    """
    broker = s.brokers[b]
    append = broker.appends.slots[i]
    if append.kind != STATIC_RECORD or not may_fail(s.storage, append.position, error):
        return False

    fail(s.storage, append.position)
    give_error(s.network, append.waiter, meaning(error))
    if broker.group.members[append.id].status == MEMBER:
        give_error(s.network, broker.group.members[append.id].waiter, FENCED_INSTANCE_ID)
        replace_member(broker.group, append.id, append.former)
    forget_append(broker, i)
    return True
