"""One broker on a real ZooKeeper, step by step in this process: it registers, is elected, and rules."""

import json
import time

import pytest
from kazoo.protocol.serialization import Delete

from kafkaproof.impl.broker.settings import Settings
from kafkaproof.impl.seams.between.messages import Message
from kafkaproof.impl.seams.zookeeper.requests import create
from kafkaproof.impl.seams.zookeeper.znodes import BrokerId, Controller, ControllerEpoch, State, Topic, TopicConfig
from kafkaproof.impl.server.main import Broker
from kafkaproof.spec.election import broker_state, session
from kafkaproof.spec.election.election import maybe_resign
from kafkaproof.spec.kafka.zookeeper import NONODE, OK
from kafkaproof.spec.language.digest import fields_of, values_in
from kafkaproof.spec.partition import context
from kafkaproof.spec.running.processes import named

TOPIC = "alone"


@pytest.fixture
def broker(keeper, opened, tmp_path):
    """The only broker of a cluster, not yet started."""
    operator = opened()
    for path, znode in ((TopicConfig.path_of(TOPIC), TopicConfig(False)), (Topic.path_of(TOPIC), Topic(((0,),)))):
        operator.write(create(path, znode.encode()))
    made = Broker(
        Settings(
            0,
            1,
            1,
            1,
            1,
            1,
            "fenced",
            TOPIC,
            keeper.address,
            60.0,
            str(tmp_path / "broker-0.1.jsonl"),
            str(tmp_path / "logs"),
        )
    )
    yield made
    if made.process.requests.has_session:
        made.process.requests.session.close()
    remove(operator)


def remove(operator):
    for path in (
        State.path_of(TOPIC, 0),
        *reversed(State.parents_of(TOPIC, 0)),
        Topic.path_of(TOPIC),
        TopicConfig.path_of(TOPIC),
        ControllerEpoch.path,
    ):
        assert operator.write(Delete(path, -1)) in (OK, NONODE), path


def steps(broker, until, seconds=120):
    """Let a broker take steps until something holds."""
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        if not broker.step():
            broker.receive()
    assert until()


def lines(tmp_path):
    return [json.loads(line) for line in (tmp_path / "broker-0.1.jsonl").read_text().splitlines()]


def test_a_broker_becomes_the_controller_and_leads(broker, opened, tmp_path):
    process, operator = broker.process, opened()
    assert broker.try_step(session.start)
    steps(
        broker,
        lambda: (
            process.partition.replicas[0].leader == 0
            and process.election.doing == broker_state.IDLE
            and process.partition.controller.doing == context.IDLE
        ),
    )
    assert (process.election.active, process.election.epoch, process.partition.controller.epoch) == (1, 1, 1)
    read = [
        operator.at_once(lambda path=path: operator.session.get(path))[0].result
        for path in (State.path_of(TOPIC, 0), Controller.path, BrokerId.path_of(0), ControllerEpoch.path)
    ]
    assert State.decode(read[0][0]) == State(0, (0,), 0, 1)
    assert Controller.decode(read[1][0]).broker == 0
    assert BrokerId.decode(read[2][0]) == (*process.clients.address, process.port.address[1])
    assert ControllerEpoch.decode(read[3][0]).epoch == 1
    recorded = [line for line in lines(tmp_path) if "step" in line]
    assert [line["n"] for line in recorded] == list(range(1, len(recorded) + 1))
    assert {line["step"].split("(")[0] for line in recorded} >= {"session.start", "control.create_first_state"}


def test_what_is_written_is_told_before_it_is_asked_for(broker, tmp_path):
    process = broker.process
    broker.try_step(session.start)
    asked = []
    send = process.requests.session.send
    process.requests.session.send = lambda request: asked.append(lines(tmp_path)[-1]) or send(request)
    broker.try_step(session.register_broker)
    assert asked[0]["asks"] == "election session.register_broker(b=0)" and asked[0]["n"] == 2
    assert lines(tmp_path)[-1]["step"] == "session.register_broker(b=0) -> OK"


def test_messages_go_out_when_their_step_is_recorded(broker, tmp_path):
    sent = []

    def ask(request):
        recorded = [each for line in lines(tmp_path) for each in (*line.get("sent", ()), line.get("sends"))]
        sent.extend((message.id, recorded) for message in request.asked.messages)

    broker.process.port.ask = ask
    broker.try_step(session.start)
    steps(broker, lambda: sent)
    assert all(message in recorded for message, recorded in sent)


def values_of_all(process):
    records = process.records | named(process.replicas)
    assert values_in(records) == list(fields_of(records).values())
    return values_in(records)


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_step_whose_read_is_not_answered_has_not_happened(broker, tmp_path, is_recorded):
    process = broker.process
    process.recorder.on = is_recorded
    broker.try_step(session.start)
    broker.try_step(session.register_broker)
    before = values_of_all(process), len(lines(tmp_path))
    process.requests.session._usable = False
    assert not broker.try_step(maybe_resign)
    assert (values_of_all(process), len(lines(tmp_path))) == before
    process.requests.session._usable = True
    assert broker.try_step(maybe_resign)


def test_a_request_for_a_former_registration_is_refused(broker):
    process = broker.process
    broker.try_step(session.start)
    broker.try_step(session.register_broker)
    own = process.network.broker_epoch
    assert own == process.election_zookeeper.registration > 0
    content = {"epoch": 1, "p": 0, "broker_epoch": own - 1}
    assert process.network.is_refused(Message("LeaderAndIsr", "x", 0, 0, 0, content))
    present = content | {"broker_epoch": own}
    assert not process.network.is_refused(Message("LeaderAndIsr", "x", 0, 0, 0, present))
    broker.handle(Message("LeaderAndIsr", "x", 0, 0, 0, content))
    assert process.partition.replicas[0].leader == -1
