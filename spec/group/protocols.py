"""Which protocol a group uses: one that all members support, with the most votes."""

from kafkaproof.spec.group.coordinator import JOIN_PARKED, MEMBER
from kafkaproof.spec.language.sets import is_empty


def supports(member, protocol):
    """Whether a member supports a protocol."""
    return member.first == protocol or member.second == protocol


def stays(member):
    """Whether a member is one of the next generation: it has joined again, or is static (KIP-345)."""
    return member.parked == JOIN_PARKED or not is_empty(member.instance)


def candidate(group, protocol):
    """Whether all who stay support a protocol."""
    for member in group.members:
        if member.status == MEMBER and stays(member) and not supports(member, protocol):
            return False
    return True


def votes(group, protocol):
    """How many of those who stay have `protocol` as the first candidate in their list."""
    n = 0
    for member in group.members:
        if member.status == MEMBER and stays(member):
            chosen = member.first if candidate(group, member.first) else member.second
            if chosen == protocol:
                n += 1
    return n


def is_elected(group, protocol):
    """selectProtocol: a candidate with the most votes; ties are free. 0 stands for the choice of nobody."""
    nobody = True
    for member in group.members:
        if member.status == MEMBER and stays(member):
            nobody = False
            for other in range(max(member.first, member.second) + 1):
                if votes(group, other) > votes(group, protocol):
                    return False
    return protocol == 0 if nobody else candidate(group, protocol) and votes(group, protocol) > 0


def common(group, first, second):
    """supportsProtocols: the group has no members, or all of them support one of the protocols offered."""
    return supported_by_all(group, first) or supported_by_all(group, second)


def supported_by_all(group, protocol):
    """Whether all members support a protocol."""
    for member in group.members:
        if member.status == MEMBER and not supports(member, protocol):
            return False
    return True


def supported_with(group, id, first, second, protocol):
    """The same, if the member `id` offered these protocols."""
    for other in range(len(group.members) - 1):
        member = group.members[other]
        if member.status == MEMBER and other != id and not supports(member, protocol):
            return False
    return first == protocol or second == protocol


def votes_with(group, id, first, second, protocol):
    """How many members have `protocol` as the first in their list that all support, if `id` offered these."""
    n = 0
    for other in range(len(group.members) - 1):
        member = group.members[other]
        if member.status == MEMBER:
            best = first if other == id else member.first
            rest = second if other == id else member.second
            chosen = best if supported_with(group, id, first, second, best) else rest
            if chosen == protocol:
                n += 1
    return n


def protocol_stays(group, id, first, second):
    """Whether the group's protocol would be chosen again if the member `id` offered these; a tie is for it."""
    for member in group.members:
        for other in range(max(max(member.first, member.second), max(first, second)) + 1):
            if votes_with(group, id, first, second, other) > votes_with(group, id, first, second, group.protocol):
                return False
    return supported_with(group, id, first, second, group.protocol)
