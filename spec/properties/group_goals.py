"""What groups must be able to do, so that the properties speak of something (7.7 of the domain document)."""

from dataclasses import replace

from spec.group.coordinator import GROUP_RECORD, JOIN_PARKED, MEMBER, NOWHERE, PENDING, SYNC_PARKED
from spec.group.member import SYNCING
from spec.group.network import (
    COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, DISCONNECTED, FENCED_INSTANCE_ID, ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL, MEMBER_ID_REQUIRED, NOT_COORDINATOR, REBALANCE_IN_PROGRESS, REQUEST_TIMED_OUT,
    UNANSWERED, UNKNOWN_MEMBER_ID, WAIT,
)
from spec.group.states import COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from spec.language.domains import NOBODY
from spec.language.model import sometimes
from spec.language.sets import is_empty
from spec.properties.group import answers_due, is_coordinator, last_record


def answered(s, verdict):
    """Whether an answer with this code is on its way."""
    for answer in s.network.answers:
        if answer.verdict == verdict:
            return True
    return False


def unknown_member(s):
    """UNKNOWN_MEMBER_ID."""
    return answered(s, UNKNOWN_MEMBER_ID)


def illegal_generation(s):
    """ILLEGAL_GENERATION."""
    return answered(s, ILLEGAL_GENERATION)


def rebalance_in_progress(s):
    """REBALANCE_IN_PROGRESS."""
    return answered(s, REBALANCE_IN_PROGRESS)


def load_in_progress(s):
    """COORDINATOR_LOAD_IN_PROGRESS."""
    return answered(s, COORDINATOR_LOAD_IN_PROGRESS)


def not_available(s):
    """COORDINATOR_NOT_AVAILABLE."""
    return answered(s, COORDINATOR_NOT_AVAILABLE)


def not_coordinator(s):
    """NOT_COORDINATOR."""
    return answered(s, NOT_COORDINATOR)


def timed_out(s):
    """REQUEST_TIMED_OUT."""
    return answered(s, REQUEST_TIMED_OUT)


def member_id_required(s):
    """MEMBER_ID_REQUIRED."""
    return answered(s, MEMBER_ID_REQUIRED)


def inconsistent_protocol(s):
    """INCONSISTENT_GROUP_PROTOCOL."""
    return answered(s, INCONSISTENT_GROUP_PROTOCOL)


def disconnected(s):
    """A coordinator dies while a client waits for its answer."""
    return answered(s, DISCONNECTED)


def superseded(s, state):
    """Whether a broker that leads no more still has the group in this state."""
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
    """A superseded coordinator has completed a generation while its successor is Stable in the same or a newer."""
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
    """Every member has joined again, and a pending member is waited for."""
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
    """A parked sync that nobody waits for any more."""
    for broker in s.brokers:
        for member in broker.group.members:
            if member.parked == SYNC_PARKED and is_empty(member.waiter):
                return True
    return False


def robbed(s):
    """A client waits, and nobody will answer: a late request of its own has taken the place of the parked one."""
    for m in range(len(s.clients)):
        if s.network.requests[m].kind == WAIT and answers_due(s, m) == 0:
            if s.network.answers[m].verdict == UNANSWERED:
                return True
    return False


def at(goals, **least):
    """The same goals, at scopes of at least these sizes."""
    return tuple(replace(goal, least={**goal.least, **least}) for goal in goals)


GOALS = (
    sometimes(member_id_required),
    sometimes(unknown_member),
    sometimes(not_coordinator, epochs=2, brokers=2),
) + at((
    sometimes(rebalance_in_progress), sometimes(leader_replaced), sometimes(pending_blocks),
), clients=2, ids=2, generations=2, log=2) + at((
    sometimes(failover_when_stable), sometimes(failover_when_preparing),
    sometimes(failover_when_completing), sometimes(two_coordinators), sometimes(load_in_progress),
), brokers=2, epochs=2) + at((
    sometimes(zombie_answers), sometimes(reissued_generation),
), brokers=2, clients=2, ids=2, epochs=2) + (
    sometimes(failover_when_empty, brokers=2, epochs=2),
    sometimes(failover_when_dead, brokers=2, epochs=2, faults=1),
    sometimes(illegal_generation, clients=2, ids=3, generations=3, log=2, faults=1),
    sometimes(not_available, faults=1),
    sometimes(timed_out, faults=1, log=2),
    sometimes(abandoned_sync, faults=1),
    sometimes(disconnected, faults=1),
    sometimes(robbed, faults=1),
    sometimes(inconsistent_protocol, clients=2, protocols=2),
    sometimes(stored_twice, clients=2, faults=1, log=2, appends=2),
)
def fenced_instance(s):
    """FENCED_INSTANCE_ID."""
    return answered(s, FENCED_INSTANCE_ID)


def replaced_in_stable(s):
    """A static member has another id than in the last record but one, of the same generation: nobody
    had to join again.
    """
    for one in s.storage.log.slots:
        for other in s.storage.log.slots:
            if one.kind == GROUP_RECORD and other.kind == GROUP_RECORD and one.generation == other.generation:
                if one.members != other.members:
                    return True
    return False


STATIC = (
    sometimes(fenced_instance, clients=2, ids=2),
    sometimes(replaced_in_stable, clients=2, ids=2, log=2),
)
NEVER_IN_CLASSIC = ("member_id_required", "pending_blocks", "failover_when_dead", "load_in_progress")
CLASSIC = tuple(goal for goal in GOALS if goal.name not in NEVER_IN_CLASSIC)
