"""Goals: what groups must be able to do, so that the properties are not vacuous.

The goals for error codes are in `codes`.
"""

from dataclasses import replace

from kafkaproof.spec.group.coordinator import JOIN_PARKED, MEMBER, PENDING, SYNC_PARKED, status
from kafkaproof.spec.group.faults import waits_in_vain
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from kafkaproof.spec.group.member import SYNCING
from kafkaproof.spec.group.network import ILLEGAL_GENERATION, LEAVE, NONE, in_messages
from kafkaproof.spec.group.properties import apart, codes
from kafkaproof.spec.group.properties.offsets import last_answered
from kafkaproof.spec.group.properties.safety import is_coordinator, last_record
from kafkaproof.spec.group.records import (
    GROUP_RECORD,
    GROUP_TOMBSTONE,
    OFFSET_TOMBSTONE,
    TOMBSTONES,
    TRANSACTION_RECORD,
)
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.group.verdicts import fetch_verdict
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import sometimes
from kafkaproof.spec.language.sets import is_empty


def superseded(s, state):
    """Whether a broker that no longer leads still has the group in this state."""
    for broker in s.brokers:
        if broker.owned and broker.epoch < s.storage.epoch and broker.group.state == state:
            return True
    return False


def failover_when_empty(s):
    """The leader moves while the group is Empty."""
    return superseded(s, EMPTY)


def failover_when_preparing(s):
    """The leader moves in PreparingRebalance."""
    return superseded(s, PREPARING_REBALANCE)


def failover_when_completing(s):
    """The leader moves in CompletingRebalance."""
    return superseded(s, COMPLETING_REBALANCE)


def failover_when_stable(s):
    """The leader moves while the group is Stable."""
    return superseded(s, STABLE)


def failover_when_dead(s):
    """The leader moves while a deleted group is still in the cache."""
    return superseded(s, DEAD)


def two_coordinators(s):
    """Two brokers own the partition at once."""
    owners = 0
    for broker in s.brokers:
        owners += broker.owned
    return owners > 1


def zombie_answers(s):
    """A superseded coordinator has completed a generation while its successor is Stable in the same or a newer one."""
    for zombie in s.brokers:
        if zombie.owned and zombie.epoch < s.storage.epoch and zombie.group.state == COMPLETING_REBALANCE:
            for b in range(len(s.brokers)):
                successor = s.brokers[b].group
                if is_coordinator(s, b) and successor.state == STABLE:
                    if zombie.group.generation <= successor.generation:
                        return True
    return False


def reissued_generation(s):
    """Two clients have the same generation from different coordinators, and neither is stored."""
    for mine in s.clients:
        for yours in s.clients:
            if mine.phase == SYNCING and yours.phase == SYNCING and mine.generation == yours.generation:
                if mine.epoch != yours.epoch:
                    return True
    return False


def leader_replaced(s):
    """Another member leads than the log says, while both generations have members."""
    last = last_record(s)
    for b in range(len(s.brokers)):
        group = s.brokers[b].group
        if last != NOWHERE and is_coordinator(s, b) and group.state == PREPARING_REBALANCE:
            before = s.storage.log.slots[last].leader
            if before != NOBODY and group.leader != NOBODY and group.leader != before:
                return True
    return False


def pending_blocks(s):
    """Every member has joined again, and the group waits for a pending member."""
    for broker in s.brokers:
        joined = 0
        pending = 0
        others = 0
        for member in broker.group.members:
            joined += member.parked == JOIN_PARKED
            pending += member.status == PENDING
            others += member.status == MEMBER and member.parked != JOIN_PARKED
        if joined > 0 and pending > 0 and others == 0 and broker.group.state == PREPARING_REBALANCE:
            return True
    return False


def stored_twice(s):
    """Two records of one generation are in the log, with different assignments."""
    for one in s.storage.log.slots:
        for other in s.storage.log.slots:
            if one.kind == GROUP_RECORD and other.kind == GROUP_RECORD and one.generation == other.generation:
                if one.owner != other.owner and one.members == other.members:
                    return True
    return False


def abandoned_sync(s):
    """There is a parked sync that no client waits for any more."""
    for broker in s.brokers:
        for member in broker.group.members:
            if member.parked == SYNC_PARKED and is_empty(member.waiter):
                return True
    return False


def robbed(s):
    """A client waits for an answer that nobody will send: one of its own late requests replaced the parked one."""
    for m in range(len(s.clients)):
        if waits_in_vain(s, m):
            return True
    return False


def told_of_nothing(s):
    """A fetch gets neither an offset nor an error although a commit was answered: the group is being unloaded."""
    for broker in s.brokers:
        if not broker.owned and fetch_verdict(broker, 0) == NONE and last_answered(s) != NOWHERE:
            return True
    return False


def loaded_in_part(s):
    """A broker that lost the leadership while it was loading owns the partition, but lacks a commit that was answered,
    although nobody has appended anything since it led.
    """
    epoch = s.storage.epoch
    for broker in s.brokers:
        if broker.owned and broker.epoch == epoch - 1 and broker.group.state == ABSENT:
            if last_answered(s) != NOWHERE and s.storage.faults == 0 and s.storage.periods == 0:
                if not s.brokers[s.storage.leaders[epoch - 1]].owned:
                    return True
    return False


def loads_behind(s):
    """A broker is loading while its predecessor still answers."""
    for mine in s.brokers:
        for yours in s.brokers:
            if mine.loading and mine.read > 0 and yours.owned:
                return True
    return False


def resurrected(s):
    """A group exists again although an operator was told that it is deleted, and nothing has been written for it since."""
    for b in range(len(s.brokers)):
        group = s.brokers[b].group
        if s.storage.ghosts.gone and is_coordinator(s, b) and (group.state == EMPTY or group.state == STABLE):
            if group.generation > 0 or group.offset != NOWHERE:
                return True
    return False


def dies_of_age(s):
    """An Empty group dies by itself, with its record in the log."""
    for broker in s.brokers:
        if broker.tombstone == GROUP_TOMBSTONE or broker.tombstone == TOMBSTONES:
            return True
    return False


def expires_alone(s):
    """An offset expires while its group lives on."""
    for broker in s.brokers:
        if broker.tombstone == OFFSET_TOMBSTONE and broker.group.state == STABLE:
            return True
    return False


def replaced_in_stable(s):
    """The last two records are of the same generation, but give a static member different ids: nobody had to join
    again.
    """
    for one in s.storage.log.slots:
        for other in s.storage.log.slots:
            if one.kind == GROUP_RECORD and other.kind == GROUP_RECORD and one.generation == other.generation:
                if one.members != other.members:
                    return True
    return False


def turned_away(s):
    """A member is dropped from the group, because another has joined before it."""
    last = last_record(s)
    for broker in s.brokers:
        if last != NOWHERE and broker.group.state == PREPARING_REBALANCE and broker.group.leader != NOBODY:
            if broker.group.leader != s.storage.log.slots[last].leader:
                return True
    return False


def nobody_knows(s, id):
    """Whether no client and no message has a member id."""
    for client in s.clients:
        if client.id == id:
            return False
    return not in_messages(s.network, id)


def ghost(s):
    """The coordinator has a member that no client knows, although nothing has failed but the coordinator before it."""
    for b in range(len(s.brokers)):
        for id in range(len(s.brokers[b].group.members) - 1):
            if is_coordinator(s, b) and s.brokers[b].group.members[id].status == MEMBER and nobody_knows(s, id):
                return s.storage.faults == 0
    return False


def disowned(s):
    """A client is told that its generation is over, although it is a member: if it forgets its id, it leaves a ghost."""
    for b in range(len(s.brokers)):
        for m in range(len(s.clients)):
            if is_coordinator(s, b) and status(s.brokers[b].group, s.clients[m].id) == MEMBER:
                if s.network.answers[m].verdict == ILLEGAL_GENERATION:
                    return s.storage.faults == 0
    return False


def leaves_pending(s):
    """A pending member leaves."""
    for broker in s.brokers:
        for late in s.network.late:
            if late.kind == LEAVE and broker.group.members[late.id].status == PENDING:
                return True
    return False


def merged(s):
    """An offset that a transaction has committed is in the cache."""
    for b in range(len(s.brokers)):
        offset = s.brokers[b].group.offset
        if is_coordinator(s, b) and offset != NOWHERE and s.storage.log.slots[offset].kind == TRANSACTION_RECORD:
            return True
    return False


def at(goals, **least):
    """The same goals, but only at scopes of at least these sizes."""
    return tuple(replace(goal, least={**goal.least, **least}) for goal in goals)


BASIC = (
    codes.CODES
    + at((sometimes(leader_replaced),), clients=2, ids=2, generations=2, log=2)
    + at(
        (
            sometimes(failover_when_stable),
            sometimes(failover_when_preparing),
            sometimes(failover_when_completing),
            sometimes(two_coordinators),
        ),
        brokers=2,
        epochs=2,
    )
    + at((sometimes(zombie_answers), sometimes(reissued_generation)), brokers=2, clients=2, ids=2, epochs=2)
    + (
        sometimes(told_of_nothing, brokers=2, epochs=2, log=2),
        sometimes(loads_behind, brokers=2, epochs=2, log=2),
        sometimes(loaded_in_part, brokers=2, epochs=3, log=2),
        sometimes(abandoned_sync, faults=1),
        sometimes(robbed, clients=2, generations=2, faults=1),
        sometimes(failover_when_empty, brokers=2, epochs=2, generations=2),
        sometimes(stored_twice, clients=2, faults=1, log=2, appends=2),
        sometimes(dies_of_age, generations=2, log=2, periods=1),
    )
)
DEAD_IN_CACHE = (sometimes(failover_when_dead, brokers=2, epochs=2, faults=1),)
PENDING_MEMBERS = codes.REQUIRED + at((sometimes(pending_blocks),), clients=2, ids=2, generations=2, log=2)
EXPIRY_BY_GROUP = (sometimes(expires_alone, topics=2, periods=1, log=3),)
DELETING = codes.DELETING + (sometimes(resurrected, brokers=2, epochs=2, generations=2, log=2, faults=1),)
GOALS = BASIC + codes.LOADING + DEAD_IN_CACHE + PENDING_MEMBERS + EXPIRY_BY_GROUP + DELETING + codes.SUBSCRIBED
UNLOCKED = BASIC
OF_EMPTY = (failover_when_empty, dies_of_age)
NEVER_EMPTY = tuple(goal for goal in BASIC if goal.predicate not in OF_EMPTY) + apart.GOALS
LOCKED = BASIC + DEAD_IN_CACHE + DELETING
GATED = LOCKED + codes.LOADING
KIP394 = GATED + PENDING_MEMBERS
STATIC = codes.FENCED + (sometimes(replaced_in_stable, clients=2, ids=2, log=2),)
FORGETFUL = at((sometimes(ghost), sometimes(disowned)), brokers=2, epochs=2) + (sometimes(leaves_pending, ids=2),)
LIMITED = codes.FULL + (sometimes(turned_away, clients=2, ids=2, generations=2, log=2),)
TRANSACTIONAL = GOALS + codes.UNSTABLE + (sometimes(merged, log=2),)
