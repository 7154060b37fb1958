"""The group coordinator of one broker: chooses which steps of *group* run, by requests and timers, and decides nothing.

All groups are in one offsets partition. Each has a record of its own, in which the same changes of the leader are
handled; a group that is not known yet begins as one that the log does not have. An append is a step of the data plane,
as a producer's is, within the step of the group.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

from kafka.protocol.admin.groups import DescribeGroupsRequest, ListGroupsRequest
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
from kafkaproof.impl.groups.flaws import join_flaw, split_commit
from kafkaproof.impl.groups.group import Group, bound
from kafkaproof.impl.groups.leader import Leader
from kafkaproof.impl.groups.network import Asked
from kafkaproof.impl.groups.overviews import describe_groups, list_groups
from kafkaproof.impl.groups.timers import Timers
from kafkaproof.impl.protocol.group_requests import ANSWERS, recorded
from kafkaproof.impl.protocol.offset_records import Member
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.spec.group import deletion, join, loading, membership, network, offsets, storage, sync
from kafkaproof.spec.group.group_states import DEAD, PREPARING_REBALANCE
from kafkaproof.spec.group.records import GROUP_RECORD, OFFSET_RECORD
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.group.validation import is_valid_group_id, refusal
from kafkaproof.spec.group.verdicts import commit_verdict
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.steps import Step
from kafkaproof.spec.running.coordinators import APPENDS, PROTOCOLS, PROTOTYPE, UNKNOWN, arguments_of, begin, digest_of

APPEND_TIMEOUT = 5.0
"""offsets.commit.timeout.ms, in seconds."""
NEVER = (1 << 30) - 1
"""A generation that no group reaches. In the specification 0 stands for a commit without one; Kafka has no generation
0.
"""
FULL = "GROUP_MAX_SIZE_REACHED"
SYNCED = (network.PARKED, network.STORED, network.NONE)
RESTARTING = {
    JoinGroupRequest: (network.MEMBER_ID_REQUIRED,),
    SyncGroupRequest: (network.NONE, network.COORDINATOR_NOT_AVAILABLE),
    HeartbeatRequest: (network.NONE, network.REBALANCE_IN_PROGRESS),
    OffsetCommitRequest: (network.STORED, network.COORDINATOR_NOT_AVAILABLE),
}
"""After which answers a member's session begins anew. A member whose group or offset the log refuses to take is answered
with COORDINATOR_NOT_AVAILABLE. Source: GroupCoordinator.completeAndScheduleNextHeartbeatExpiration, 2.8 to 3.9.
"""
CALLBACKS = {
    GROUP_RECORD: (sync.group_stored, sync.group_not_stored),
    OFFSET_RECORD: (offsets.offset_stored, offsets.offset_not_stored),
}
"""The steps that follow an append, by the kind of its record: when it is acknowledged, and when it has failed."""


class Coordinator:
    """The groups of one broker by their names; `try_step` takes a step of the data plane, and `exists` says whether
    there is a partition for clients.
    """

    def __init__(self, process: Process, try_step: Callable[..., bool], exists: Callable[[str, int], bool]):
        self._process, self.leader, self._exists = process, Leader(process, try_step), exists
        self._steps = bound()
        self.groups = {PROTOTYPE: Group(PROTOTYPE, self.leader)}
        self._timers = Timers(self.take)
        self._appended: dict[tuple[str, int], float] = {}
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
        }
        self.kinds = tuple(self._serve)

    # What arrives

    def handle(self, call: Call) -> None:
        """Answer a request, now or later; one that may append waits where too many appends are under way.

        One without a group id is refused; Kafka lets commits and fetches of offsets have an empty one.
        """
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
        self._finish_appends()
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
        if group.broker.appends.length > before:
            place = group.broker.appends.slots[before].position
            self._appended[group.name, place] = time.monotonic()
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
        self._note(group, step=str(step), answers=told, **line)
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
        if asked.call and verdict in RESTARTING.get(asked.call.kind, ()):
            self._timers.restart(group, asked.id)
        return verdict

    # Requests

    def _join(self, call: Call) -> None:
        request, group = call.request, self._group(call.request.group_id)
        known = bool(request.member_id)
        number = group.number_of(request.member_id) if known else group.fresh()
        names = [each.name for each in request.protocols][:2]
        if number is None or not names or len({*group.protocols, *names}) > PROTOCOLS:
            call.answer(ANSWERS[call.kind](request, FULL if names else "INCONSISTENT_GROUP_PROTOCOL", {}))
            return
        flaw = join_flaw(group, request)
        if flaw is not None:
            call.answer(ANSWERS[call.kind](request, network.Verdict.names[flaw], {}))
            return
        member = Member(
            request.member_id or f"kafkaproof-{uuid.uuid4()}",
            session=request.session_timeout_ms,
            rebalance=request.rebalance_timeout_ms,
            protocols=[(each.name, bytes(each.metadata)) for each in request.protocols],
        )
        former, present, before = group.members.get(number), group.present(), group.broker.group.state
        offered = [group.protocol_number(name) for name in names]
        arguments = {"first": offered[0], "second": offered[-1]}
        step: tuple[Callable, dict] = join.first_join, arguments
        if known:
            changed = former is None or former.protocols != member.protocols
            step = join.join, arguments | {"changed": int(changed)}
        if number != UNKNOWN and not known:
            group.members[number] = member
        asked = Asked(network.JOIN, number, int(known), name=member.id, member=member, call=call)
        verdict = self._ask(group, asked, step)
        if verdict == network.PARKED and number != UNKNOWN:
            member.assignment = former.assignment if former else b""
            group.members[number], group.protocol_type = member, request.protocol_type
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
        verdict = commit_verdict(group.broker, number, 0, max(0, generation))
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
        call.answer(list_groups(self.groups))

    def _describe(self, call: Call) -> None:
        call.answer(describe_groups([self._group(name) for name in call.request.groups]))

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
        while group.broker.epoch < len(self.leader.changes) or group.broker.loading or group.broker.group.state == DEAD:
            if not self._step_of_leader(group):
                return

    def _step_of_leader(self, group: Group) -> bool:
        """One step of taking over or giving up."""
        for step in (loading.take_over, loading.unload, loading.read, loading.load, deletion.remove_dead):
            if self.take(group, step):
                if step is loading.load:
                    self._timers.loaded(group)
                elif step in (loading.unload, deletion.remove_dead):
                    group.forget()
                return True
        return False

    def _finish_appends(self) -> None:
        """Run the callbacks of the appends that are acknowledged, have failed, or take too long."""
        done, self.leader.done = self.leader.done, []
        for seams, place, error in done:
            seams.deliveries.setdefault(place, error)
        now = time.monotonic()
        for group in self.groups.values():
            while self._finish_one(group, now):
                pass
            if group.broker.appends.length == 0:
                group.storage.deliveries.clear()
                group.contents.clear()
                group.stored.clear()

    def _finish_one(self, group: Group, now: float) -> bool:
        deliveries, appends = group.storage.deliveries, group.broker.appends
        for i in range(appends.length):
            append = appends.slots[i]
            stored, not_stored = CALLBACKS[append.kind]
            place = append.position
            if place != NOWHERE and place not in deliveries:
                if now - self._appended.get((group.name, place), now) < APPEND_TIMEOUT:
                    continue
                deliveries[place] = storage.TIMED_OUT
            error = storage.NOT_LEADER if place == NOWHERE else deliveries[place]
            if error is None:
                taken = self.take(group, stored, i=i)
            else:
                taken = self.take(group, not_stored, i=i, error=error)
            self._appended.pop((group.name, place), None)
            return taken
        return False
