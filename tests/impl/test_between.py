"""Messages between brokers: they cross connections as requests of Kafka, and come back as answers."""

import queue
from types import SimpleNamespace
from uuid import UUID

import pytest
from kio.schema.errors import ErrorCode

from kafkaproof.impl.seams.between.control_apis import STALE_CONTROLLER
from kafkaproof.impl.seams.between.data_apis import NOT_CONTROLLER, NOT_LEADER
from kafkaproof.impl.seams.between.messages import Message, OfPart, Receiver
from kafkaproof.impl.seams.between.port import Answered, Arrived, Port
from kafkaproof.impl.seams.between.post import Post, serves
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.replica.network import DIVERGING, DONE, FETCH, RECORD, SENT
from kafkaproof.spec.running.broker_ids import PLAIN, BrokerIds
from tests.impl.batches import batch

WAIT = 60
HEAD = {"epoch": 3, "broker_epoch": 17}
LED = {"leader": 1, "leader_epoch": 4, "version": 8, "written_in": 2, "isr": [0, 1], "replicas": [1, 0]}
EVENTS_ID = UUID(int=5)
PROPOSAL = {"p": 0, "leader_epoch": 4, "isr": 0b101, "version": 8, "fields": {"state": SENT, "epoch": 4, "isr": 0b101}}
FIELDS = {"kind": FETCH, "peer": 1, "epoch": 4, "offset": 2, "last": 3, "id": 0, "hw": 0, "end": 0}


class Names:
    """A broker that knows two topics, and has logs whose batches have two records each."""

    broker_epoch = 17
    places = {0: ("events", 0), 1: ("events", 1), 2: ("other", 0)}

    def __init__(self, broker, brokers=PLAIN):
        self.broker, self.brokers, self.own_id = broker, brokers, brokers.id(broker)
        self.ids = {"events": EVENTS_ID}

    def place_of(self, p):
        return self.places[p]

    def id_of(self, topic):
        return self.ids.get(topic)

    def name_of(self, id):
        return next((topic for topic, known in self.ids.items() if known == id), None)

    def note_id(self, topic, id):
        self.ids[topic] = id

    def number_of(self, topic, partition):
        return next((p for p, place in self.places.items() if place == (topic, partition)), None)

    def offset_of(self, p, place):
        return 2 * place

    def boundary(self, p, offset):
        return (offset + 1) // 2


class Side:
    """A process: its mail, and what has come."""

    def __init__(self, broker, spoken="3.9", brokers=PLAIN, **more):
        self.inbox = queue.Queue()
        self.port = Port(self.inbox, serves=serves, **more)
        self.post = Post(Names(broker, brokers), self.port, spoken)
        self.receiver = Receiver(broker, *self.port.address)
        self.count = 0

    def message(self, kind, content, body=b""):
        self.count += 1
        return Message(kind, f"{self.receiver.broker}.1-{self.count}", self.receiver.broker, 5, 6, content, body)

    def read(self):
        item = self.inbox.get(timeout=WAIT)
        return item, self.post.read(item)


IDS = BrokerIds((4, 7, 101))


@pytest.fixture(params=[("2.8", PLAIN), ("3.9", PLAIN), ("3.9", IDS)], ids=["2.8", "3.9", "ids"])
def sides(request):
    return Side(0, *request.param), Side(1, *request.param)


def led(p, **more):
    return (
        HEAD
        | LED
        | {"p": p, "is_new": False, "moving": ((1,), (0,)), "topic_id": "", "leader_address": ["127.0.0.1", 9]}
        | more
    )


def test_what_a_step_sends_to_one_broker_is_one_request_with_one_answer(sides):
    controller, broker = sides
    sent = [controller.message("LeaderAndIsr", led(p)) for p in (2, 0, 1)]
    controller.post.send((broker.receiver, message) for message in sent)
    item, messages = broker.read()
    assert isinstance(item, Arrived) and broker.inbox.empty()
    told = [each for topic in item.frame.fields.topic_states for each in topic.partition_states]
    id = controller.post._naming.brokers.id
    assert {(each.adding_replicas, each.removing_replicas) for each in told} == {((id(1),), (id(0),))}
    assert {each.id for each in messages} == {each.id for each in sent} and {each.sender for each in messages} == {0}
    for message in messages:
        told = next(each.content for each in sent if each.id == message.id)
        assert all(message.content[name] == told[name] for name in (*HEAD, *LED, "p", "leader_address"))
    failed = next(message for message in messages if message.content["p"] == 1)
    broker.post.send([(failed.reply, broker.message("StorageError", {"epoch": 3, "p": 1}))])
    assert controller.inbox.empty(), "not all of it is dealt with"
    for message in messages:
        message.settle()
    item, answers = controller.read()
    assert isinstance(item, Answered)
    assert [(each.kind, each.id, each.sender, each.content) for each in answers] == [
        ("StorageError", "1.1-1", 1, {"epoch": 3, "p": 1})
    ]


@pytest.mark.parametrize("failed", [0, 1])
def test_replicas_are_stopped(sides, failed):
    controller, broker = sides
    kinds = {"StopReplica": NO_EPOCH, "StopFetching": 4}
    for kind, leader_epoch in kinds.items():
        content = HEAD | {"p": 0, "leader_epoch": leader_epoch}
        controller.post.send([(broker.receiver, controller.message(kind, content))])
        _, (message,) = broker.read()
        assert (message.kind, message.content) == (kind, content)
        if kind == "StopReplica":
            told = {"epoch": 3, "p": 0, "failed": failed}
            broker.post.send([(message.reply, broker.message("Stopped", told))])
            assert [(each.kind, each.content) for each in controller.read()[1]] == [("Stopped", told)]
        message.settle()
    assert controller.read()[1] == []


def test_a_refused_stop_is_no_message(sides):
    controller, broker = sides
    content = HEAD | {"p": 0, "leader_epoch": NO_EPOCH}
    controller.post.send([(broker.receiver, controller.message("StopReplica", content))])
    broker.read()[1][0].settle(STALE_CONTROLLER)
    item, answers = controller.read()
    assert item.frame.fields.error_code.name == STALE_CONTROLLER and answers == []


def test_brokers_are_told_who_lives_and_who_leads(sides):
    controller, broker = sides
    gone = {"leader": -1, "leader_epoch": NO_EPOCH, "isr": [], "replicas": [0]}
    partitions = {"0": LED, "2": gone}
    for told in partitions.values():
        told |= {"topic_id": "AAAAAAAAAAAAAAAAAAAAAQ", "written_in": 2, "version": 8}
    alive = [[0, "127.0.0.1", 1000, 1001], [1, "127.0.0.1", 2000, 2001]]
    content = HEAD | {"partitions": partitions, "alive": alive}
    controller.post.send([(broker.receiver, controller.message("UpdateMetadata", content))])
    item, (message,) = broker.read()
    assert message.content["alive"] == alive
    for number, told in partitions.items():
        found = message.content["partitions"][number]
        assert all(found[name] == told[name] for name in ("leader", "leader_epoch", "isr", "replicas", "topic_id"))
    assert [topic.partition_states[0].leader for topic in item.frame.fields.topic_states] == [
        broker.post._naming.brokers.id(1),
        -2,
    ]


def test_requests_have_the_ids_of_kafka_whatever_numbers_brokers_have():
    one, other = Side(1, brokers=IDS), Side(2, brokers=IDS)
    sent = [
        ("LeaderAndIsr", led(0)),
        ("UpdateMetadata", HEAD | {"partitions": {}, "alive": [[0, "127.0.0.1", 1, 2], [2, "127.0.0.1", 3, 4]]}),
        ("Fetch", {"p": 0, "fields": FIELDS}),
        ("AlterPartition", PROPOSAL),
        ("ControlledShutdown", {}),
        ("AllocateProducerIds", {"broker_epoch": 17}),
    ]
    found = {}
    for kind, content in sent:
        one.post.send([(other.receiver, one.message(kind, content))])
        item, (message,) = other.read()
        message.settle()
        assert item.frame.client == "7"
        found[kind] = item.frame.fields
    led_as, told = found["LeaderAndIsr"], found["UpdateMetadata"]
    (state,) = led_as.topic_states[0].partition_states
    assert (led_as.controller_id, state.leader, state.isr, state.replicas) == (7, 7, (4, 7), (7, 4))
    assert [each.broker_id for each in led_as.live_leaders] == [7]
    assert (told.controller_id, [each.id_ for each in told.live_brokers]) == (7, [4, 101])
    assert found["Fetch"].replica_state.replica_id == 7
    (proposed,) = found["AlterPartition"].topics[0].partitions
    assert [each.broker_id for each in proposed.new_isr_with_epochs] == [4, 101]
    assert {found[kind].broker_id for kind in ("AlterPartition", "ControlledShutdown", "AllocateProducerIds")} == {7}


def test_a_follower_and_its_leader_speak_of_offsets(sides):
    follower, leader = sides
    data = batch(b"one", b"two")
    for p, kind, more, body in (
        (0, RECORD, {"last": 0, "id": 0, "hw": 1}, data),
        (1, DIVERGING, {"last": 2, "end": 1}, b""),
    ):
        follower.post.send([(leader.receiver, follower.message("Fetch", {"p": p, "fields": FIELDS}))])
        item, (message,) = leader.read()
        assert message.content["fields"] == FIELDS
        wanted = item.frame.fields.topics[0].partitions[0]
        assert (wanted.fetch_offset, wanted.last_fetched_epoch, wanted.current_leader_epoch) == (4, 3, 4)
        answer = leader.message("Fetched", {"p": p, "fields": FIELDS | more | {"kind": kind}}, body)
        leader.post.send([(message.reply, answer)])
        _, (found,) = follower.read()
        assert found.content["answers"] == f"0.1-{follower.count}" and found.body == body
        assert all(
            found.content["fields"][name] == value for name, value in more.items() if name != "id" and name != "last"
        )
        assert found.content["fields"]["kind"] == kind


def test_a_fetch_that_is_refused_is_answered_with_the_error(sides):
    follower, leader = sides
    follower.post.send([(leader.receiver, follower.message("Fetch", {"p": 0, "fields": FIELDS}))])
    leader.read()[1][0].settle(NOT_LEADER)
    item, answers = follower.read()
    assert item.frame.fields.responses[0].partitions[0].error_code == ErrorCode[NOT_LEADER].value and answers == []


def test_topics_are_named_by_their_ids_where_these_are_known():
    follower, leader = Side(0), Side(1)
    for p, version in ((1, 17), (2, 12)):
        follower.post.send([(leader.receiver, follower.message("Fetch", {"p": p, "fields": FIELDS}))])
        item, (message,) = leader.read()
        assert item.frame.version == version and message.sender == 0 and message.content["p"] == p
        item.frame.stamp.clear()
        assert [each.content["p"] for each in leader.post.read(item)] == [p], (
            "nothing but its id says which topic it is"
        )
        message.settle()
        follower.read()


def test_an_id_that_is_not_known_has_an_error_of_its_own():
    follower, leader = Side(0), Side(1)
    leader.post._naming.ids.clear()
    for kind, content in (("Fetch", {"p": 0, "fields": FIELDS}), ("AlterPartition", PROPOSAL)):
        follower.post.send([(leader.receiver, follower.message(kind, content))])
        item, (message,) = leader.read()
        item.frame.stamp.clear()
        assert leader.post.read(item) == []
        fields = follower.read()[0].frame.fields
        found = fields.responses[0].partitions[0] if kind == "Fetch" else fields.topics[0].partitions[0]
        assert found.error_code in (ErrorCode.unknown_topic_id, ErrorCode.unknown_topic_id.value)
        message.settle()


def test_a_refusal_of_a_replica_has_the_error_of_the_version():
    for spoken, error in (("2.8", "operation_not_attempted"), ("3.9", "ineligible_replica")):
        leader, controller = Side(0, spoken), Side(1, spoken)
        leader.post.send([(controller.receiver, leader.message("AlterPartition", PROPOSAL))])
        item, (message,) = controller.read()
        assert item.frame.version == {"2.8": 1, "3.9": 3}[spoken] and message.content["isr"] == 0b101
        message.settle("INELIGIBLE_REPLICA".lower())
        answered = leader.read()[0].frame.fields.topics[0].partitions[0]
        assert answered.error_code == ErrorCode[error]


def test_a_broker_is_given_a_block_of_producer_ids(sides):
    broker, controller = sides
    asks = broker.message("AllocateProducerIds", {"broker_epoch": 17})
    broker.post.send([(controller.receiver, asks)])
    _, (message,) = controller.read()
    assert (message.kind, message.sender, message.content) == ("AllocateProducerIds", 0, {"broker_epoch": 17})
    controller.post.send([(message.reply, controller.message("ProducerIds", {"block": [2000, 1000]}))])
    assert [(each.kind, each.content) for each in broker.read()[1]] == [("ProducerIds", {"block": [2000, 1000]})]
    broker.post.send([(controller.receiver, asks)])
    controller.read()[1][0].settle(NOT_CONTROLLER)
    item, answers = broker.read()
    assert item.frame.fields.error_code.name == NOT_CONTROLLER and answers == []


@pytest.mark.parametrize(
    ("kind", "error", "heard"),
    [
        ("IsrWritten", None, "IsrWritten"),
        ("IsrRefused", "INELIGIBLE_REPLICA", "IsrRefused"),
        ("IsrOutdated", "FENCED_LEADER_EPOCH", "IsrOutdated"),
        ("IsrOutdated", None, "IsrOutdated"),
    ],
)
def test_a_proposal_is_decided(sides, kind, error, heard):
    leader, controller = sides
    fields = PROPOSAL["fields"]
    leader.post.send([(controller.receiver, leader.message("AlterPartition", PROPOSAL))])
    _, (message,) = controller.read()
    assert message.content == PROPOSAL
    told = {"p": 0, "fields": fields | {"state": DONE}} | ({"version": 9} if kind == "IsrWritten" else {})
    answer = controller.message(kind, told | ({"error": error} if error else {}))
    controller.post.send([(message.reply, answer)])
    _, (found,) = leader.read()
    assert (found.kind, found.id, found.content["fields"]["isr"]) == (heard, answer.id, 0b101)
    assert kind != "IsrWritten" or found.content["version"] == 9


def test_a_leader_that_is_to_ask_again_hears_no_message(sides):
    leader, controller = sides
    content = {"p": 0, "leader_epoch": 4, "isr": 1, "version": 8, "fields": {"state": SENT, "epoch": 4, "isr": 1}}
    leader.post.send([(controller.receiver, leader.message("AlterPartition", content))])
    assert leader.post.is_under_way(controller.receiver, "AlterPartition", 0)
    controller.read()[1][0].settle(NOT_CONTROLLER)
    item, answers = leader.read()
    assert item.frame.fields.error_code.name == NOT_CONTROLLER and answers == []


def test_who_leaves_is_told_what_it_leads_still(sides):
    broker, controller = sides
    broker.post.send([(controller.receiver, broker.message("ControlledShutdown", {}))])
    _, (message,) = controller.read()
    assert (message.kind, message.sender, message.content) == ("ControlledShutdown", 0, {})
    message.settle((1, 2))
    left = broker.read()[0].frame.fields.remaining_partitions
    assert {(each.topic_name, each.partition_index) for each in left} == {("events", 1), ("other", 0)}


def test_a_partition_that_is_not_known_is_answered_so_and_a_number_in_the_stamp_is_believed(sides):
    controller, broker = sides
    broker.post._naming = SimpleNamespace(
        broker=1, brokers=PLAIN, number_of=lambda topic, partition: None, note_id=lambda topic, id: None
    )
    controller.post.send([(broker.receiver, controller.message("LeaderAndIsr", led(2)))])
    item, (message,) = broker.read()
    assert message.content["p"] == 2
    item.frame.stamp.clear()
    assert broker.post.read(item) == []
    (topic,) = controller.read()[0].frame.fields.topics
    assert topic.partition_errors[0].error_code.name == "unknown_topic_or_partition"


# Connections


def stop(p=0, **more):
    return HEAD | {"p": p, "leader_epoch": 4} | more


def test_what_a_controller_asks_over_a_cut_link_is_asked_again_while_it_rules():
    wanted = {2}
    controller, broker = Side(0, is_wanted=lambda request: request.epoch in wanted), Side(1)
    controller.port.cut(broker.port.address, True)
    deposed, asked, last = (controller.message("StopFetching", stop(epoch=epoch)) for epoch in (1, 2, 2))
    fetched = controller.message("Fetch", {"p": 0, "fields": FIELDS})
    for message in (deposed, fetched):
        controller.post.send([(broker.receiver, message)])
    controller.port.flush()
    for message in (asked, last):
        controller.post.send([(broker.receiver, message)])
    controller.port.cut(broker.port.address, False)
    for message in (asked, last):
        _, (found,) = broker.read()
        assert found.id == message.id and broker.inbox.empty()
        found.settle()


def test_a_request_whose_answer_was_lost_is_sent_again_and_handled_once(sides):
    controller, broker = sides
    controller.post.send([(broker.receiver, controller.message("StopReplica", stop()))])
    _, (message,) = broker.read()
    controller.port.cut(broker.port.address, True)
    controller.port.cut(broker.port.address, False)
    item, again = broker.read()
    assert isinstance(item, Arrived) and again == []
    broker.post.send([(message.reply, broker.message("Stopped", {"epoch": 3, "p": 0, "failed": 0}))])
    assert [each.kind for each in controller.read()[1]] == ["Stopped"]


def test_what_is_sent_to_a_process_that_has_ended_is_lost(sides):
    controller, _ = sides
    nobody = Receiver(1, "127.0.0.1", 1)
    controller.post.send([(nobody, controller.message("StopReplica", stop()))])
    controller.port.flush()
    assert not controller.port.is_busy(nobody.address, ("control",))


def test_an_error_of_one_partition_is_not_that_of_the_whole_request(sides):
    controller, broker = sides
    for outcome, whole in ((STALE_CONTROLLER, STALE_CONTROLLER), (OfPart(STALE_CONTROLLER), "none")):
        controller.post.send([(broker.receiver, controller.message("LeaderAndIsr", led(0)))])
        _, (message,) = broker.read()
        message.settle(outcome)
        answer = controller.read()[0].frame.fields
        assert answer.error_code.name == whole
        assert [each.error_code.name for topic in answer.topics for each in topic.partition_errors] == [
            STALE_CONTROLLER
        ]


def test_a_request_about_which_zookeeper_cannot_be_asked_is_not_answered_but_asked_again(sides, monkeypatch):
    controller, broker = sides
    controller.port.is_wanted = lambda request: True
    controller.post.send([(broker.receiver, controller.message("LeaderAndIsr", led(0)))])
    item = broker.inbox.get(timeout=WAIT)
    item.frame.stamp.clear()

    def cannot_ask(topic, partition):
        raise NotAnswered

    with monkeypatch.context() as patched:
        patched.setattr(broker.post._naming, "number_of", cannot_ask)
        assert broker.post.read(item) == []
    again, (message,) = broker.read()
    assert again.connection is not item.connection
    message.settle()
    assert controller.read()[1] == []


def test_messages_of_others_have_numbers_of_process_0(sides):
    follower, leader = sides
    follower.post.send([(leader.receiver, follower.message("Fetch", {"p": 0, "fields": FIELDS}))])
    item, _ = leader.read()
    item.frame.stamp.clear()
    numbers = [leader.post.read(item)[0].number for _ in range(2)]
    assert numbers[0] < numbers[1] and {process for process, _ in numbers} == {0}
