"""What a step answers a request, beside what the wire says."""

from __future__ import annotations

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.wire.groups.calls import FETCH, JOIN, NO_OFFSET, NONE, SYNC, Answer, Call, Listed
from kafkaproof.traces.wire.groups.machine import Given
from kafkaproof.traces.wire.groups.names import Names
from kafkaproof.traces.wire.groups.situation import Side


def answer_of(call: Call, given: Given, side: Side, names: Names, replaces: bool) -> Answer:
    """What a step of a broker answers a request; with `replaces` to a static member that has come back: one that leads is
    told of its former self.
    """
    verdict, group = given.verdict, side.record.group
    if call.api == JOIN and given.id != NOBODY:
        protocol = names.protocol(group.protocol)
        leader = side.former.get(group.leader, group.leader) if replaces and group.leader == given.id else group.leader
        members = [side.members[n] for n in side.present()] if given.leading else []
        return Answer(
            verdict,
            given.generation,
            protocol if verdict == NONE else None,
            names.name(leader) if verdict == NONE and leader != NOBODY else "",
            names.name(given.id),
            frozenset(Listed(each.name, each.instance, each.metadata(protocol)) for each in members),
        )
    if verdict == NONE and call.api == SYNC:
        member = side.members.get(names.number(call.member))
        return Answer(verdict, protocol=names.protocol(group.protocol), assignment=member.assignment if member else b"")
    if verdict == NONE and call.api == FETCH:
        return Answer(verdict, offsets={place: offset for place, (_, offset) in side.offsets.items()})
    return Answer(verdict)


def why_not(call: Call, given: Answer) -> str | None:
    """What a step answers, in words, where the wire says something else; None where it says the same."""
    seen = call.answer
    assert seen
    if seen.verdict != given.verdict:
        return given.verdict
    if seen.verdict != NONE:
        return None if not given.member or seen.member == given.member else f"member {given.member}"
    if call.api == JOIN:
        return _why_not_joined(seen, given)
    if call.api == SYNC:
        if seen.protocol not in (None, given.protocol):
            return f"protocol {given.protocol}"
        return None if seen.assignment == given.assignment else f"an assignment of {len(given.assignment)} bytes"
    return _why_not_fetched(call, seen, given) if call.api == FETCH else None


def _why_not_joined(seen: Answer, given: Answer) -> str | None:
    for what in ("generation", "protocol", "member"):
        if getattr(seen, what) != getattr(given, what):
            return f"{what} {getattr(given, what)}"
    if seen.spared:
        return None
    if seen.leader != given.leader:
        return f"leader {given.leader}"
    if {_listed(each, seen) for each in seen.members or ()} != {_listed(each, seen) for each in given.members or ()}:
        told = ", ".join(sorted(each.name for each in given.members or ())) or "none"
        return f"the list of members {told}"
    return None


def _listed(each: Listed, seen: Answer) -> Listed:
    """A member of the list, without its group.instance.id where the version of the answer has none."""
    named = any(each.instance is not None for each in seen.members or ())
    return each if named else each._replace(instance=None)


def _why_not_fetched(call: Call, seen: Answer, given: Answer) -> str | None:
    own, told = given.offsets or {}, seen.offsets or {}
    if call.places is not None and told.keys() != {*call.places}:
        return f"offsets of {len(call.places)} other partitions"
    places = sorted({*own, *told}) if call.places is None else call.places
    for place in places:
        known, found = own.get(place, NO_OFFSET), told.get(place, NO_OFFSET)
        if not call.exact:
            known = known._replace(leader_epoch=found.leader_epoch)
        if known != found:
            return f"offset {known.offset} of {place[0]}-{place[1]}"
    return None
