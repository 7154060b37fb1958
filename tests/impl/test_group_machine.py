"""Two running coordinators in this process, over a log in memory and by a clock of the test: whatever clients do.

What they record is replayed, line by line: every step is one of the specification, and breaks nothing that *group*
keeps.
"""

import json
from types import SimpleNamespace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from kafka.protocol.admin.groups import DeleteGroupsRequest
from kafka.protocol.consumer.group import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)

from kafkaproof.impl.groups import appends as group_appends
from kafkaproof.impl.groups import timers as group_timers
from kafkaproof.impl.groups.coordinator import Coordinator
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.spec.cluster.data_plane import produce
from kafkaproof.spec.group.group_states import GroupState, move_is_legal
from kafkaproof.spec.replica.broker import LEADER
from kafkaproof.spec.running.broker_ids import PLAIN
from kafkaproof.spec.running.coordinators import MODEL
from tests.impl.group_replaying import Replays

NOT_ALWAYS = {name for violated in MODEL.expected.values() for name in violated}
"""What *group* itself does not keep when appends fail and the leader moves: see its counterexamples."""
NAME, CLIENTS, PLACE = "g", 3, ("events", 0)
PLACES = (PLACE, ("events", 1))
CLIENT, BROKER = st.integers(0, CLIENTS - 1), st.integers(0, 1)


class Log:
    """What both brokers have of the offsets partition."""

    def __init__(self, batches):
        self._batches, self.read = batches, batches.__getitem__

    @property
    def length(self):
        return len(self._batches)


class Broker:
    """A process of which there is the offsets partition alone."""

    def __init__(self, machine, b):
        self.machine, self.broker, self.settings = machine, b, SimpleNamespace(offsets=0)
        self.ids = PLAIN
        self.replica = SimpleNamespace(state=None)
        self.planes = [SimpleNamespace(log=Log(machine.log), replica=self.replica)]
        self.partition = SimpleNamespace(replicas=[SimpleNamespace(leader_epoch=-1, leader=-1)])
        self.network, self.states = SimpleNamespace(current=None), ["Absent"]
        machine.replays.add(self)
        self.coordinator = Coordinator(self, self.append, lambda topic, p: (topic, p) in PLACES)
        self.coordinator.leader.takes_appends = lambda: not machine.lacks_replicas

    def append(self, step, offer, p, acks):
        assert (step, acks) == (produce, 1)
        if self.replica.state != LEADER or self.machine.lacks_replicas:
            return False
        self.machine.log.append(offer.data)
        self.machine.waiting.append((self.broker, offer))
        self.machine.replays.produced(offer.data)
        return True

    def note(self, group, **line):
        self.machine.replays.note(self.broker, json.loads(json.dumps({"group": group, **line})))
        if group == NAME:
            state = GroupState.names[self.coordinator.groups[NAME].broker.group.state]
            self.states += [state] if state != self.states[-1] else []


class Client:
    """`next` is what a client of Kafka's does next."""

    def __init__(self):
        self.id, self.generation, self.members, self.call, self.sent = "", 0, None, None, 0
        self.next = "join"


class Groups(RuleBasedStateMachine):
    """Clients, the log, the clock; `acked` is the largest offset whose commit was acknowledged, by group.

    `leaders` and `assignments`: who was told the members, and what was brought, by generation. `lacks_replicas`: whether
    the log refuses appends.
    """

    lacks_replicas = False

    def __init__(self):
        super().__init__()
        self.now, self.log, self.waiting, self.number, self.acked = 1000.0, [], [], 0, {}
        clock = SimpleNamespace(monotonic=lambda: self.now)
        self.clocks = group_appends.time, group_timers.time
        group_appends.time = group_timers.time = clock
        self.assignments, self.leaders, self.replays = {}, {}, Replays(self)
        self.clients = [Client() for _ in range(CLIENTS)]
        self.brokers = [Broker(self, b) for b in range(2)]
        self.epoch = self.leading = 0
        self.lead(0)

    def teardown(self):
        """In the end everybody who waits has got an answer."""
        try:
            for _ in range(3):
                self.replicate()
                self.time_passes(400.0)
                self.answers_arrive()
            assert [client.call for client in self.clients] == [None] * CLIENTS
        finally:
            group_appends.time, group_timers.time = self.clocks

    def name_of(self, c):
        """The group of a client."""
        return NAME

    def lead(self, b):
        self.leading = b
        for broker in self.brokers:
            broker.replica.state = LEADER if broker.broker == b else None
            broker.partition.replicas[0] = SimpleNamespace(leader_epoch=self.epoch, leader=b)
            broker.coordinator.leader.look()
            self.replays.look(broker.broker)

    def answer_producers(self, waiting, error):
        for _, offer in waiting:
            offer.respond(error)
        self.replays.settled([(b, offer.data) for b, offer in waiting], error == "DONE")

    def ask(self, c, b, request):
        client = self.clients[c]
        if client.call is None:
            client.call = Call(request, 4)
            self.brokers[b].coordinator.handle(client.call)
            self.hear(client)

    def hear(self, client):
        """What was answered, if anything."""
        if client.call is None or client.call._answer.empty():
            return
        request, answer, client.call = client.call.request, client.call._answer.get(), None
        getattr(self, "on_" + type(request).__name__)(client, request, answer)

    def on_JoinGroupRequest(self, client, request, answer):
        client.next = "join" if answer.error_code else "sync"
        if answer.error_code in (0, 79):
            client.id, client.generation = answer.member_id, max(0, answer.generation_id)
            client.members = [each.member_id for each in answer.members]
        elif answer.error_code == 25:
            client.id = ""
        if client.members and not answer.error_code:
            key = request.group_id, self.epoch, client.generation
            assert self.leaders.setdefault(key, client.id) == client.id

    def on_SyncGroupRequest(self, client, request, answer):
        client.next = "join" if answer.error_code else "commit"
        if answer.error_code == 0:
            key = request.group_id, request.generation_id
            assert self.assignments.setdefault(key, answer.assignment) == answer.assignment

    def on_OffsetCommitRequest(self, client, request, answer):
        if answer.topics[0].partitions[0].error_code == 0:
            self.acked[request.group_id] = max(self.acked.get(request.group_id, -1), client.sent)
        else:
            client.next = "join"

    def on_OffsetFetchRequest(self, client, request, answer):
        if answer.error_code == 0:
            assert answer.topics[0].partitions[0].committed_offset >= self.acked.get(request.group_id, -1)

    def on_HeartbeatRequest(self, client, request, answer):
        if answer.error_code:
            client.next = "join"

    def on_LeaveGroupRequest(self, client, request, answer):
        client.id, client.next = "", "join"

    @rule(c=CLIENT, b=BROKER, both=st.booleans())
    def join(self, c, b, both):
        kind = JoinGroupRequest.JoinGroupRequestProtocol
        names = ["range", "roundrobin"] if both else ["range"]
        self.ask(
            c,
            b,
            JoinGroupRequest(
                group_id=self.name_of(c),
                session_timeout_ms=10_000,
                rebalance_timeout_ms=20_000,
                member_id=self.clients[c].id,
                protocol_type="consumer",
                protocols=[kind(name=name, metadata=b"m") for name in names],
            ),
        )

    @rule(c=CLIENT, b=BROKER)
    def sync(self, c, b):
        client, kind = self.clients[c], SyncGroupRequest.SyncGroupRequestAssignment
        self.number += 1
        brought = [kind(member_id=each, assignment=b"%d" % self.number) for each in client.members or ()]
        self.ask(
            c,
            b,
            SyncGroupRequest(
                group_id=self.name_of(c), generation_id=client.generation, member_id=client.id, assignments=brought
            ),
        )

    @rule(c=CLIENT, b=BROKER)
    def heartbeat(self, c, b):
        client = self.clients[c]
        self.ask(c, b, HeartbeatRequest(group_id=self.name_of(c), generation_id=client.generation, member_id=client.id))

    @rule(c=CLIENT, b=BROKER)
    def delete_group(self, c, b):
        name = self.name_of(c)
        call = Call(DeleteGroupsRequest(groups_names=[name]), 1)
        self.brokers[b].coordinator.handle(call)
        (result,) = call.wait().results
        if result.error_code == 0:
            self.acked.pop(name, None)

    @rule(c=CLIENT, b=BROKER)
    def leave(self, c, b):
        self.ask(c, b, LeaveGroupRequest(group_id=self.name_of(c), member_id=self.clients[c].id))

    @rule(c=CLIENT, b=BROKER)
    def commit(self, c, b):
        self.commit_as(c, b, self.clients[c].generation, self.clients[c].id)

    @rule(c=CLIENT, b=BROKER)
    def commit_without_a_group(self, c, b):
        self.commit_as(c, b, -1, "")

    def commit_as(self, c, b, generation, id):
        client, kind = self.clients[c], OffsetCommitRequest.OffsetCommitRequestTopic
        if client.call is not None:
            return
        self.number += 1
        client.sent = self.number
        partition = kind.OffsetCommitRequestPartition(partition_index=0, committed_offset=self.number)
        self.ask(
            c,
            b,
            OffsetCommitRequest(
                group_id=self.name_of(c),
                generation_id_or_member_epoch=generation,
                member_id=id,
                topics=[kind(name=PLACE[0], partitions=[partition])],
            ),
        )

    @rule(c=CLIENT, b=BROKER)
    def fetch(self, c, b):
        kind = OffsetFetchRequest.OffsetFetchRequestTopic
        self.ask(
            c, b, OffsetFetchRequest(group_id=self.name_of(c), topics=[kind(name=PLACE[0], partition_indexes=[0])])
        )

    @rule(seconds=st.sampled_from([0.0, 0.6, 4.0, 11.0, 400.0]))
    def time_passes(self, seconds):
        self.now += seconds
        for broker in self.brokers:
            broker.coordinator.tick()

    @rule(rounds=st.integers(1, 4))
    def go_on(self, rounds):
        """All clients do what those of Kafka do, at the broker that leads."""
        for _ in range(rounds):
            for c, client in enumerate(self.clients):
                self.heartbeat(c, self.leading)
                self.answers_arrive()
                if client.next == "join":
                    self.join(c, self.leading, False)
                else:
                    getattr(self, client.next)(c, self.leading)
            self.replicate()
            self.time_passes(0.6)
            self.answers_arrive()

    @rule()
    def replicate(self):
        waiting, self.waiting = self.waiting, []
        self.answer_producers(waiting, "DONE")

    @rule(b=BROKER, kept=st.integers(0, 9))
    def fail_over(self, b, kept):
        waiting, self.waiting = self.waiting, []
        del self.log[len(self.log) - len(waiting) + min(kept, len(waiting)) :]
        self.epoch += 1
        self.lead(b)
        self.answer_producers(waiting, "NOT_LEADER_OR_FOLLOWER")

    @invariant()
    def answers_arrive(self):
        for client in self.clients:
            self.hear(client)

    @invariant()
    def no_property_is_broken_that_holds_at_every_scope(self):
        assert self.replays.broken - NOT_ALWAYS == set()

    @invariant()
    def states_follow_each_other_as_kafkas(self):
        names = GroupState.names
        for broker in self.brokers:
            moves = [move for move in zip(broker.states, broker.states[1:]) if "Absent" not in move]
            assert all(move_is_legal(names.index(a), names.index(b)) for a, b in moves), moves


TestGroups = Groups.TestCase
TestGroups.settings = settings(max_examples=25, stateful_step_count=40, deadline=None, derandomize=True)
