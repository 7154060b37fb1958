"""Properties of asynchronous ISR changes."""

from kafkaproof.spec.async_isr.async_isr import LEADER, changed, high_watermark, is_counted
from kafkaproof.spec.async_isr.lemmas import asked_on_what_is_known, leader_stays, written_is_sent
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains, is_empty, union


def valid_high_watermark(s):
    """Every member of the ISR that the controller has written has all that is below the high watermark."""
    for r in range(len(s.offsets)):
        if contains(s.controller.isr, r) and s.offsets[r] < high_watermark(s):
            return False
    return True


def high_watermark_never_falls(before, after):
    """The high watermark never falls (D4)."""
    return high_watermark(after) >= high_watermark(before)


def follower_is_behind(s):
    """No follower has a record that the leader lacks."""
    for offset in s.offsets:
        if offset > s.offsets[LEADER]:
            return False
    return True


def known_is_written(s):
    """The controller and the leader know ISRs that were written; the leader's is no newer than the controller's."""
    return written_is_sent(s)


def leader_in_isr(s):
    """The leader is in every ISR that was written, and never asks for one without itself."""
    for version in range(len(s.updates)):
        if not leader_stays(s, version):
            return False
    return True


def asked_is_pending(s):
    """Pending are the members of all ISRs that the leader has asked for on the version that it knows, or nobody if it
    has asked for none. It has asked for nothing on a later version (Partition.submitAlterPartition).
    """
    asked = 0
    for r in range(len(s.offsets)):
        if contains(s.requests[s.leader.version], r):
            asked = union(asked, changed(s.leader.isr, r))
    for version in range(len(s.requests)):
        if not asked_on_what_is_known(s, version):
            return False
    return s.leader.pending == asked


def isr_by_request(before, after):
    """A written ISR has the next version. It lacks one follower of the version before, or is what the leader asked for
    on that version. What was sent of former versions stays.
    """
    old = before.controller
    new = after.controller
    for version in range(len(after.updates)):
        if version <= old.version and after.updates[version] != before.updates[version]:
            return False
    if new.version == old.version:
        return new.isr == old.isr
    by_right = False
    for r in range(len(after.offsets)):
        asked = contains(before.requests[old.version], r)
        if new.isr == changed(old.isr, r) and (asked or r != LEADER and contains(old.isr, r)):
            by_right = True
    return by_right and new.version == old.version + 1


def leaves_isr(before, after, replica):
    """A follower that the controller believes dead was in the ISR, and no longer is."""
    return contains(before.controller.isr, replica) and not contains(after.controller.isr, replica)


def requests_stay(before, after):
    """What the leader has asked for may be handled at any later time."""
    for version in range(len(after.requests)):
        for r in range(len(after.offsets)):
            if contains(before.requests[version], r) and not contains(after.requests[version], r):
                return False
    return True


def asks_to_remove(before, after, replica):
    """A leader that finds a follower too slow asks for its ISR without that follower (Partition.maybeShrinkIsr)."""
    asked = contains(after.requests[before.leader.version], replica)
    return asked and contains(before.leader.isr, replica) and replica != LEADER


def asks_to_add(before, after, replica):
    """A follower that a leader asks to add has reached the high watermark (Partition.maybeExpandIsr)."""
    asked = not contains(before.leader.isr, replica) and contains(after.requests[before.leader.version], replica)
    return asked and before.offsets[replica] >= high_watermark(before)


def knows_update(before, after, version):
    """The leader applies an update of a higher version than it knows, and then knows that version."""
    return before.leader.version < version and after.leader.version == version


def one_record(before, after):
    """At most one log grows, by one record, and logs never shrink."""
    grown = 0
    for r in range(len(after.offsets)):
        if after.offsets[r] < before.offsets[r]:
            return False
        grown += after.offsets[r] - before.offsets[r]
    return grown <= 1


def added_unknown(s):
    """The controller has added a member, and the leader does not know it yet."""
    for r in range(len(s.offsets)):
        if contains(s.controller.isr, r) and not contains(s.leader.isr, r) and s.offsets[r] > 0:
            return True
    return False


def shrunk_in_vain(s):
    """What the leader has asked for is on an older version than the controller has."""
    return s.leader.version < s.controller.version and not is_empty(s.requests[s.leader.version])


def waits_for_pending(s):
    """The high watermark waits for a follower that is not in the leader's ISR and lags behind."""
    for r in range(len(s.offsets)):
        behind = s.offsets[r] < s.offsets[0]
        if behind and is_counted(s.leader, r) and not contains(s.leader.isr, r):
            return True
    return False


def passed_the_removed(s):
    """The high watermark has passed a follower that was removed."""
    for r in range(len(s.offsets)):
        if s.offsets[r] < high_watermark(s):
            return True
    return False


def waits_no_more(s):
    """The high watermark has passed a follower that the leader once asked to add."""
    for version in range(len(s.updates)):
        for r in range(len(s.offsets)):
            asked = contains(s.requests[version], r) and not contains(s.updates[version], r)
            if asked and version < s.leader.version and s.offsets[r] < high_watermark(s):
                return True
    return False


SAFETY = (
    always(valid_high_watermark),
    always(follower_is_behind),
    always(known_is_written),
    always(leader_in_isr),
    always(asked_is_pending),
    always_step(high_watermark_never_falls),
    always_step(isr_by_request),
    always_step(leaves_isr, of=("controller_shrink_isr",)),
    always_step(requests_stay),
    always_step(asks_to_remove, of=("leader_request_shrink",)),
    always_step(asks_to_add, of=("leader_request_expand",)),
    always_step(knows_update, of=("leader_handle_update",)),
    always_step(one_record),
)
GOALS = (
    sometimes(added_unknown, log=1, versions=2),
    sometimes(shrunk_in_vain, versions=1),
    sometimes(waits_for_pending, log=1, versions=2),
    sometimes(passed_the_removed, log=1, versions=1),
    sometimes(waits_no_more, log=1, versions=3),
)
