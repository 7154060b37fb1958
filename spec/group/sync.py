"""SyncGroup: the leader's assignment is stored, and every member gets its share."""

from kafkaproof.spec.group.coordinator import MEMBER, SYNC_PARKED, members_of, park, status
from kafkaproof.spec.group.group_states import COMPLETING_REBALANCE, STABLE
from kafkaproof.spec.group.join import prepare_rebalance
from kafkaproof.spec.group.network import (
    COORDINATOR_NOT_AVAILABLE,
    NONE,
    NOT_COORDINATOR,
    PARKED,
    REBALANCE_IN_PROGRESS,
    STORED,
    SYNC,
    UNKNOWN_SERVER_ERROR,
    answer,
    answer_syncs,
    asked,
    generation_of,
    give_assignment,
    has_assignment,
    id_of,
    instance,
    refuse,
    waiter,
)
from kafkaproof.spec.group.records import GROUP_RECORD, forget_append
from kafkaproof.spec.group.sorts import Broker, Client, MemberId
from kafkaproof.spec.group.storage import (
    NOT_LEADER,
    TIMED_OUT,
    TOO_LARGE,
    Failure,
    Refusal,
    acknowledge,
    fail,
    may_fail,
    may_succeed,
    owner_in,
    refuse_append,
    store_group,
    takes_appends,
)
from kafkaproof.spec.group.verdicts import sync_verdict
from kafkaproof.spec.language.domains import NOBODY, Bound, Flag, Number

Slot = Number(0, Bound("appends", -1))


def is_assignment(group, owner, assigned):
    """Whether the leader may assign the partition to `owner`: a member if the request has an assignment, else nobody.

    If the group has no members left, it does not matter to whom.
    """
    return status(group, owner) == MEMBER if assigned and members_of(group) > 0 else owner == NOBODY


def sync(s, b: Broker, m: Client, late: Flag(), owner: MemberId):
    """Client `m` asks broker `b` for its assignment. The leader brings the assignment of all members.

    Guards:  the request arrives; `owner` is a member if the request has an assignment, else nobody.
    Request: PARKED, STORED for the leader, NONE at once if Stable; or an error as in `sync_verdict`.
    Effects: the sync waits; the leader's assignment is appended. NONE gives the member's share.
    Kafka:   GroupCoordinator.doSyncGroup, 0.9 to 3.9 (appended under the group's lock: 0.11 to 3.9).
    """
    broker = s.brokers[b]
    group = broker.group
    if asked(s.network, m, late) != SYNC:
        return False
    if not is_assignment(group, owner, has_assignment(s.network, m, late)):
        return False

    id = id_of(s.network, m, late)
    verdict = sync_verdict(broker, id, instance(s.network, m), generation_of(s.network, m, late))
    answer(s.network, m, late, verdict)
    if verdict == NONE:
        give_assignment(s.network, waiter(m, late), broker.epoch, 1 if group.owner == id else 0)
    elif verdict == PARKED or verdict == STORED:
        park(group.members[id], SYNC_PARKED, waiter(m, late))
    if verdict == STORED:
        store_group(s.storage, b, broker, owner)
    return True


def meaning(error):
    """The error code that a sync gets when the group's append has failed."""
    if error == TIMED_OUT:
        return REBALANCE_IN_PROGRESS
    if error == TOO_LARGE:
        return UNKNOWN_SERVER_ERROR
    return NOT_COORDINATOR if error == NOT_LEADER else COORDINATOR_NOT_AVAILABLE


def sync_refused(s, b: Broker, m: Client, late: Flag(), error: Refusal):
    """The leader's assignment arrives at broker `b`, but the log refuses it before anything is written.

    Guards:  the request arrives, and comes from the group's leader; `b` leads the offsets partition.
    Request: STORED, followed by the error at once.
    Effects: every parked sync gets the error, and there is a rebalance.
    Kafka:   GroupCoordinator.doSyncGroup (callback of storeGroup), 0.9 to 3.9.
    """
    broker = s.brokers[b]
    group = broker.group
    if asked(s.network, m, late) != SYNC or not takes_appends(s.storage, b):
        return False
    id = id_of(s.network, m, late)
    if sync_verdict(broker, id, instance(s.network, m), generation_of(s.network, m, late)) != STORED:
        return False

    answer(s.network, m, late, STORED)
    park(group.members[id], SYNC_PARKED, waiter(m, late))
    refuse(s.network, group, SYNC_PARKED, meaning(error))
    prepare_rebalance(group)
    refuse_append(s.storage)
    return True


def awaits(group, append):
    """Whether a group still waits for this append: it has the same generation, and no assignment yet."""
    return not append.orphan and group.state == COMPLETING_REBALANCE and group.generation == append.generation


def group_stored(s, b: Broker, i: Slot):
    """The assignment is committed to the log.

    Guards:  append `i` is that of a group, and may be acknowledged.
    Effects: if the group still waits for it, the group is Stable, and every parked sync is answered.
    Kafka:   GroupCoordinator.doSyncGroup (callback of storeGroup), 0.9 to 3.9.
    """
    broker = s.brokers[b]
    group = broker.group
    append = broker.appends.slots[i]
    if append.kind != GROUP_RECORD or not may_succeed(s.storage, b, append.position):
        return False

    acknowledge(s.storage, append.position)
    if awaits(group, append):
        group.owner = owner_in(s.storage, append.position)
        group.state = STABLE
        answer_syncs(s.network, group, broker.epoch)
    forget_append(broker, i)
    return True


def group_not_stored(s, b: Broker, i: Slot, error: Failure):
    """The append of the assignment has failed.

    Guards:  append `i` is that of a group, and may fail with this error.
    Effects: if the group still waits for it, every parked sync gets the error, and there is a rebalance.
    Kafka:   GroupCoordinator.doSyncGroup (callback of storeGroup), 0.9 to 3.9.
    """
    broker = s.brokers[b]
    group = broker.group
    append = broker.appends.slots[i]
    if append.kind != GROUP_RECORD or not may_fail(s.storage, append.position, error):
        return False

    fail(s.storage, append.position)
    if awaits(group, append):
        refuse(s.network, group, SYNC_PARKED, meaning(error))
        prepare_rebalance(group)
    forget_append(broker, i)
    return True
