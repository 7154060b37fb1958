"""Follows the group coordinator of one process through *group*, line by line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from zlib import crc32

from kafkaproof.checker.model.refusals import refusal_of
from kafkaproof.spec.group import loading, network
from kafkaproof.spec.group.coordinator import GONE
from kafkaproof.spec.group.deletion import delete_group, delete_offset, remove_dead
from kafkaproof.spec.group.group_states import GroupState
from kafkaproof.spec.group.network import (
    JOIN,
    LEAVE,
    MEMBER_ID_REQUIRED,
    NONE,
    PARKED,
    STORED,
    SYNC,
    UNANSWERED,
    WORK,
    Verdict,
)
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Model, Property
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.steps import arguments_of
from kafkaproof.spec.running.coordinators import MODEL, PROTOTYPE, UNKNOWN, bound, digest_of
from kafkaproof.traces.processes.groups.appends import Appends
from kafkaproof.traces.processes.groups.group import Group
from kafkaproof.traces.processes.groups.storage import OffsetsLog, Storage
from kafkaproof.traces.processes.groups.view import TRANSITIONS, View
from kafkaproof.traces.processes.recorded.group_lines import Answer, Asked, GroupLine
from kafkaproof.traces.processes.recorded.offset_records import Entry
from kafkaproof.traces.processes.state.result import Divergence
from kafkaproof.traces.processes.state.watched import before

OF_LOADING = {each.__name__ for each in (loading.take_over, loading.read, loading.load, loading.unload)}
"""Steps before which a broker looks who leads the offsets partition."""
ENDING = {loading.unload.__name__, remove_dead.__name__}
"""Steps after which a broker does not have the group any more."""
NO_GENERATION, NO_OFFSET = -1, -1


@dataclass(frozen=True)
class Taken:
    """What a step breaks: properties of steps, and those of states that do not hold after it."""

    broken: tuple[Property, ...] = ()
    states: tuple[Property, ...] = ()


class Steps:
    """The transitions of *group* with their seams to a recording; `verdict` is what the last one answered, `waiter` who
    waits for the answer of the present one, `instance` its group.instance.id, both as sets, and `told` whether it may be
    told a member id.
    """

    def __init__(self, model: Model = MODEL):
        self.verdict: int | None = None
        self.waiter = self.instance = 0
        self.told = 1
        watched: dict[Callable, Callable] = {
            each: self._noting(each) for each in (network.answer, network.answer_operator)
        }
        watched[network.operator] = lambda _: self.waiter
        watched[network.instance] = lambda _, m: self.instance
        watched[network.may_be_told_id] = lambda _, m: self.told
        self.functions: dict[str, Callable] = {
            function.__name__: rebind(function, watched) for function in bound(model, None, Storage).values()
        }

    def _noting(self, answer):
        def call(*arguments):
            self.verdict = answer(*arguments)
            return self.verdict

        return call


class Coordinator:
    """The groups of one process of broker `b`, by name.

    `log` is the offsets partition there; `batches` what batches say, by id; `answered` for each group the commits that
    were answered, and `deleted` those that were deleted, whoever did it. `changes` tells of each leader that it has heard
    of whether it was itself.
    """

    def __init__(
        self,
        b: int,
        log: OffsetsLog,
        steps: Steps,
        batches: Mapping[int, tuple[Entry, ...]],
        answered: Mapping[str, set[int]],
        deleted: Mapping[str, set[int]],
    ):
        self._b, self._log, self._steps = b, log, steps
        self._batches, self._answered, self._deleted = batches, answered, deleted
        self._appends = Appends(log, batches)
        self.changes: list[bool] = []
        self._epoch: int | None = None
        self.groups = {PROTOTYPE: Group(PROTOTYPE, b, log, self.changes, batches, None)}

    # What happens to the offsets partition

    def look(self) -> None:
        """Note a change of the leader, as the broker does when it hears of it, and before it loads or unloads."""
        epoch, leader = self._log.news()
        if epoch != self._epoch and leader != NOBODY:
            self._epoch = epoch
            self.changes.append(self._log.leads())

    def settle(self, acked: set[int]) -> None:
        """A step of the data plane has answered these batches: note what has become of appends."""
        for group in self.groups.values():
            group.storage.settle(acked)

    # Lines

    def take(self, line: GroupLine, produced: int | None, acked: set[int]) -> Taken:
        """Take the step of a line; raises Divergence.

        `produced` is the id of the batch that was appended to the offsets partition right before; `acked` those that
        this step of the data plane has answered.
        """
        if line.step is None and not line.forgets:
            self._begin(line)
            taken = Taken()
        elif line.group not in self.groups:
            raise Divergence("there is no such group yet")
        elif line.step is None:
            self._appends.hold_forgotten(self.groups[line.group], line, produced)
            taken = Taken()
        else:
            taken = self._step(self.groups[line.group], line, produced, acked)
        if digest_of(self.groups[line.group].record) != line.state:
            raise Divergence(
                f"the group's record after it has another hash; in the specification "
                f"{self._situation(self.groups[line.group])}"
            )
        return taken

    def _begin(self, line):
        if line.group in self.groups:
            raise Divergence("the group is there already")
        known = self.groups[PROTOTYPE].record
        group = Group(line.group, self._b, self._log, self.changes, self._batches, known)
        group.storage.answered, group.storage.deleted = self._answered[line.group], self._deleted[line.group]
        group.scan()
        self.groups[line.group] = group

    def _step(self, group: Group, line: GroupLine, produced, acked) -> Taken:
        name, arguments = line.taken.name, line.taken.arguments
        if name in (delete_group.__name__, delete_offset.__name__):
            group.doomed = tuple(group.offsets)
        function = self._steps.functions[name]
        wanted = arguments_of(function)
        if set(arguments) != set(wanted) or arguments["b"] != self._b:
            raise Divergence(f"its arguments are not {', '.join(wanted)}, with b={self._b}")
        if name in OF_LOADING:
            self.look()
        self._receive(group, line)
        group.changes.clear()
        group.messages.clear()
        offset = group.record.group.offset
        self._steps.verdict, group.storage.written = None, None
        self._steps.waiter = network.waiter(line.asked.m, 0) if line.asked else 0
        self._steps.instance = group.instance_set(line.asked.instance) if line.asked else 0
        self._steps.told = line.asked.told if line.asked else 1
        former = group.name_with(self._steps.instance)
        group.storage.recorded = line.append[0] if line.append else None
        values = [arguments[argument] for argument in wanted]
        if not function(group.state, *values):
            why = refusal_of(function, MODEL.state, group.state, *values)
            raise Divergence(f"it is not enabled: {why}; {self._situation(group)}")
        self._note_names(group, line.asked, former)
        self._hold_answers(group, line)
        self._appends.hold(group, line, produced)
        place = self._appends.note(group, line, acked)
        group.install_offset(offset)
        if name == loading.load.__name__:
            group.scan()
        taken = self._judge(group, line, place)
        if name in ENDING:
            group.forget()
        return taken

    def _judge(self, group, line, place) -> Taken:
        known = before(group.record, group.changes)
        if known == group.record and place == NOWHERE:
            return Taken()
        view = View(group, self._log, self.changes, known, before(group.network, group.messages), place)
        broken = view.broken_by_step(TRANSITIONS[line.taken.name], line.taken.arguments)
        return Taken(tuple(broken), tuple(view.broken()))

    def _situation(self, group: Group) -> str:
        record = group.record
        here = "loading" if record.loading else "owned" if record.owned else "not owned"
        return (
            f"the group is {GroupState.names[record.group.state]} in generation {record.group.generation} with "
            f"{len(group.present())} members, and the partition {here}"
        )

    # Requests

    def _receive(self, group: Group, line: GroupLine) -> None:
        """Put a request into the network while its step is taken; it must be from the member that it names."""
        asked = line.asked
        if asked is None:
            return
        if asked.m in group.kept or line.taken.arguments.get("m", asked.m) != asked.m:
            raise Divergence(f"client {asked.m} waits for another answer, or is not the one of the step")
        self._hold_identity(group, asked)
        group.make_room(asked.m)
        group.clear_client(asked.m)
        late = asked.kind == LEAVE
        request = (group.network.late if late else group.network.requests)[asked.m]
        network.put_request(request, asked.kind, asked.id, asked.known, asked.generation, asked.leading)
        group.kept[asked.m] = asked
        offered = [group.protocol_number(name) for name in asked.protocols]
        arguments = line.taken.arguments
        if "first" in arguments and [arguments["first"], arguments["second"]] != [*offered[:1], *offered[-1:]]:
            raise Divergence(f"the protocols {', '.join(asked.protocols)} have the numbers {offered}")

    def _hold_identity(self, group, asked):
        members = group.record.group.members
        if asked.known:
            if group.number_of(asked.name) != asked.id:
                raise Divergence(f"{asked.name!r} has the number {group.number_of(asked.name)}, not {asked.id}")
        elif asked.kind == JOIN:
            taken = {each.id for each in group.kept.values()}
            if asked.id == UNKNOWN or members[asked.id].status != GONE or asked.id in taken:
                raise Divergence(f"the number {asked.id} is not free")

    def _note_names(self, group, asked, former):
        taken = self._steps.verdict in (MEMBER_ID_REQUIRED, PARKED, STORED)
        if asked and asked.kind == JOIN and not asked.known and taken:
            group.names[asked.id] = asked.name
            if former is not None:
                group.replaced[asked.name] = former
                group.assignments[asked.name] = group.assignments.get(former, b"")

    # Answers

    def _hold_answers(self, group: Group, line: GroupLine) -> None:
        """Hold what was answered to what the step has put into the network."""
        verdict = self._steps.verdict
        named = None if verdict is None else Verdict.names[verdict]
        if line.taken.answer != named:
            raise Divergence(f"the answer was {line.taken.answer}; in the specification it is {named}")
        due = dict(self._answers(group, line))
        given = {answer.m: answer.verdict for answer in line.answers}
        if given != due or len(given) != len(line.answers):
            raise Divergence(f"it answered {_told(given)}; in the specification {_told(due)}")
        for answer in line.answers:
            self._hold_content(group, answer, group.kept[answer.m])
        for m in due:
            group.clear_client(m)
            del group.kept[m]

    def _answers(self, group, line):
        """Whom the step answers, and with what."""
        verdict, asked = self._steps.verdict, line.asked
        for m, kept in group.kept.items():
            put, request = group.network.answers[m].verdict, group.network.requests[m]
            if put != UNANSWERED:
                yield m, put
            elif asked and m == asked.m:
                if verdict not in (PARKED, STORED):
                    yield m, verdict
                elif request.kind == WORK:
                    network.drop_request(request)
            elif kept.kind == WORK and request.kind == WORK:
                yield m, NONE

    def _hold_content(self, group: Group, answer: Answer, asked: Asked) -> None:
        expected = {}
        if asked.kind == JOIN:
            expected = self._joined(group, answer, asked)
        elif asked.kind == SYNC:
            assignment = group.assignments.get(asked.name, b"") if answer.verdict == NONE else b""
            expected = {"assignment": crc32(assignment)}
        elif "offsets" in answer.content:
            found = group.offsets if answer.verdict == NONE else {}
            expected = {
                "offsets": [[topic, p, found.get((topic, p), NO_OFFSET)] for topic, p, _ in answer.content["offsets"]]
            }
        for name, value in expected.items():
            if answer.content.get(name) != value:
                raise Divergence(
                    f"client {answer.m} was told {name} {answer.content.get(name)}; in the specification it is {value}"
                )

    def _joined(self, group, answer, asked):
        if answer.verdict == MEMBER_ID_REQUIRED:
            return {"id": group.names[group.network.answers[answer.m].id], "generation": NO_GENERATION, "members": []}
        if answer.verdict != NONE:
            return {"generation": NO_GENERATION, "members": []}
        record, told = group.record.group, group.network.answers[answer.m]
        leader = group.names[record.leader]
        return {
            "id": group.names[told.id],
            "generation": told.generation,
            "leader": leader if told.leading else group.replaced.get(leader, leader),
            "protocol": group.protocols[record.protocol],
            "members": group.present() if told.leading else [],
        }


def _told(answers: dict[int, int]) -> str:
    """Answers in words."""
    told = ", ".join(f"client {m} {Verdict.names[verdict]}" for m, verdict in sorted(answers.items()))
    return told or "nobody"
