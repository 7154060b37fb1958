"""Properties of groups: what a coordinator has in its cache, and what timers, joins and losses may do to members."""

from kafkaproof.spec.group.coordinator import (
    GONE,
    JOIN_PARKED,
    MEMBER,
    NOTHING_PARKED,
    PENDING,
    SYNC_PARKED,
    members_of,
)
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from kafkaproof.spec.group.properties.invariants import (
    cached_is_owned,
    change_is_past,
    generation_is_chosen,
    is_reading,
    no_group_has_no_members,
    no_group_is_nothing,
    parked_is_member,
    reads_while_it_loads,
    tombstone_is_due,
)
from kafkaproof.spec.group.properties.safety import all_support, goes_on
from kafkaproof.spec.group.records import GROUP_RECORD
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import is_empty


def group_is_whole(s):
    """A group is in the cache only of a broker that owns the partition. It has a leader, a protocol and an assignment
    when its state calls for them. Nothing is known of a group that is Dead or absent.
    """
    for b in range(len(s.brokers)):
        if not change_is_past(s, b) or not cached_is_owned(s, b) or not no_group_is_nothing(s, b):
            return False
        if not reads_while_it_loads(s, b) or not generation_is_chosen(s, b) or not tombstone_is_due(s, b):
            return False
        group = s.brokers[b].group
        if group.delayed and group.state != PREPARING_REBALANCE or group.aged and group.offset == NOWHERE:
            return False
        if group.idle and group.state != EMPTY and not is_reading(s.brokers[b]):
            return False
        if group.state == COMPLETING_REBALANCE and group.owner != NOBODY:
            return False
        if not group_has_what_it_may(s.brokers[b]):
            return False
    return True


def group_has_what_it_may(broker):
    """Whether an absent group has no pending offset, and every member supports the protocol that a group has chosen."""
    group = broker.group
    if group.state == DEAD or group.state == ABSENT and not is_reading(broker):
        return group.pending == NOWHERE
    chosen = group.state == COMPLETING_REBALANCE or group.state == STABLE
    return not chosen or all_support(group, group.protocol)


def member_is_whole(s):
    """An id that is not in the group leaves no trace; a new member waits with its first join; a parked request belongs
    to a member, and a client waits for at most one.
    """
    for b in range(len(s.brokers)):
        group = s.brokers[b].group
        for id in range(len(group.members) - 1):
            member = group.members[id]
            if not parked_is_member(s, b, id) or not no_group_has_no_members(s, b, id):
                return False
            if member.status != MEMBER and (member.fresh or member.first > 0 or member.second > 0):
                return False
            if member.status != MEMBER and (not is_empty(member.instance) or not is_empty(member.waiter)):
                return False
            if member.fresh and member.parked != JOIN_PARKED:
                return False
    return True


def awaits_assignment(group):
    """Whether the leader's sync has arrived, and its assignment is not yet stored."""
    return group.state == COMPLETING_REBALANCE and group.members[group.leader].parked == SYNC_PARKED


def leader_synced_is_stored(s):
    """While the leader's sync waits, its assignment is on its way to the log, under the present generation."""
    for broker in s.brokers:
        if awaits_assignment(broker.group):
            found = False
            for append in broker.appends.slots:
                found = found or append.kind == GROUP_RECORD and append.generation == broker.group.generation
            for prepared in broker.prepared.slots:
                found = found or prepared.record.kind == GROUP_RECORD
            if not found:
                return False
    return True


def lost_begins_rebalance(before, after):
    """A group that loses a member while it is Stable, or awaits the assignment, begins a rebalance."""
    for b in range(len(after.brokers)):
        old = before.brokers[b].group
        new = after.brokers[b].group
        begun = old.state == STABLE or old.state == COMPLETING_REBALANCE
        if goes_on(before.brokers[b], after.brokers[b]) and begun and members_of(new) < members_of(old):
            if new.state != PREPARING_REBALANCE and new.state != DEAD:
                return False
    return True


def begins_when_needed(before, after):
    """A rebalance begins because a member joins or is lost, or because the assignment could not be stored. The initial
    delay applies if the group was Empty, and only then.
    """
    for b in range(len(after.brokers)):
        old = before.brokers[b].group
        new = after.brokers[b].group
        if old.state != PREPARING_REBALANCE and new.state == PREPARING_REBALANCE:
            joins = False
            for id in range(len(new.members) - 1):
                joins = joins or new.members[id].parked == JOIN_PARKED
            lost = members_of(new) < members_of(old)
            failed = after.storage.faults > before.storage.faults
            failed = failed or after.brokers[b].appends.length < before.brokers[b].appends.length
            if not joins and not lost and not failed:
                return False
            if (old.state == STABLE or old.state == COMPLETING_REBALANCE) and new.delayed:
                return False
            if new.generation != old.generation:
                return False
            if old.leader != NOBODY and new.members[old.leader].status == MEMBER and new.leader != old.leader:
                return False
    return True


def completes_as_chosen(before, after, b, leader, protocol, topic):
    """A completed join answers every parked join, and no member is new afterwards. The leader remains the leader if it
    has joined. A group without members is Empty, its age starts anew, and it is stored.
    """
    old = before.brokers[b].group
    new = after.brokers[b].group
    for id in range(len(new.members) - 1):
        if new.members[id].fresh or new.members[id].parked != NOTHING_PARKED:
            return False
        if old.members[id].parked == JOIN_PARKED and new.members[id].status != MEMBER:
            return False
    if old.state != PREPARING_REBALANCE or new.delayed or new.idle:
        return False
    if new.state == EMPTY:
        leads = before.storage.leaders[before.storage.epoch - 1] == b
        written = after.storage.log.length - before.storage.log.length
        prepared = after.brokers[b].prepared.length - before.brokers[b].prepared.length
        return members_of(new) == 0 and (written == (1 if leads else 0) or prepared == 1)
    if old.leader != NOBODY and old.members[old.leader].parked == JOIN_PARKED and new.leader != old.leader:
        return False
    if new.leader != leader or old.leader != leader and old.members[leader].parked != JOIN_PARKED:
        if anybody_joined(old):
            return False
    return new.state == COMPLETING_REBALANCE and new.topic == topic and new.protocol == protocol


def anybody_joined(group):
    """Whether a member has a parked join."""
    for member in group.members:
        if member.parked == JOIN_PARKED:
            return True
    return False


def complete_with_all(before, after, b, leader, protocol, topic):
    """A join completes before its timeout only if all members have joined and no pending member is awaited. It loses no
    member.
    """
    group = before.brokers[b].group
    for member in group.members:
        if member.status == PENDING or member.status == MEMBER and member.parked != JOIN_PARKED:
            return False
    return not group.delayed and members_of(group) == members_of(after.brokers[b].group)


def timeout_removes_absent(before, after, b, leader, protocol, topic):
    """When a rebalance times out, members that have not joined are removed, unless they are static. Pending members
    stay.
    """
    old = before.brokers[b].group
    new = after.brokers[b].group
    waits = old.delayed == 1
    for id in range(len(new.members) - 1):
        was = old.members[id]
        stays = was.parked == JOIN_PARKED or not is_empty(was.instance)
        waits = waits or was.status == PENDING or was.status == MEMBER and was.parked != JOIN_PARKED
        if was.status == MEMBER and (new.members[id].status == MEMBER) != stays:
            return False
        if was.status != MEMBER and new.members[id].status != was.status:
            return False
    return waits


def others_keep_their_place(old, new, id):
    """Whether all members except one are in the group as before, and no parked join is answered."""
    for other in range(len(old.members) - 1):
        if other != id:
            if old.members[other].status != new.members[other].status:
                return False
            if old.members[other].parked == JOIN_PARKED and new.members[other].parked != JOIN_PARKED:
                return False
    return True


def session_ends(before, after, b, id, heir):
    """A session ends only if the member has no parked sync, and no parked join other than its first. The member is
    gone, the others stay, and one of them leads if it led.
    """
    old = before.brokers[b].group
    new = after.brokers[b].group
    member = old.members[id]
    if member.status != MEMBER or member.parked == SYNC_PARKED or member.parked == JOIN_PARKED and not member.fresh:
        return False
    if new.members[id].status != GONE or new.leader != heir or old.leader != id and new.leader != old.leader:
        return False
    return others_keep_their_place(old, new, id) and new.generation == old.generation and new.offset == old.offset


def pending_ends(before, after, b, id):
    """A pending member that has not joined in time is removed, and nothing else changes."""
    old = before.brokers[b].group
    new = after.brokers[b].group
    if old.members[id].status != PENDING or new.members[id].status != GONE:
        return False
    same = new.state == old.state and new.leader == old.leader and new.generation == old.generation
    return same and others_keep_their_place(old, new, id)


def sync_is_overdue(before, after, b, heir):
    """When the syncs time out, exactly the members that have not sent one are removed. A member that has sent one
    leads.
    """
    old = before.brokers[b].group
    new = after.brokers[b].group
    if old.state != COMPLETING_REBALANCE or new.state != PREPARING_REBALANCE:
        return False
    lost = 0
    for id in range(len(old.members) - 1):
        if old.members[id].status == MEMBER:
            lost += 1 if new.members[id].status == GONE else 0
            if (new.members[id].status == MEMBER) != (old.members[id].parked == SYNC_PARKED):
                return False
        elif new.members[id].status != old.members[id].status:
            return False
    if old.members[old.leader].parked == SYNC_PARKED and new.leader != old.leader:
        return False
    return lost > 0


def takes_over(before, after, b):
    """A broker that learns of its election is not loading, and has unloaded what it had. It loads, unless it still owns
    the partition.
    """
    old = before.brokers[b]
    new = after.brokers[b]
    if old.loading or old.group.state != ABSENT and not old.owned:
        return False
    return new.epoch == old.epoch + 1 and (new.loading or old.owned)


COMPLETIONS = ("complete_join", "join_timeout")
CACHE = (
    always(group_is_whole),
    always(member_is_whole),
    always(leader_synced_is_stored),
    always_step(lost_begins_rebalance),
    always_step(begins_when_needed),
    always_step(completes_as_chosen, of=COMPLETIONS),
    always_step(complete_with_all, of=("complete_join",)),
    always_step(timeout_removes_absent, of=("join_timeout",)),
    always_step(session_ends, of=("expire",)),
    always_step(pending_ends, of=("expire_pending",)),
    always_step(sync_is_overdue, of=("sync_timeout",)),
    always_step(takes_over, of=("take_over",)),
)
