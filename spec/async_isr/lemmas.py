"""Lemmas of the ISR whose changes travel: why the high watermark stays valid, for any number of versions, records."""

from kafkaproof.spec.async_isr.async_isr import LEADER, Replica, Version, changed
from kafkaproof.spec.language.sets import contains, difference, is_empty, union


def written_is_sent(s):
    """What the controller and the leader know are updates, the leader's no newer."""
    controller = s.controller
    leader = s.leader
    if leader.version > controller.version:
        return False
    return controller.isr == s.updates[controller.version] and leader.isr == s.updates[leader.version]


def leader_stays(s, version: Version):
    """The leader is in every ISR that was written, and asks for none without itself."""
    return version > s.controller.version or (
        contains(s.updates[version], LEADER) and not contains(s.requests[version], LEADER)
    )


def asked_on_what_is_known(s, version: Version):
    """Nothing was asked for on a version that the leader does not know yet."""
    return version <= s.leader.version or is_empty(s.requests[version])


def asked_is_pending(s, replica: Replica):
    """Who is in an ISR that was asked for on the leader's version is pending."""
    asked = changed(s.leader.isr, replica)
    return not contains(s.requests[s.leader.version], replica) or is_empty(difference(asked, s.leader.pending))


def written_is_counted(s, version: Version):
    """Who is in an ISR that was written since, is counted."""
    if version < s.leader.version or version > s.controller.version:
        return True
    return is_empty(difference(s.updates[version], union(s.leader.isr, s.leader.pending)))


def later_is_smaller(s, version: Version, later: Version):
    """Of two ISRs that the leader does not know, the later is the smaller: it was asked for neither."""
    if version <= s.leader.version or later < version or later > s.controller.version:
        return True
    return is_empty(difference(s.updates[later], s.updates[version]))


MAXIMAL_ISR = (
    written_is_sent,
    leader_stays,
    asked_on_what_is_known,
    asked_is_pending,
    written_is_counted,
    later_is_smaller,
)
