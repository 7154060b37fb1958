"""The group coordinator of one broker: chooses which steps of *group* run, by requests and timers, and decides nothing.

All groups are in one offsets partition. Each has a record of its own, in which the same changes of the leader are
handled; a group that is not known yet begins as one that the log does not have. An append is a step of the data plane,
as a producer's is, within the step of the group.
"""

from __future__ import annotations

from collections.abc import Callable

from kafka.protocol.admin.groups import DeleteGroupsRequest, DescribeGroupsRequest, ListGroupsRequest
from kafka.protocol.consumer.group import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.broker.record import transition
from kafkaproof.impl.groups.appends import Appends
from kafkaproof.impl.groups.batched_fetches import BATCHED, parts_of, together
from kafkaproof.impl.groups.flaws import join_flaw, split_commit
from kafkaproof.impl.groups.group import Group, bound
from kafkaproof.impl.groups.joining import TOLD_FROM, joining
from kafkaproof.impl.groups.leader import Leader
from kafkaproof.impl.groups.network import Asked
from kafkaproof.impl.groups.overviews import describe_groups, list_groups
from kafkaproof.impl.groups.timers import Timers
from kafkaproof.impl.protocol.group_requests import ANSWERS, deleted, recorded
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.spec.group import deletion, join, loading, membership, network, offsets, static, storage, sync
from kafkaproof.spec.group.clock import begins_anew_lately
from kafkaproof.spec.group.group_states import DEAD, PREPARING_REBALANCE
from kafkaproof.spec.group.records import NO_RECORD
from kafkaproof.spec.group.validation import is_valid_group_id, refusal
from kafkaproof.spec.group.verdicts import commit_verdict
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.steps import Step, arguments_of
from kafkaproof.spec.running.broker_ids import OF_COORDINATORS
from kafkaproof.spec.running.coordinators import APPENDS, PROTOCOLS, PROTOTYPE, UNKNOWN, begin, digest_of

NEVER = (1 << 30) - 1
"""A generation that no group reaches. In the specification 0 stands for a commit without one; Kafka has no generation
0.
"""
FULL = "GROUP_MAX_SIZE_REACHED"
SYNCED = (network.PARKED, network.STORED, network.NONE)


class Coordinator:
    """The groups of one broker by their names; `try_step` takes a step of the data plane, and `exists` says whether
    there is a partition for clients.
    """

    def __init__(self, process: Process, try_step: Callable[..., bool], exists: Callable[[str, int], bool]):
        self._process, self.leader, self._exists = process, Leader(process, try_step), exists
        self._steps = bound()
        self.groups = {PROTOTYPE: Group(PROTOTYPE, self.leader)}
        self._timers = Timers(self.take)
        self._appends = Appends(self.leader, self.take)
        self._postponed: list[Call] = []
        self._number = 0
        self._serve = {
            JoinGroupRequest: self._join,
            SyncGroupRequest: self._sync,
            HeartbeatRequest: self._heartbeat,
            LeaveGroupRequest: self._leave,
            OffsetCommitRequest: self._commit,
            OffsetFetchRequest: self._fetch,
            ListGroupsRequest: self._list,
            DescribeGroupsRequest: self._describe,
            DeleteGroupsRequest: self._delete,
        }
        self.kinds = tuple(self._serve)

    # What arrives

    def handle(self, call: Call) -> None:
        """Answer a request, now or later; one that may append waits where too many appends are under way.

        One without a group id is refused; Kafka lets commits and fetches of offsets have an empty one.
        """
        if call.kind is OffsetFetchRequest and call.version >= BATCHED:
            parts = parts_of(call)
            if not parts:
                call.answer(together({}))
            for part in parts:
                self.handle(part)
            return
        name = getattr(call.request, "group_id", None)
        if name == PROTOTYPE:
            verdict = network.Verdict.names[refusal(is_valid_group_id(True, True, False), True, False, True)]
            call.answer(ANSWERS[call.kind](call.request, verdict, {}))
        elif name in self.groups and self.groups[name].broker.appends.length >= APPENDS:
            self._postponed.append(call)
        else:
            self._serve[call.kind](call)

    def tick(self) -> None:
        """Do what is due, and what has become possible."""
        self._follow_leader()
        self._appends.finish(self.groups.values())
        for group in list(self.groups.values()):
            self._timers.tick(group)
        postponed, self._postponed = self._postponed, []
        for call in postponed:
            self.handle(call)

    def _group(self, name: str) -> Group:
        """A group; one that is not known yet begins like a group that does not exist."""
        if name not in self.groups:
            group = Group(name, self.leader)
            with transition():
                begin(group.broker, self.groups[PROTOTYPE].broker)
            self.groups[name] = group
            self._note(group, begins=True)
        return self.groups[name]

    # Steps

    def take(self, group: Group, step: Callable, **arguments: int) -> bool:
        """Take a step of a group, if it is enabled; it is recorded, and then its answers go out."""
        function, asking = self._steps[step], group.network
        values = {"b": self.leader.broker, "m": asking.m, "late": 0, **arguments}
        wanted = arguments_of(function)
        before = group.broker.appends.length
        self.leader.appended = asking.verdict = None
        with transition():
            if not function(group.state, *(values[argument] for argument in wanted)):
                return False
        self._appends.note(group, before)
        group.install_offsets()
        answer = None if asking.verdict is None else network.Verdict.names[asking.verdict]
        self._record(group, Step(Transition(step).name, {argument: values[argument] for argument in wanted}, answer))
        return True

    def _record(self, group: Group, step: Step) -> None:
        """Write the line of a step, then send its answers."""
        asked, appended = group.network.current, self.leader.appended
        line = {"append": appended} if appended else {}
        if asked.kind != network.NOTHING:
            line["asked"] = {"m": group.network.m, **asked.recorded()}
            group.network.end()
        outbox, group.network.outbox = group.network.outbox, []
        answers = [
            (m, call, verdict, ANSWERS[call.kind](call.request, verdict, told)) for m, call, verdict, told in outbox
        ]
        told = [[m, verdict, recorded(call.request, response)] for m, call, verdict, response in answers]
        self._note(group, step=str(self._process.ids.with_ids(step, OF_COORDINATORS)), answers=told, **line)
        for _, call, _, response in answers:
            call.answer(response)
        released, group.network.released = group.network.released, []
        for n in released:
            self._timers.restart(group, n)

    def _note(self, group: Group, **line: object) -> None:
        """Record what was done to a group, and its record afterwards; lines of groups have their own numbers."""
        self._number += 1
        self._process.note(group=group.name, g=self._number, **line, state=digest_of(group.broker))

    def _ask(self, group: Group, asked: Asked, *choices: tuple[Callable, dict]) -> int | None:
        """Take the first step of a request that is enabled, and answer; returns the verdict, None without an answer."""
        group.network.begin(asked)
        if not any(self.take(group, function, **arguments) for function, arguments in choices):
            raise RuntimeError(f"no step of {asked} is enabled: a defect")
        verdict = group.network.verdict
        kind = network.COMMIT if asked.call and asked.call.kind is OffsetCommitRequest else asked.kind
        if asked.call and begins_anew_lately(kind, verdict):
            self._timers.restart(group, asked.id)
        return verdict

    # Requests

    def _join(self, call: Call) -> None:
        request, group = call.request, self._group(call.request.group_id)
        known, instance = bool(request.member_id), group.instance_number(request.group_instance_id)
        number = group.number_of(request.member_id) if known else group.fresh()
        names = [each.name for each in request.protocols][:2]
        if number is None or not names or len({*group.protocols, *names}) > PROTOCOLS or instance >= UNKNOWN:
            call.answer(ANSWERS[call.kind](request, FULL if names else "INCONSISTENT_GROUP_PROTOCOL", {}))
            return
        flaw = join_flaw(group, request)
        if flaw is not None:
            call.answer(ANSWERS[call.kind](request, network.Verdict.names[flaw], {}))
            return
        member = joining(call)
        former = group.members.get(number if known else group.member_with(request.group_instance_id))
        member.assignment = former.assignment if former else b""
        present, before = group.present(), group.broker.group.state
        offered = [group.protocol_number(name) for name in names]
        arguments = {"first": offered[0], "second": offered[-1]}
        steps: list[tuple[Callable, dict]] = [(join.first_join, arguments), (static.static_join, arguments)]
        if known:
            changed = former is None or former.protocols != member.protocols
            steps = [(join.join, arguments | {"changed": int(changed)})]
        else:
            group.members[number] = member
            group.brought = {group.members[n].id: group.members[n].assignment for n in (*present, number)}
        told = call.version >= TOLD_FROM
        asked = Asked(network.JOIN, number, int(known), name=member.id, member=member, call=call, told=told)
        group.name_instance(asked, request.group_instance_id)
        verdict = self._ask(group, asked, *steps)
        if verdict in (network.PARKED, network.STORED) and number != UNKNOWN:
            group.members[number], group.protocol_type = member, request.protocol_type
            if former and former.id != member.id:
                group.replaced[member.id] = former.id
            if number not in present:
                self._timers.joined(group, number, before == PREPARING_REBALANCE)

    def _sync(self, call: Call) -> None:
        request, group = call.request, self._group(call.request.group_id)
        number, assigned = (
            group.number_of(request.member_id),
            {each.member_id: bytes(each.assignment) for each in request.assignments},
        )
        present = group.present()
        owners = [n for n in present if assigned.get(group.members[n].id)] or present
        owner = owners[0] if assigned and owners else NOBODY
        asked = Asked(network.SYNC, number, 1, request.generation_id, int(bool(assigned)), request.member_id, call=call)
        group.name_instance(asked, request.group_instance_id)
        if assigned and number == group.broker.group.leader:
            group.brought = assigned
        refused = [(sync.sync_refused, {"error": storage.NOT_ENOUGH_REPLICAS})] * (not self.leader.takes_appends())
        if self._ask(group, asked, *refused, (sync.sync, {"owner": owner})) in SYNCED:
            self._timers.synced(group, number)

    def _heartbeat(self, call: Call) -> None:
        self._work(call, call.request.generation_id, (membership.heartbeat, {}))

    def _work(self, call, generation, *choices, **carried):
        group, name = self._group(call.request.group_id), call.request.member_id
        asked = Asked(network.WORK, group.number_of(name), 1, max(0, generation), name=name, call=call, **carried)
        group.name_instance(asked, call.request.group_instance_id)
        self._ask(group, asked, *choices)

    def _leave(self, call: Call) -> None:
        group = self._group(call.request.group_id)
        heirs = [group.broker.group.leader, NOBODY, *group.present()]
        name = call.request.member_id
        asked = Asked(network.LEAVE, group.number_of(name), 1, name=name, call=call)
        self._ask(group, asked, *((membership.leave, {"heir": heir}) for heir in heirs))

    def _commit(self, call: Call) -> None:
        """Commit what can be; a partition that is refused by itself is told so, whatever becomes of the others."""
        request, group = call.request, self._group(call.request.group_id)
        generation = request.generation_id_or_member_epoch
        alone = generation < 0 and not request.member_id
        number, generation = (NOBODY, 0) if alone else (group.number_of(request.member_id), generation or NEVER)
        instance = group.instance_set(request.group_instance_id)
        verdict = commit_verdict(group.broker, number, instance, max(0, generation))
        offered, refused = split_commit(request, verdict, self._exists)
        group.storage.offered = offered
        if not offered:
            call.answer(ANSWERS[call.kind](request, "NONE", {"refused": refused}))
        elif alone:
            asked = Asked(network.WORK, UNKNOWN, offsets=offered, refused=refused, call=call)
            self._ask(group, asked, (offsets.reset_offset, {}))
        else:
            unable = [(offsets.commit_refused, {"error": storage.NOT_ENOUGH_REPLICAS})]
            unable *= not self.leader.takes_appends()
            self._work(call, generation, *unable, (offsets.commit, {}), offsets=offered, refused=refused)

    def _fetch(self, call: Call) -> None:
        group = self._group(call.request.group_id)
        asked = Asked(network.WORK, UNKNOWN, call=call)
        self._ask(group, asked, (offsets.fetch, {"stable": 0}))

    def _list(self, call: Call) -> None:
        call.answer(list_groups(self.groups, call.request.states_filter))

    def _describe(self, call: Call) -> None:
        call.answer(describe_groups([self._group(name) for name in call.request.groups]))

    def _delete(self, call: Call) -> None:
        call.answer(deleted({name: self._deleted(name) for name in call.request.groups_names}))

    def _deleted(self, name: str) -> str:
        """Delete a group; the verdict."""
        if name == PROTOTYPE:
            return network.Verdict.names[network.INVALID_GROUP_ID]
        group = self._group(name)
        group.doomed = list(group.offsets)
        if not self.take(group, deletion.delete_group) or group.network.verdict is None:
            raise RuntimeError(f"group {name!r} cannot be deleted: a defect")
        verdict = network.Verdict.names[group.network.verdict]
        self._catch_up(group)
        return verdict

    # The offsets log

    def _follow_leader(self) -> None:
        """Handle changes of the leader, in order, each to its end: in the group that does not exist, then in all."""
        self.leader.look()
        prototype = self.groups[PROTOTYPE]
        while self._step_of_leader(prototype):
            if prototype.broker.loading and prototype.broker.read == 0:
                for name in self.leader.groups():
                    self._group(name)
                for group in list(self.groups.values()):
                    self._catch_up(group)
        for group in list(self.groups.values()):
            self._catch_up(group)

    def _catch_up(self, group):
        record = group.broker
        while (
            record.epoch < len(self.leader.changes)
            or record.loading
            or record.group.state == DEAD
            or record.tombstone != NO_RECORD
        ):
            if not self._step_of_leader(group):
                return

    def _step_of_leader(self, group: Group) -> bool:
        """One step of taking over or giving up."""
        for step in (
            loading.take_over,
            loading.unload,
            loading.read,
            loading.load,
            deletion.remove_dead,
            deletion.bury,
        ):
            if self.take(group, step):
                if step is loading.load:
                    self._timers.loaded(group)
                elif step in (loading.unload, deletion.remove_dead):
                    group.forget()
                return True
        return False
