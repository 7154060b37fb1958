"""Replays the recording of a cluster through both systems of the specification, step by step.

Each step that a process recorded must be enabled, get the answer that was recorded, have the recorded partner, send
as many messages, and leave the record with the recorded hash; what it wrote to ZooKeeper must be what ZooKeeper
logged. What no process recorded, its log tells, also what real brokers have written (`foreign`). The first step that is
not so is the divergence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkaproof.spec.cluster.control import leader_and_isr
from kafkaproof.spec.election.election import handle_change
from kafkaproof.spec.kafka.zookeeper import ANSWERED, LOST, LOST_APPLIED, LOST_DROPPED
from kafkaproof.spec.language.domains import named, record_of
from kafkaproof.spec.language.model import Property
from kafkaproof.spec.language.steps import Step
from kafkaproof.spec.partition.failover import elect
from kafkaproof.spec.partition.history.leader_zk import isr_notification
from kafkaproof.spec.replica.zookeeper import Answer
from kafkaproof.spec.running.broker_ids import BrokerIds
from kafkaproof.spec.running.observed_cluster import observed_cluster
from kafkaproof.spec.running.processes import ELECTION, PARTITION, partners_in_election, partners_in_partition
from kafkaproof.traces.basics.tasks import Progress
from kafkaproof.traces.explain.election.single_steps import identity
from kafkaproof.traces.processes.foreign import Foreign
from kafkaproof.traces.processes.groups.coordinator import Taken
from kafkaproof.traces.processes.groups.replay import Groups
from kafkaproof.traces.processes.recorded.group_lines import GroupLine
from kafkaproof.traces.processes.recorded.lines import Line
from kafkaproof.traces.processes.recorded.order import (
    APPENDS,
    AT,
    BEGINNING,
    BEHIND,
    END,
    FIRST_STEPS,
    Occurrence,
    Place,
    in_order,
)
from kafkaproof.traces.processes.recorded.reading import Cluster
from kafkaproof.traces.processes.recorded.zookeeper_log import Logged
from kafkaproof.traces.processes.state.messages import Sent
from kafkaproof.traces.processes.state.result import Divergence, Result, Violation
from kafkaproof.traces.processes.state.sending import first_request, may_send
from kafkaproof.traces.processes.state.world import World
from kafkaproof.traces.processes.unrecorded import Unrecorded

EVERY = 100
"""Progress is told after so many occurrences."""


def _followed(processes: list[list[Line]]) -> dict[str, tuple[list[Line], list[Line]]]:
    """The lines of each process, and those of the next one of the same broker that has recorded anything."""
    found, recorded = {}, [lines for lines in processes if lines]
    for lines, following in zip(recorded, [*recorded[1:], []]):
        succeeded = following and following[0].broker == lines[0].broker
        found[lines[0].process] = lines, following if succeeded else []
    return found


def _texts(partners: list[tuple[str, Step]], brokers: BrokerIds) -> str:
    return ", ".join(f"{part} {brokers.with_ids(step)}" for part, step in partners) or "nothing"


class NoSuchVariant(LookupError):
    """There is no such variant, or it has no data planes where the recording has."""


def replay(cluster: Cluster, variant: str | None = None, progress: Progress = lambda done, of: None) -> Result:
    """Replay a recording, through the variant that was run or another; raises NoSuchVariant and UserError."""
    follower = Follower(cluster, variant or cluster.variant)
    order = in_order(cluster)
    known, followed = _known_up_to(cluster, order), 0
    for number, occurrence in enumerate(order):
        try:
            follower.follow(occurrence)
            followed += occurrence.line is not None
        except Divergence as divergence:
            if occurrence.place > known:
                break
            where = divergence.where or occurrence.title
            follower.result.divergence, follower.result.at = (where, str(divergence)), number
            break
        if follower.result.violations and follower.result.at is None:
            follower.result.at = number
        if number % EVERY == 0:
            progress(number, len(order))
    progress(len(order), len(order))
    if cluster.running and not follower.result.divergence:
        follower.result.unfollowed = sum(map(len, cluster.processes)) - followed
    return follower.result


def _known_up_to(cluster: Cluster, order: list[Occurrence]) -> Place:
    """Up to where all is recorded that happened: every broker that runs has recorded something later."""
    last = {each.line.broker: each.place for each in order if each.line}
    return min((last.get(broker, BEGINNING) for broker in cluster.running), default=Place(END, BEHIND))


class Follower:
    """Follows a recording in order; `world` is the specification's state so far."""

    def __init__(self, cluster: Cluster, variant: str):
        self.cluster, self.result = cluster, Result(variant)
        self.logged = Logged(cluster)
        recorded = any(line.found for lines in cluster.processes for line in lines)
        try:
            observed = observed_cluster(
                variant,
                cluster.deletes,
                cluster.reassigns,
                cluster.keeps_ends,
                cluster.updates,
                cluster.goes_on,
                cluster.is_newest,
            )
        except LookupError as error:
            raise NoSuchVariant(*error.args) from None
        self.world = World(
            observed,
            cluster.sizes,
            self.logged.epochs,
            cluster.longest_log,
            cluster.room,
            recorded,
            cluster.offsets,
            self.logged.terms,
        )
        if recorded and not self.world.replicas(0):
            raise NoSuchVariant(f"{variant} has no logs, which the recording has")
        self.groups = Groups(self.world, cluster.offsets)
        self.result.groups = self.groups.counts
        self._messages: dict[str, Sent] = {}
        self._broken: set[tuple[str, str]] = set()
        self._processes = _followed(cluster.processes)
        self._unrecorded = Unrecorded(self.world, self._judge_hidden)
        self._foreign = Foreign(self.world, self.logged, cluster.brokers)
        if cluster.is_mixed:
            self._foreign.begin(cluster.zookeeper.transactions)

    def follow(self, occurrence: Occurrence) -> None:
        """Take the step that something was; raises Divergence."""
        line = occurrence.line
        in_groups = line is not None and not self.cluster.is_mixed
        if line and in_groups:
            self._follow_groups(self.groups.begin(line))
        self._title = occurrence.title
        self._follow(occurrence)
        if line and in_groups:
            if not self.groups.is_claimed(line) and line is not self._processes[line.process][0][-1]:
                raise Divergence("no step of a group tells of what it appended to the offsets partition")
            self._follow_groups(self.groups.follow(line))

    def _follow(self, occurrence: Occurrence) -> None:
        transaction = occurrence.transaction
        if occurrence.line:
            self._follow_line(occurrence.line, occurrence.place.rank == AT, occurrence.waits)
        elif occurrence.crash is not None:
            self._unrecorded.crash(occurrence.crash)
        elif transaction and occurrence.closes is not None:
            self._unrecorded.close(occurrence.closes, transaction.session)
        elif transaction and occurrence.foreign is not None:
            self._foreign.write(occurrence.foreign, transaction)
        elif occurrence.landed:
            self._unrecorded.land(occurrence.landed)
        elif occurrence.stray is not None:
            raise Divergence(f"no step that broker {self.cluster.brokers.id(occurrence.stray)} recorded has made it")
        elif transaction:
            self.world.seams.listed = self.logged.listed(transaction)
            for part, name, arguments in self.logged.wanted(transaction):
                self._unrecorded.take(part, name, **arguments)

    def _follow_line(self, line: Line, writes: bool, waits: int) -> None:
        if line.sends:
            self._send(line, line.sends)
        elif line.name == handle_change.__name__:
            with self.world.hearing(line.broker, line.heard, waits):
                self._step(line, writes)
        elif writes or not line.asks:
            self._step(line, writes)
        elif line.name in APPENDS and self._has_landed(line):
            self._step(line, True)

    def on_its_way(self, message: str) -> Sent | None:
        """A message that was sent and not yet taken."""
        return self._messages.get(message)

    # Steps of processes

    def _step(self, line: Line, applied: bool) -> None:
        if line.partitions:
            self.world.show_partitions(line.broker, line.partitions)
        if line.found is not None:
            self._hold_logs(line, line.found)
        outcome = self._take(line, applied)
        if line.name == isr_notification.__name__ and line.at:
            p = line.taken.arguments["p"]
            if self.logged.has_isr_change(line.at[0], p):
                self.world.leave_isr_change(p)
        if not line.asks and outcome.answer != line.taken.answer:
            raise Divergence(
                f"the answer was {line.taken.answer}; the specification's ZooKeeper answers {outcome.answer}"
            )
        partners, ids = self._let_partners_follow(line, outcome, applied), self.cluster.brokers
        if line.asks:
            return
        if [(part, step.bare) for part, step in partners] != [(part, step.bare) for part, step in line.partners]:
            raise Divergence(
                f"with it went {_texts(line.partners, ids)}, and in the specification {_texts(partners, ids)}"
            )
        self._note_sent(line, outcome)
        if sorted(line.acked) != sorted(outcome.acked):
            raise Divergence(
                f"it answered the producers of {list(line.acked)}; in the specification {list(outcome.acked)}"
            )
        self._compare(line)
        self.result.steps += 1
        self.result.counts[line.taken.transition] += 1
        if line.name in FIRST_STEPS and line.part == ELECTION:
            self._unrecorded.sessions[line.broker] = line.session

    def _take(self, line: Line, applied: bool):
        """The step itself; raises Divergence where it is not enabled."""
        part, arguments = line.part, dict(line.taken.arguments)
        if not self.world.has(part, line.name):
            raise Divergence(f"{self.result.variant} has no transition {line.name} in {part}")
        if wrong := self.world.out_of_range(part, line.name, arguments):
            raise Divergence(f"{line.name} is never taken with {wrong}")
        lost = line.asks or line.taken.answer == "LOST"
        arguments["delivery"] = (LOST_APPLIED if applied else LOST_DROPPED) if lost else ANSWERED
        if line.place is not None:
            self.world.states[PARTITION].planes[arguments["p"]].clients.position = line.place
        message = self._received(line)
        with self.world.arriving(message, line.broker):
            outcome = self.world.take(part, line.name, line.record, **arguments)
            if outcome is None:
                why = self.world.refusal(part, line.name, **arguments)
                raise Divergence(
                    f"it is not enabled: {why}; broker {self.cluster.brokers.id(line.broker)} is {self._situation(line)}"
                )
        if message and line.took and outcome.answer == "LOST":
            self._messages[line.took] = message
        self._judge(part, outcome.broken)
        return outcome

    def _received(self, line: Line) -> Sent | None:
        if line.took is None:
            return None
        message = self._taken_from(line)
        if message is None:
            raise Divergence(f"it takes the message {line.took}, which is not on its way")
        if message.receiver not in (None, line.broker):
            receiver = self.cluster.brokers.id(message.receiver)
            raise Divergence(f"it takes the message {line.took}, which is for broker {receiver}")
        of_term = message.kind in ("LeaderAndIsr", "UpdateMetadata", "StopReplica", "StopFetching")
        named = of_term and message.receiver is not None
        fenced = self.world.cluster.names_processes and named
        if fenced and message.registration != self.world.known.registrations[line.broker]:
            raise Divergence(f"it takes the message {line.took}, which was for its former registration")
        return message

    def _taken_from(self, line: Line) -> Sent | None:
        """The message that a line took, None where it is not on its way."""
        if not line.came:
            return self._messages.pop(line.took or "", None)
        try:
            return self._foreign.message(line)
        except (LookupError, TypeError, ValueError, AttributeError):
            return None  # no broker sends a message of such a form

    def _let_partners_follow(self, line, outcome, applied) -> list[tuple[str, Step]]:
        """Take the steps of the other part that go with a step; these steps, each with that part."""
        answer = None if outcome.answer is None else Answer.names.index(outcome.answer)
        if line.part == ELECTION:
            other, found = PARTITION, partners_in_partition(line.name, answer, self.world.record(line.broker)[1])
        else:
            transition = self.world.cluster.partition.transition(line.name)
            owner, refused = self.world.record(line.broker)[1], self.logged.refused(line.zxids)
            other, found = ELECTION, partners_in_election(transition, answer, owner, refused)
        lost = any(code == LOST for _, code in found)
        delivery = (LOST_APPLIED if applied else LOST_DROPPED) if lost else ANSWERED
        if any(name == elect.__name__ for name, _ in found):
            self.world.keep_notifications(self.logged.notifying(line.at[0]))
        partners, broken = [], []
        followed = self.world.follow(other, [name for name, _ in found], line.broker, delivery)
        for (name, code), taken in zip(found, followed, strict=True):
            expected = None if code is None else Answer.names[code]
            if taken is None or other == ELECTION and taken.answer != expected:
                what = "is not enabled" if taken is None else f"answers {taken.answer}"
                raise Divergence(f"its partner {name} in {other} {what}, where {expected} is wanted")
            broken += taken.broken
            partners.append((other, Step(self.world.label(other, name), {"b": line.broker}, expected)))
        self._judge(other, broken)
        return partners

    def _note_sent(self, line, outcome) -> None:
        sent = outcome.sent
        if len(line.sent) == len(sent) + 1 and line.name == leader_and_isr.__name__:
            sent += first_request(self.world, line.broker, line.taken.arguments["p"])
        if len(sent) != len(line.sent):
            raise Divergence(f"it sent {len(line.sent)} messages; in the specification {len(sent)}")
        self._messages.update(zip(line.sent, sent))

    def _compare(self, line: Line) -> None:
        """Hold the record and what was written to what the step made of them."""
        fields = self.world.fields(line.broker)
        for name, value in line.changed.items():
            if fields.get(name) != value:
                raise Divergence(f"{name} was {value} after it, and in the specification {fields.get(name)}")
        if self.world.digest(line.broker) != line.state:
            raise Divergence("the record after it has another hash: a field has changed that the step does not tell of")
        for zxid in line.zxids:
            if text := self.logged.differs(zxid, self.world.states):
                raise Divergence(text)

    def _send(self, line: Line, message: str) -> None:
        """A message that is no step of its sender's: it must be one that the specification lets it send."""
        answered = self._taken_from(line) if line.came else self._messages.get(line.took or "")
        try:
            may = may_send(self.world, line.kind, line.broker, line.content, answered)
        except (LookupError, TypeError, AttributeError):
            may = False  # no broker sends a message of such a form
        if not may:
            raise Divergence(f"broker {self.cluster.brokers.id(line.broker)} may not send it: {line.content}")
        receiver = answered.sender if answered else None
        self._messages[message] = Sent(line.kind, line.broker, receiver, line.content)

    def _situation(self, line: Line) -> str:
        candidate, owner = self.world.record(line.broker)
        broker = record_of(self.world.cluster.election.state, "brokers")
        controller = record_of(record_of(self.world.cluster.partition.state, "brokers"), "controller")
        doing = named(broker.fields["doing"].domain, candidate.doing)
        event = named(controller.fields["doing"].domain, owner.controller.doing)
        return f"{doing} in the election, {event} as controller of epoch {owner.controller.epoch}"

    # What is on disks

    def _has_landed(self, line: Line) -> bool:
        """Whether an append that a process did not live to record is in the log that the next process has found."""
        lines, following = self._processes[line.process]
        on_disk = following[0].found if following else None
        p = line.taken.arguments["p"]
        if line is not lines[-1] or not on_disk or p >= len(on_disk):
            return False
        return on_disk[p]["log"] != self.world.chain(line.broker, p)

    def _hold_logs(self, line: Line, on_disk: list[dict]) -> None:
        """Hold what a process has found to what the former process of its broker left: the same log, and a high
        watermark that was right once. In the model it is found when the process registers; it is told before.
        """
        for p, (found, replica) in enumerate(zip(on_disk, self.world.replicas(line.broker))):
            if found["log"] != self.world.chain(line.broker, p):
                raise Divergence(
                    f"the log of partition {p} that it found, {found['length']} batches, is not the one "
                    f"that was left, {replica.log.length} batches"
                )
            if found["hw"] > replica.hw:
                raise Divergence(f"the high watermark of partition {p} that it found, {found['hw']}, was never reached")
            replica.hw = found["hw"]

    def _follow_groups(self, steps: Iterator[tuple[GroupLine, Taken]]) -> None:
        """Take steps of groups, and count what they break."""
        for line, taken in steps:
            self._title = line.title
            if line.step:
                self.result.steps += 1
                self.result.counts[line.taken.transition] += 1
                self._count(f"{line.group} at {line.process}", taken.broken, taken.states)

    def _judge_hidden(self, part: str, broken: Sequence[Property]) -> None:
        """The same of a step that nobody recorded."""
        self.result.hidden += 1
        self._judge(part, broken)

    def _judge(self, part: str, broken: Sequence[Property]) -> None:
        """Count what a step of the cluster breaks; where some brokers are real, nobody knows the state of all."""
        if not self.cluster.is_mixed:
            self._count(part, broken, list(self.world.broken(part)))

    def _count(self, where: str, broken: Sequence[Property], states: Sequence[Property]) -> None:
        """Count what a step breaks; a property of states counts when it begins to be broken."""
        begins = [prop for prop in states if (where, prop.name) not in self._broken]
        self._broken = {each for each in self._broken if each[0] != where} | {(where, prop.name) for prop in states}
        for prop in (*broken, *begins):
            name = identity(prop)
            self.result.violations.setdefault(name, Violation(name, prop.text, self._title)).count += 1
