"""Takes steps of *group* on situations: a transition of the specification, and then what its state leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

from kafkaproof.spec.group import faults, join, loading, membership, network, offsets, static, sync
from kafkaproof.spec.group.clock import begins_anew
from kafkaproof.spec.group.group_states import COMPLETING_REBALANCE, EMPTY, PREPARING_REBALANCE
from kafkaproof.spec.group.history.unlocked import coordinator as unlocked
from kafkaproof.spec.group.records import GROUP_RECORD, OFFSET_RECORD, STATIC_RECORD
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.group.storage import NOT_ENOUGH_REPLICAS, TOO_LARGE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.language.sets import only
from kafkaproof.traces.wire.groups.answers import answer_of, why_not
from kafkaproof.traces.wire.groups.calls import COMMIT, FETCH, HEARTBEAT, JOIN, LEAVE, NONE, SYNC, Call
from kafkaproof.traces.wire.groups.machine import Asked, Machine, Network
from kafkaproof.traces.wire.groups.names import Names
from kafkaproof.traces.wire.groups.situation import APPENDS, Content, Member, Side, Situation, Storage, Told

REFUSALS = range(NOT_ENOUGH_REPLICAS, TOO_LARGE + 1)
PROMPTLY = 1_000
"""So many ms after it has accepted a LeaderAndIsr a coordinator has begun to load or has given up."""
READING = (membership.heartbeat, offsets.fetch)
"""Steps that give an answer and change nothing."""
KINDS = {JOIN: network.JOIN, SYNC: network.SYNC, LEAVE: network.LEAVE}
_NO_PRODUCER = SimpleNamespace(position=NOWHERE)


class Step(NamedTuple):
    """A step that was taken by broker `b`: of which call, if any, what it asked and was answered, and before it the appends
    under way and the length of the log.
    """

    function: Callable
    b: int
    arguments: tuple[int, ...]
    call: Call | None
    asking: Asked
    verdict: int | None
    appends: Plain
    length: int


class Steps:
    """The steps of one group; `flying` has the requests that may still be taken up or answered, by number.

    `heard`: of each broker, until when (ms) it has heard of how many elections of the group's partition.
    """

    def __init__(self, machine: Machine, names: Names, heard: Mapping[int, list[tuple[int, int]]]):
        self.machine, self.names, self._heard = machine, names, heard
        self.flying: dict[int, Call] = {}

    def place_of(self, call: Call) -> int:
        """The number of the broker that a request goes to."""
        return self.names.place(call.broker)

    def place(self, m: int) -> int:
        """The number of the broker that a request in flight goes to."""
        return self.place_of(self.flying[m])

    # Requests

    def handled(self, at: Situation, m: int) -> Iterator[Situation]:
        """The situations after a broker has taken up a request, however that may go."""
        call = self.flying[m]
        b = self.names.place(call.broker)
        record = at.sides[b].record
        due = max((n for time, n in self._heard.get(call.broker, ()) if time + PROMPTLY <= call.time), default=0)
        if record.epoch < due or record.appends.length + 2 > APPENDS:
            return
        asking = self._asking(call, m)
        for function, arguments in self._ways(call, at.sides[b], asking, m):
            after = self.take(at, function, b, *arguments, asking=asking, m=m)
            if after is not None:
                yield after

    def _asking(self, call: Call, m: int) -> Asked:
        names = self.names
        known = int(bool(call.member))
        alone = call.stands_alone and call.api in (COMMIT, FETCH)
        id = NOBODY if alone else names.number(call.member) if known else names.drawn(m, call)
        instance = 0 if call.instance is None else only(names.instance(call.instance))
        kind = KINDS.get(call.api, network.WORK)
        return Asked(kind, id, known, call.generation, int(bool(call.assigned)), instance, int(call.told))

    def _ways(self, call: Call, side: Side, asking: Asked, m: int) -> Iterator[tuple[Callable, tuple[int, ...]]]:
        """The transitions that may take up a request, with their arguments behind the broker's."""
        group = side.record.group
        if call.api == JOIN:
            offered = self.names.offered(call)
            if not asking.known:
                yield join.first_join, (m, 0, *offered)
                yield static.static_join, (m, 0, *offered)
            else:
                member = side.members.get(asking.id)
                changed = member is None or not _says_the_same(member, call)
                yield join.join, (m, 0, *offered, int(changed))
        elif call.api == SYNC:
            present = side.present()
            owners = [n for n in present if call.assigned.get(side.members[n].name)] or present
            yield sync.sync, (m, 0, owners[0] if call.assigned and owners else NOBODY)
            yield from ((sync.sync_refused, (m, 0, error)) for error in REFUSALS if may_fail(call))
        elif call.api == HEARTBEAT:
            yield membership.heartbeat, (m,)
        elif call.api == LEAVE:
            for heir in dict.fromkeys((group.leader, *side.present(), NOBODY)):
                if call.member:
                    yield membership.leave, (m, heir)
                elif call.instance is not None:
                    yield static.remove_static, (self.names.instance(call.instance), heir)
        elif call.api == FETCH:
            yield offsets.fetch, (int(call.stable),)
        elif call.stands_alone:
            yield offsets.reset_offset, ()
        else:
            yield offsets.commit, (m, 0)
            yield from ((offsets.commit_refused, (m, error)) for error in REFUSALS if may_fail(call))

    # One step

    def take(
        self,
        at: Situation,
        function: Callable,
        b: int | None,
        *arguments: int,
        asking: Asked | None = None,
        m: int = 0,
        clock: int = 0,
    ) -> Situation | None:
        """The situation after a step, None where the variant has none such or it is not enabled; `b`: the broker that
        takes it, None where it is no broker's.
        """
        bound = self.machine.step(function)
        if bound is None:
            return None
        sides, storage, seen = list(at.sides), at.storage, Network(asking or Asked(), m)
        if function in READING and b is not None:
            sides[b] = replace(sides[b])
        else:
            storage = storage.copy()
            for each in range(len(sides)) if b is None else (b,):
                sides[each] = sides[each].copy()
        state = SimpleNamespace(
            brokers=[side.record for side in sides], network=seen, storage=storage, producer=_NO_PRODUCER
        )
        if function is faults.fail_over:
            storage.loosen(storage.committed)
        if not bound(state, *(() if b is None else (b,)), *arguments):
            return None
        after = at.but(sides=tuple(sides), storage=storage, clock=max(at.clock, clock))
        if b is None:
            storage.cut()
            return after
        if (append := self.machine.step(unlocked.append)) and sides[b].record.prepared.length:
            append(state, b, 0)
        call = self.flying[m] if asking else None
        appends, length = at.sides[b].record.appends, at.storage.log.length
        step = Step(function, b, arguments, call, asking or Asked(), seen.verdict, appends, length)
        self._note(at, after, step)
        return self._answered(after, step, m if asking else None, seen)

    def _answered(self, after: Situation, step: Step, m: int | None, seen: Network) -> Situation:
        """Note what the step has answered."""
        told = dict(after.told)
        for each in seen.given:
            call = self.flying.get(each.m)
            if call is None or call.answer is None or each.verdict == _BROKEN:
                continue
            replaces = step.function is static.static_stored
            given = answer_of(call, each, after.sides[step.b], self.names, replaces)
            told[each.m] = Told(Transition(step.function).name, why_not(call, given))
        return after.but(waiting=after.waiting - {m}, told=told)

    # What the specification's state leaves out

    def _note(self, at: Situation, after: Situation, step: Step) -> None:
        before, side = at.sides[step.b], after.sides[step.b]
        group, state = side.record.group, before.record.group.state
        if step.call:
            after.clock = max(after.clock, step.call.time)
            self._note_request(before, side, step, step.call)
        self._note_appended(side, after.storage, step)
        if step.function in (sync.group_stored, offsets.offset_stored):
            self._note_stored(side, after.storage, step.appends.slots[step.arguments[0]], group.state != state)
        if step.function in (join.complete_join, join.join_timeout, loading.load):
            side.since.update(dict.fromkeys(side.present(), after.clock))
        if group.state != state and group.state in (EMPTY, PREPARING_REBALANCE, COMPLETING_REBALANCE):
            side.began = after.clock
        if group.offset == NOWHERE and before.record.group.offset != NOWHERE:
            side.offsets.clear()
        if step.function is loading.read:
            self._note_read(side, after.storage, side.record.read - 1)
        if step.function is faults.crash:
            after.sides = (*after.sides[: step.b], Side(side.record), *after.sides[step.b + 1 :])

    def _note_request(self, before: Side, side: Side, step: Step, call: Call) -> None:
        """Note when a member was heard of, and what it says when it joins, perhaps in place of its former self."""
        id, kind = step.asking.id, _KINDS_OF_WORK.get(call.api, step.asking.kind)
        if id != NOBODY and begins_anew(kind, step.verdict):
            side.since = {**side.since, id: max(side.since.get(id, 0), call.time)}
        if call.api != JOIN or step.verdict not in (network.PARKED, network.STORED, network.MEMBER_ID_REQUIRED):
            return
        instances = {before.members[n].instance: n for n in before.present() if n != id}
        same = None if call.instance is None else instances.get(call.instance)
        former = before.members.get(id if same is None else same)
        instance = former.instance if former and call.instance is None else call.instance
        assignment = former.assignment if former else b""
        name = self.names.name(id)
        side.members[id] = Member(name, instance, call.protocols, call.session, call.rebalance, assignment)
        if same is not None:
            side.former[id] = same

    def _note_appended(self, side: Side, storage: Storage, step: Step) -> None:
        """Note what the records say that were appended."""
        call = step.call
        for position in range(step.length, storage.log.length):
            record, content = storage.log.slots[position], Content()
            if record.kind in (GROUP_RECORD, STATIC_RECORD):
                brought = call.assigned if call and call.api == SYNC else None
                protocol = self.names.protocol(record.protocol)
                members = ((n, self._as_stored(side.members[n], protocol, brought)) for n in side.present())
                content = Content(tuple(members))
            elif record.kind == OFFSET_RECORD and call:
                content = Content(offsets=tuple(sorted(call.offsets.items())))
            storage.note(content, position)

    @staticmethod
    def _as_stored(member: Member, protocol: str | None, brought: dict[str, bytes] | None) -> Member:
        """A member as the log has it: of its protocols only the chosen one."""
        assignment = member.assignment if brought is None else brought.get(member.name, b"")
        kept = tuple(each for each in member.protocols if each[0] == protocol)
        return member._replace(protocols=kept, assignment=assignment)

    def _note_stored(self, side: Side, storage: Storage, append: Plain, is_awaited: bool) -> None:
        """Note what members get once an assignment is stored that is awaited, or which offsets are committed."""
        if append.position == NOWHERE:
            return
        content = storage.contents[append.position]
        for n, member in content.members if is_awaited else ():
            side.members[n] = side.members[n]._replace(assignment=member.assignment)
        for place, offset in () if append.orphan else content.offsets:
            cached = side.offsets.get(place, (NOWHERE, None))[0]
            if self.machine.later(cached, append.position) == append.position:
                side.offsets[place] = append.position, offset

    def _note_read(self, side: Side, storage: Storage, position: int) -> None:
        content = storage.contents[position]
        side.members.update(content.members)
        side.offsets.update({place: (position, offset) for place, offset in content.offsets})


def may_fail(call: Call) -> bool:
    """Whether a request may have been answered with an error, as far as is known."""
    return call.answer is None or call.answer.verdict != NONE


_KINDS_OF_WORK = {COMMIT: network.COMMIT, FETCH: network.NOTHING}
_BROKEN = network.Verdict.names[network.DISCONNECTED]


def _says_the_same(member: Member, call: Call) -> bool:
    """Whether a join offers what its member has offered before, of what the coordinator still knows."""
    known = dict(member.protocols)
    return all(known.get(name, metadata) == metadata for name, metadata in call.protocols)
