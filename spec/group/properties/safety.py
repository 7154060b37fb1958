"""Properties of groups: what coordinators do (G1 to G3, G11 to G14, G17).

Members are in `members`, offsets in `offsets`."""

from kafkaproof.spec.group.coordinator import JOIN_PARKED, MEMBER, SYNC_PARKED
from kafkaproof.spec.group.faults import answers_due
from kafkaproof.spec.group.group_states import (
    ABSENT,
    COMPLETING_REBALANCE,
    DEAD,
    EMPTY,
    PREPARING_REBALANCE,
    STABLE,
    move_is_legal,
)
from kafkaproof.spec.group.network import UNANSWERED, WAIT
from kafkaproof.spec.group.protocols import supports
from kafkaproof.spec.group.records import GROUP_RECORD, GROUP_TOMBSTONE, STATIC_RECORD, TOMBSTONES
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import contains


def goes_on(old, new):
    """Whether a broker has the same group before and after a step."""
    return old.owned and new.owned and old.group.state != ABSENT and new.group.state != ABSENT


def is_coordinator(s, b):
    """Whether broker `b` is the coordinator by right: it leads, has handled that, and has loaded."""
    epoch = s.storage.epoch
    return s.brokers[b].owned and s.brokers[b].epoch == epoch and s.storage.leaders[epoch - 1] == b


def accepted(before, after, b):
    """Whether a step appends a record, or prepares one to be appended."""
    old = before.brokers[b]
    new = after.brokers[b]
    return new.appends.length > old.appends.length or new.prepared.length > old.prepared.length


def legal_moves(before, after):
    """A group changes its state only as the table allows. It enters the cache Empty or as it was loaded, and leaves it
    Dead or with the broker's process (G1).
    """
    for b in range(len(after.brokers)):
        old = before.brokers[b]
        new = after.brokers[b]
        if old.group.state != new.group.state:
            if old.group.state == ABSENT:
                if not may_come(old, new.group.state):
                    return False
            elif new.group.state == ABSENT:
                if old.group.state != DEAD and (new.owned or not old.owned):
                    return False
            elif not move_is_legal(old.group.state, new.group.state):
                return False
    return True


def may_come(broker, state):
    """Whether a group may enter the cache in a state. A member's join takes it on from Empty in the same step."""
    if broker.loading:
        return state == EMPTY or state == STABLE
    return state == EMPTY or state == PREPARING_REBALANCE


def next_generation(before, after, b, leader, protocol, topic):
    """A completed join begins the next generation, Empty or not, unless the group dies (G2)."""
    if after.brokers[b].group.state == DEAD:
        return True
    return after.brokers[b].group.generation == before.brokers[b].group.generation + 1


def generation_stays(before, after):
    """The generation never falls, unless the group was deleted (G2)."""
    for b in range(len(after.brokers)):
        old = before.brokers[b]
        new = after.brokers[b]
        if goes_on(old, new) and new.group.state != DEAD and new.group.generation < old.group.generation:
            return False
    return True


def last_record(s):
    """The position of the last group record, -1 when there is none or it is followed by its tombstone."""
    found = NOWHERE
    for position in range(len(s.storage.log.slots) - 1):
        kind = s.storage.log.slots[position].kind
        if kind == GROUP_RECORD:
            found = position
        elif kind == GROUP_TOMBSTONE or kind == TOMBSTONES:
            found = NOWHERE
    return found


def above_stored(before, after, b, leader, protocol, topic):
    """A coordinator by right begins only generations above the last one stored, unless that was deleted or dies (G2)."""
    last = last_record(before)
    tombstone = before.brokers[b].tombstone
    if after.brokers[b].group.state == DEAD or not is_coordinator(before, b) or last == NOWHERE:
        return True
    if tombstone == GROUP_TOMBSTONE or tombstone == TOMBSTONES:
        return True
    return after.brokers[b].group.generation > before.storage.log.slots[last].generation


def leader_is_member(s):
    """A group with members has a leader, and the leader is one of them (G3)."""
    for broker in s.brokers:
        group = broker.group
        leads = False
        members = False
        for id in range(len(group.members) - 1):
            if group.members[id].status == MEMBER:
                members = True
                leads = leads or group.leader == id
        if members and not leads or not members and group.leader != NOBODY:
            return False
    return True


def one_list(s):
    """At most one member is told that it leads, in one generation of one coordinator, unless the group was deleted
    (G3).
    """
    for m in range(len(s.clients)):
        for n in range(m):
            mine = s.network.answers[m]
            yours = s.network.answers[n]
            if told(s.clients[m], mine) and told(s.clients[n], yours) and not s.storage.ghosts.deleted:
                if epoch_told(s.clients[m], mine) == epoch_told(s.clients[n], yours):
                    if generation_told(s.clients[m], mine) == generation_told(s.clients[n], yours):
                        return False
    return True


def told(client, answer):
    """Whether a client was told that it leads, or the answer that says so is in flight."""
    return client.leading == 1 or answer.leading == 1


def epoch_told(client, answer):
    """The coordinator that told it so."""
    return client.epoch if client.leading else answer.epoch


def generation_told(client, answer):
    """The generation in which it leads."""
    return client.generation if client.leading else answer.generation


def has_members_of(group, record):
    """Whether a group has the members that are in a record."""
    for id in range(len(group.members) - 1):
        if contains(record.members, id) != (group.members[id].status == MEMBER):
            return False
    return True


def is_as_stored(group, record):
    """Whether a group has the generation, leader, protocol, assignment and members that are in a record."""
    if group.generation != record.generation or group.leader != record.leader or group.owner != record.owner:
        return False
    return group.protocol == record.protocol and has_members_of(group, record)


def stores(broker):
    """Whether a group record waits for its callback, or to be appended."""
    for prepared in broker.prepared.slots:
        if prepared.record.kind == GROUP_RECORD:
            return True
    for append in broker.appends.slots:
        if append.kind == GROUP_RECORD:
            return True
    return False


def stable_is_stored(s):
    """When the coordinator by right is Stable, the log has this generation, with members and assignment (G11)."""
    last = last_record(s)
    for b in range(len(s.brokers)):
        if is_coordinator(s, b) and s.brokers[b].group.state == STABLE and not stores(s.brokers[b]):
            if last == NOWHERE or not is_as_stored(s.brokers[b].group, s.storage.log.slots[last]):
                return False
    return True


def chosen_protocol(before, after, b, leader, protocol, topic):
    """The protocol is supported by all members of the generation, and none has more votes (G12)."""
    old = before.brokers[b].group
    new = after.brokers[b].group
    for other in range(max_protocol(new) + 1):
        if count_votes(new, other) > count_votes(new, new.protocol):
            return False
    return new.state == EMPTY or all_support(new, new.protocol) and old.state == PREPARING_REBALANCE


def max_protocol(group):
    """The greatest protocol that a member names."""
    greatest = 0
    for member in group.members:
        greatest = max(greatest, max(member.first, member.second))
    return greatest


def all_support(group, protocol):
    """Whether every member supports a protocol."""
    for member in group.members:
        if member.status == MEMBER and not supports(member, protocol):
            return False
    return True


def count_votes(group, protocol):
    """The number of members for which `protocol` is the preferred one among those that all support."""
    n = 0
    for member in group.members:
        if member.status == MEMBER and all_support(group, protocol):
            if member.first == protocol or member.second == protocol and not all_support(group, member.first):
                n += 1
    return n


def is_being_stored(broker, id):
    """Whether the group is being stored with this id of a static member."""
    for append in broker.appends.slots:
        if append.kind == STATIC_RECORD and append.now == id and not append.orphan:
            return True
    return False


def parked_in_place(s):
    """A join waits only in PreparingRebalance, or for a Stable group to be stored with a static member's new id; a sync
    waits only in CompletingRebalance (G13).
    """
    for broker in s.brokers:
        for id in range(len(broker.group.members) - 1):
            member = broker.group.members[id]
            if member.parked == JOIN_PARKED and broker.group.state != PREPARING_REBALANCE:
                if broker.group.state != STABLE or not is_being_stored(broker, id):
                    return False
            if member.parked == SYNC_PARKED and broker.group.state != COMPLETING_REBALANCE:
                return False
    return True


def answered_once(s):
    """A client that waits either has its answer or is owed exactly one, unless something was lost, or was late and took
    its place. A client that does not wait is not answered (G13).
    """
    for m in range(len(s.clients)):
        answers = answers_due(s, m) + (0 if s.network.answers[m].verdict == UNANSWERED else 1)
        if s.network.requests[m].kind != WAIT and answers > 0 or answers > 1:
            return False
        if s.network.requests[m].kind == WAIT and answers == 0 and s.storage.faults == 0:
            return False
    return True


def dead_is_silent(before, after):
    """A Dead group answers no request with NONE, and does not change until it is removed (G14)."""
    for b in range(len(after.brokers)):
        if before.brokers[b].group.state == DEAD:
            state = after.brokers[b].group.state
            if state != DEAD and state != ABSENT:
                return False
    return True


def owner_was_elected(s):
    """A broker that owns or loads the partition was elected in the last epoch that it handled (G17)."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        elected = broker.epoch > 0 and s.storage.leaders[broker.epoch - 1] == b
        if (broker.owned or broker.loading) and not elected:
            return False
    return True


def stored_by_right(before, after, b, i):
    """Only the leader gets an append acknowledged, or a former leader one that was committed while it led (G17)."""
    position = before.brokers[b].appends.slots[i].position
    leads = before.storage.leaders[before.storage.epoch - 1] == b
    return position != NOWHERE and (leads or position < before.storage.committed)


COMPLETIONS = ("complete_join", "join_timeout")
SAFETY = (
    always_step(legal_moves),
    always_step(next_generation, of=COMPLETIONS),
    always_step(generation_stays),
    always_step(above_stored, of=COMPLETIONS),
    always(leader_is_member),
    always(one_list),
    always(stable_is_stored),
    always_step(chosen_protocol, of=COMPLETIONS),
    always(parked_in_place),
    always(answered_once),
    always_step(dead_is_silent),
    always(owner_was_elected),
    always_step(stored_by_right, of=("group_stored", "offset_stored")),
)
