"""Mutants of the ISR whose changes travel: one deliberate mistake each, on the variant `maximal-isr`."""

from dataclasses import replace

from spec import async_isr as now
from spec.async_isr import LEADER, Replica, Version, changed, is_news
from spec.language.model import Transition, first_paragraph
from spec.language.sets import contains, is_empty, only, union, without_member
from spec.museum.async_isr import counting, is_proposed, scope
from spec.mutants.mutant import Mutant, everywhere


def is_in_isr(leader, replica):
    """The high watermark waits for the leader's ISR alone, not for what it has asked for."""
    return contains(leader.isr, replica)


def ask_anew(s, replica):
    """A new request replaces what is pending."""
    version = s.leader.version
    s.requests[version] = union(s.requests[version], only(replica))
    s.leader.pending = changed(s.leader.isr, replica)


def any_version(s, version):
    """Requests are obeyed, or updates taken, whatever their version."""
    return True


def always_reached(s, replica):
    """A follower is added that has not reached the high watermark."""
    return True


def shrink_at_once(s, replica: Replica):
    """The leader takes a follower out of its own ISR when it asks for that."""
    if replica == LEADER or not contains(s.leader.isr, replica):
        return False

    version = s.leader.version
    s.requests[version] = union(s.requests[version], only(replica))
    s.leader.isr = without_member(s.leader.isr, replica)
    return True


def give_up(s):
    """A leader that has waited for long takes what it has asked for as refused."""
    if is_empty(s.leader.pending):
        return False

    s.leader.pending = 0
    return True


def keep_pending(s, version: Version):
    """What the leader has asked for counts for ever (as many states, in which it waits for more)."""
    if version > s.controller.version or not is_news(s, version):
        return False

    s.leader.isr = s.updates[version]
    s.leader.version = version
    return True


def mutant(name, replacements, at, text="", kills="valid_high_watermark"):
    """A mutant, told by `text` or by the docstring of what replaces something."""
    return Mutant(name, text or first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


def recounted(name, count, at):
    """A mutant whose high watermark waits for other replicas."""
    return Mutant(name, first_paragraph(count), "valid_high_watermark", lambda model: counting(count), at)


PAIR, THREE = scope(2, 1, 1), scope(3, 1, 2)
MUTANTS = (
    recounted("hw-by-isr", is_in_isr, scope(2, 1, 2)),
    Mutant("hw-by-proposed-isr", "The high watermark waits for the proposed ISR alone.", "valid_high_watermark",
           lambda model: counting(is_proposed), PAIR),
    mutant("pending-replaced", {now.ask: ask_anew}, THREE),
    Mutant("pending-given-up", first_paragraph(give_up), "valid_high_watermark",
           lambda model: replace(model, transitions=(*model.transitions, Transition(give_up, "leader"))),
           scope(2, 1, 2)),
    mutant("shrunk-at-once", {now.leader_request_shrink: shrink_at_once}, PAIR),
    mutant("request-of-any-version", {now.is_current: any_version}, THREE,
           "The controller obeys requests on any version."),
    mutant("update-of-any-version", {now.is_news: any_version}, scope(2, 1, 2),
           "The leader takes updates of any version."),
    mutant("expand-before-hw", {now.has_reached: always_reached}, scope(2, 1, 1), kills="high_watermark_never_falls"),
    Mutant("pending-kept", first_paragraph(keep_pending), "", everywhere({now.leader_handle_update: keep_pending}),
           THREE, {(3, 1, 2): (1460, 14, None, None)}),
)
