"""How a coordinator's cache is filled from the log (the last record of each key counts), and what it writes there."""

from kafkaproof.spec.group.coordinator import MEMBER, forget_group, forget_member
from kafkaproof.spec.group.group_states import EMPTY, STABLE
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, is_empty, only, with_member


def put_offset(group, position, aged):
    """Cache the offset of the record at `position` as committed; there is none at -1."""
    group.offset = position
    group.aged = aged


def settle(group, commits, aged):
    """End a transaction. If it commits, the group takes over its offset, unless it already has a later one."""
    if commits and group.pending > group.offset:
        put_offset(group, group.pending, aged)
    group.pending = NOWHERE


def forget_membership(group):
    """Forget the group and its members. Its offsets stay."""
    offset = group.offset
    pending = group.pending
    aged = group.aged
    forget_group(group)
    group.pending = pending
    put_offset(group, offset, aged)


def describe_group(record, group, owner):
    """Fill a record with the group and this assignment."""
    record.leader = group.leader
    record.protocol = group.protocol
    record.topic = group.topic
    record.owner = owner
    for id in range(len(group.members) - 1):
        if group.members[id].status == MEMBER:
            record.members = with_member(record.members, id)
            for m in range(len(record.instances)):
                if contains(group.members[id].instance, m):
                    record.instances[m] = only(id)


def load_group(group, record):
    """Restore the group from its record. Of each member's protocols, the log has only the chosen one."""
    group.generation = record.generation
    group.leader = record.leader
    group.protocol = record.protocol
    group.topic = record.topic
    group.owner = record.owner
    group.idle = record.aged if is_empty(record.members) else 0
    for id in range(len(group.members) - 1):
        forget_member(group.members[id])
        if contains(record.members, id):
            group.members[id].status = MEMBER
            group.members[id].first = record.protocol
            group.members[id].second = record.protocol
            for m in range(len(record.instances)):
                if contains(record.instances[m], id):
                    group.members[id].instance = with_member(group.members[id].instance, m)


def install(group):
    """Put what was read into the cache: Stable with members, Empty without, nothing if nothing was read."""
    if group.leader != NOBODY:
        group.state = STABLE
    elif group.generation > 0 or group.offset != NOWHERE or group.pending != NOWHERE:
        group.state = EMPTY
