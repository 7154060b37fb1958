"""Which protocol a group uses: the one with the most votes among those that all members support."""

from kafkaproof.spec.group.coordinator import JOIN_PARKED, MEMBER
from kafkaproof.spec.group.group_states import EMPTY
from kafkaproof.spec.language.sets import is_empty


def supports(member, protocol):
    """Whether a member supports a protocol."""
    return member.first == protocol or member.second == protocol


def stays(member):
    """Whether a member will be in the next generation: it has joined again, or is static (KIP-345)."""
    return member.parked == JOIN_PARKED or not is_empty(member.instance)


def candidate(group, protocol):
    """Whether all members that stay support a protocol."""
    for member in group.members:
        if member.status == MEMBER and stays(member) and not supports(member, protocol):
            return False
    return True


def votes(group, protocol):
    """The number of members that stay and have `protocol` as the first candidate in their list."""
    n = 0
    for member in group.members:
        if member.status == MEMBER and stays(member):
            chosen = member.first if candidate(group, member.first) else member.second
            if chosen == protocol:
                n += 1
    return n


def is_elected(group, protocol):
    """selectProtocol: whether `protocol` is a candidate with the most votes. Ties are free. 0: without members."""
    nobody = True
    for member in group.members:
        if member.status == MEMBER and stays(member):
            nobody = False
            for other in range(max(member.first, member.second) + 1):
                if votes(group, other) > votes(group, protocol):
                    return False
    return protocol == 0 if nobody else candidate(group, protocol) and votes(group, protocol) > 0


def supports_type(group, given, same):
    """supportsProtocols, of the protocol type: an Empty group takes any that is `given`, that is, not empty; another one
    takes its own only, `same`.

    Kafka: GroupMetadata.supportsProtocols, 2.1 to 3.9.
    """
    return given if group.state == EMPTY else same


def common(group, first, second):
    """supportsProtocols: whether the group has no members, or all of them support one of the protocols offered."""
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
    """The number of members whose first protocol that all support would be `protocol` if `id` offered these."""
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
    """Whether the group's protocol would be chosen again if the member `id` offered these. A tie keeps it."""
    for member in group.members:
        for other in range(max(max(member.first, member.second), max(first, second)) + 1):
            if votes_with(group, id, first, second, other) > votes_with(group, id, first, second, group.protocol):
                return False
    return supported_with(group, id, first, second, group.protocol)
