"""What a coordinator's cache takes from the records of the log, the last one of each key; and what it puts there."""

from kafkaproof.spec.group.coordinator import MEMBER, forget_group, forget_member
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.group.states import EMPTY, STABLE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, is_empty, only, with_member


def put_offset(group, position, aged):
    """The committed offset is that of the record at `position`; none at -1."""
    group.offset = position
    group.aged = aged


def settle(group, commits, aged):
    """A transaction is over: if it is committed its offset is the group's, unless a later one is."""
    if commits and group.pending > group.offset:
        put_offset(group, group.pending, aged)
    group.pending = NOWHERE


def forget_membership(group):
    """There is no group record: what offsets there are stay."""
    offset = group.offset
    pending = group.pending
    aged = group.aged
    forget_group(group)
    group.pending = pending
    put_offset(group, offset, aged)


def describe_group(record, group, owner):
    """The record of a group with this assignment."""
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
    """The group as its record says; of a member's protocols only the chosen one is in the log."""
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
    """What was read is in the cache: Stable with members, Empty without; nothing if there was nothing."""
    if group.leader != NOBODY:
        group.state = STABLE
    elif group.generation > 0 or group.offset != NOWHERE or group.pending != NOWHERE:
        group.state = EMPTY
