"""Ids of brokers in ZooKeeper: what is written has Kafka's, and what is read has numbers."""

import pytest
from kazoo.protocol.serialization import Delete, SetData, Transaction

from kafkaproof.impl.seams.zookeeper.broker_names import Names, renamed
from kafkaproof.impl.seams.zookeeper.request_znodes import LogDirEvent, Reassignment
from kafkaproof.impl.seams.zookeeper.requests import EPHEMERAL, Requests, create
from kafkaproof.impl.seams.zookeeper.znodes import BROKER_IDS, BrokerId, Controller, ProducerIdBlock, State, Topic
from kafkaproof.spec.running.broker_ids import PLAIN, BrokerIds
from tests.impl.memory_zookeeper import MemorySession, Server, Znode

IDS = BrokerIds((101, 5, 7))
ADDRESS = BrokerId("127.0.0.1", 1, 2)
CONTENTS = {
    Topic.path_of("t"): (
        Topic(((0, 2), (1,)), "x", ((0, (2,)),), ((1, (1,)),)).encode(),
        Topic(((5, 101), (7,)), "x", ((0, (101,)),), ((1, (7,)),)).encode(),
    ),
    State.path_of("t", 0): (State(2, (0, 2), 3, 4).encode(), State(101, (5, 101), 3, 4).encode()),
    State.path_of("t", 1): (State(-1, (1,), 3, 4).encode(), State(-1, (7,), 3, 4).encode()),
    Reassignment.path: (Reassignment({("t", 0): (2, 1)}).encode(), Reassignment({("t", 0): (101, 7)}).encode()),
    f"{LogDirEvent.prefix}0000000001": (LogDirEvent(1).encode(), LogDirEvent(7).encode()),
    ProducerIdBlock.path: (ProducerIdBlock(2, 0, 9).encode(), ProducerIdBlock(101, 0, 9).encode()),
    "/config/topics/t": (b'{"version":1,"config":{}}', b'{"version":1,"config":{}}'),
}


@pytest.mark.parametrize("path", CONTENTS)
def test_contents_have_ids_in_zookeeper_and_numbers_here(path):
    numbers, ids = CONTENTS[path]
    assert renamed(path, numbers, IDS.id) == ids and renamed(path, ids, IDS.number) == numbers


@pytest.mark.parametrize("data", [b"", b"no JSON", b"[]", b'{"partitions":7}', b'{"partitions":[{"replicas":["x"]}]}'])
def test_what_an_operator_wrote_that_is_no_request_stays(data):
    assert renamed(Reassignment.path, data, IDS.number) == data


def test_brokers_that_the_cluster_does_not_have_are_kept():
    assert IDS.numbers((5, 6, 101, 0)) == [0, 9, 2, 3] and IDS.ids((0, 9, 2, 3)) == [5, 6, 101, 0]
    assert IDS.id(-1) == IDS.number(-1) == -1
    assert PLAIN.numbers((0, 9)) == [0, 9] and BrokerIds((1, 0)).is_plain and not IDS.is_plain


@pytest.fixture
def requests(monkeypatch):
    """Requests of a process to a server in memory, in a session of its own."""
    monkeypatch.setattr("kafkaproof.impl.seams.zookeeper.requests.Session", MemorySession)
    server = Server()
    server.znodes[BROKER_IDS] = Znode(b"", 0, 0, 0)
    found = Requests(server, 60.0, Names(IDS))
    assert found.open(1.0)
    return found


def test_a_session_registers_and_finds_brokers_by_their_ids(requests):
    server, session = requests.hosts, requests.session
    path = BrokerId.path_of(2)
    requests.write_all(create(path, b"", EPHEMERAL), SetData(path, ADDRESS.encode(), 0))
    requests.write(create(Controller.path, Controller(2).encode()))
    assert f"{BROKER_IDS}/101" in server.znodes and Controller.decode(server.znodes[Controller.path].data).broker == 101
    children, found, ruling, none = requests.at_once(
        lambda: session.children(BROKER_IDS),
        lambda: session.get(path),
        lambda: session.get(Controller.path),
        lambda: session.exists(BrokerId.path_of(1)),
    )
    assert children.result[0] == ["2"] and BrokerId.decode(found.result[0]) == ADDRESS
    assert Controller.decode(ruling.result[0]).broker == 2 and none.result is None
    requests.write(Transaction([Delete(path, -1)]))
    assert f"{BROKER_IDS}/101" not in server.znodes
