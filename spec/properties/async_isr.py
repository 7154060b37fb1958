"""Properties of the ISR whose changes travel."""

from spec.async_isr import high_watermark, is_counted
from spec.language.model import always, always_step, sometimes
from spec.language.sets import contains, is_empty


def valid_high_watermark(s):
    """Every member of the ISR that the controller has written has all that is below the high watermark."""
    for r in range(len(s.offsets)):
        if contains(s.controller.isr, r) and s.offsets[r] < high_watermark(s):
            return False
    return True


def high_watermark_never_falls(before, after):
    """The high watermark never falls (D4)."""
    return high_watermark(after) >= high_watermark(before)


def added_unknown(s):
    """The controller has added a member, and the leader does not know."""
    for r in range(len(s.offsets)):
        if contains(s.controller.isr, r) and not contains(s.leader.isr, r) and s.offsets[r] > 0:
            return True
    return False


def shrunk_in_vain(s):
    """What the leader has asked for is on an older version than the controller has."""
    return s.leader.version < s.controller.version and not is_empty(s.requests[s.leader.version])


def waits_for_pending(s):
    """The high watermark waits for a follower that is not in the leader's ISR, and is behind."""
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


SAFETY = (always(valid_high_watermark), always_step(high_watermark_never_falls))
GOALS = (
    sometimes(added_unknown, log=1, versions=2),
    sometimes(shrunk_in_vain, versions=1),
    sometimes(waits_for_pending, log=1, versions=2),
    sometimes(passed_the_removed, log=1, versions=1),
    sometimes(waits_no_more, log=1, versions=3),
)
