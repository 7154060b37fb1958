"""Mutants of the ISR whose changes travel: one deliberate mistake each, on the variant `maximal-isr`."""

from dataclasses import replace

from kafkaproof.spec.async_isr import async_isr as now
from kafkaproof.spec.async_isr.async_isr import LEADER, Replica, Version, changed, is_news, write_isr
from kafkaproof.spec.async_isr.model import counting, is_proposed, scope
from kafkaproof.spec.language.model import Transition, first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere
from kafkaproof.spec.language.sets import contains, is_empty, only, union, without_member


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
    """What the leader has asked for counts for ever."""
    if version > s.controller.version or not is_news(s, version):
        return False

    s.leader.isr = s.updates[version]
    s.leader.version = version
    return True


def always_more(s, replica: Replica):
    """A follower appends a record that its leader has not."""
    s.offsets[replica] += 1
    return True


def write_without_version(s, isr):
    """The controller writes an ISR under the version that it has."""
    s.controller.isr = isr


def shrink_anybody(s, replica: Replica):
    """The controller takes the leader out of the ISR, and lets it lead."""
    if not contains(s.controller.isr, replica):
        return False

    write_isr(s, without_member(s.controller.isr, replica))
    return True


def write_again(s, isr):
    """The controller writes the next version, and the ISR stays."""
    s.controller.version += 1
    s.updates[s.controller.version] = s.controller.isr


def write_nothing(s, isr):
    """The controller decides on an ISR, and does not write it."""
    pass


def forget_former(s, replica):
    """A new request replaces the one before on its way."""
    version = s.leader.version
    s.requests[version] = only(replica)
    s.leader.pending = union(s.leader.pending, changed(s.leader.isr, replica))


def ask_nothing(s, replica):
    """The leader counts what it asks for, and sends nothing."""
    s.leader.pending = union(s.leader.pending, changed(s.leader.isr, replica))


def take_without_version(s, version: Version):
    """The leader takes the ISR of an update, and not its version."""
    if version > s.controller.version or not is_news(s, version):
        return False

    s.leader.isr = s.updates[version]
    s.leader.pending = 0
    return True


def fetch_all(s, replica: Replica):
    """A follower appends two records at once."""
    if s.offsets[replica] >= s.offsets[LEADER] - 1:
        return False

    s.offsets[replica] += 2
    return True


def mutant(name, replacements, at, text="", kills="valid_high_watermark"):
    """A mutant, told by `text` or by the docstring of what replaces something."""
    return Mutant(name, text or first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


def recounted(name, count, at):
    """A mutant whose high watermark waits for other replicas."""
    return Mutant(name, first_paragraph(count), "valid_high_watermark", lambda model: counting(count), at)


PAIR, THREE = scope(versions=1), scope(brokers=3)
MAXIMAL_ISR = (
    recounted("hw-by-isr", is_in_isr, scope()),
    Mutant(
        "hw-by-proposed-isr",
        "The high watermark waits for the proposed ISR alone.",
        "valid_high_watermark",
        lambda model: counting(is_proposed),
        PAIR,
    ),
    mutant("pending-replaced", {now.ask: ask_anew}, THREE),
    Mutant(
        "pending-given-up",
        first_paragraph(give_up),
        "valid_high_watermark",
        lambda model: replace(model, transitions=(*model.transitions, Transition(give_up, "leader"))),
        scope(),
    ),
    mutant("shrunk-at-once", {now.leader_request_shrink: shrink_at_once}, PAIR),
    mutant(
        "request-of-any-version", {now.is_current: any_version}, THREE, "The controller obeys requests on any version."
    ),
    mutant("update-of-any-version", {now.is_news: any_version}, scope(), "The leader takes updates of any version."),
    mutant(
        "expand-before-hw", {now.has_reached: always_reached}, scope(versions=1), kills="high_watermark_never_falls"
    ),
    mutant("pending-kept", {now.leader_handle_update: keep_pending}, PAIR, kills="asked_is_pending"),
    mutant("ahead-of-leader", {now.follower_replicate: always_more}, PAIR, kills="follower_is_behind"),
    mutant("version-kept", {now.write_isr: write_without_version}, PAIR, kills="known_is_written"),
    mutant("leader-removed", {now.controller_shrink_isr: shrink_anybody}, PAIR, kills="leader_in_isr"),
    mutant("isr-written-again", {now.write_isr: write_again}, PAIR, kills="isr_by_request"),
    mutant("isr-unwritten", {now.write_isr: write_nothing}, PAIR, kills="leaves_isr"),
    mutant("request-replaced", {now.ask: forget_former}, scope(brokers=3, versions=1), kills="requests_stay"),
    mutant("removal-unasked", {now.ask: ask_nothing}, PAIR, kills="asks_to_remove"),
    mutant("joins-too-early", {now.has_reached: always_reached}, PAIR, kills="asks_to_add"),
    mutant("update-again", {now.leader_handle_update: take_without_version}, PAIR, kills="knows_update"),
    mutant("two-records-at-once", {now.follower_replicate: fetch_all}, scope(log=2, versions=1), kills="one_record"),
)
MUTANTS = {"maximal-isr": MAXIMAL_ISR}
