"""One session of a real ZooKeeper: order, lost answers, watches across a reconnection, and the end."""

import time

import pytest
from kazoo.client import KazooClient
from kazoo.protocol.serialization import Delete, SetData

from kafkaproof.impl.seams.zookeeper.requests import EPHEMERAL, NotAnswered, create
from kafkaproof.impl.seams.zookeeper.session import Connection, Event, Expired, Expiry, Lost, Reply
from kafkaproof.spec.kafka.zookeeper import BADVERSION, EXPIRED, LOST, NODEEXISTS, NONODE, OK


def drop(requests):
    """Break the connection of a session, as a network does."""
    requests.session._client._connection._socket.shutdown(2)


def steal(keeper, requests):
    """Have ZooKeeper end a session."""
    thief = KazooClient(keeper.address, client_id=(requests.session.id, requests.session.password), timeout=120)
    thief.start(120)
    thief.stop()
    thief.close()


def receive(requests, kind, seconds=120):
    """The next item of this kind, of the session; others are noted."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        item = requests.inbox.get(timeout=seconds)
        requests.take(item)
        if isinstance(item, kind):
            return item
    raise AssertionError(f"no {kind.__name__}")


def test_answers_are_zookeepers(opened):
    requests = opened()
    assert requests.write(create("/answers")) == OK
    assert requests.write(create("/answers")) == NODEEXISTS
    assert requests.write(SetData("/answers", b"1", 5)) == BADVERSION
    assert requests.write(SetData("/nothing", b"1", -1)) == NONODE
    assert requests.write_all(create("/answers/a"), SetData("/answers", b"1", 9)) == (BADVERSION, 1)
    assert requests.write_all(SetData("/answers", b"1", 9), create("/answers/a")) == (BADVERSION, 0)
    assert requests.write_all(create("/answers/a"), SetData("/answers", b"1", 0)) == (OK, 0)
    assert requests.at_once(lambda: requests.session.get("/answers"))[0].result[0] == b"1"


def test_a_step_is_refused_where_none_of_its_writes_was_done(opened):
    requests = opened()
    assert not requests.refused
    requests.write(SetData("/nothing", b"1", -1))
    assert requests.refused
    requests.write(create("/something"))
    assert not requests.refused
    requests.write(create("/something"))
    assert not requests.refused
    requests.begin()
    assert not requests.refused


def test_zxids_are_those_of_the_transactions(opened):
    requests = opened()
    requests.write(create("/zxids"))
    requests.write(SetData("/zxids", b"", -1))
    first, second = requests.zxids
    stat = requests.at_once(lambda: requests.session.exists("/zxids"))[0].result
    assert (stat.czxid, stat.mzxid) == (first, second)
    assert requests.session.zxid >= second


def test_an_event_comes_before_the_answer_that_shows_the_change(opened):
    reader, writer = opened(), opened()
    writer.write(create("/order"))
    for _ in range(20):
        reader.at_once(lambda: reader.session.get("/order", watch=True))
        writer.write(SetData("/order", b"", -1))
        changed = writer.zxids[-1]
        replies = [reader.session.get("/order") for _ in range(5)]
        received = []
        while len(received) < 6:
            received.append(reader.inbox.get(timeout=120))
        seen = [item for item in received if isinstance(item, Event) or item.result[1].mzxid >= changed]
        assert isinstance(seen[0], Event) and seen[0].zxid == changed
        assert [item for item in received if isinstance(item, Reply)] == replies


def test_a_request_is_lost_with_its_connection_and_not_sent_again(opened):
    requests = opened()
    requests.write(create("/lost", b"0"))
    drop(requests)
    answers = {requests.write(SetData("/lost", b"1", -1)) for _ in range(3)}
    assert LOST in answers and answers <= {LOST, OK}
    until = time.monotonic() + 120
    while requests.write(SetData("/lost", b"1", -1)) != OK:
        assert time.monotonic() < until


def test_a_read_that_is_not_answered_is_no_answer(opened):
    requests = opened()
    requests.session._usable = False
    with pytest.raises(NotAnswered):
        requests.at_once(lambda: requests.session.get("/"))


def test_watches_outlive_a_connection(opened):
    requests, writer = opened(), opened()
    writer.write(create("/kept"))
    requests.at_once(
        lambda: requests.session.get("/kept", watch=True),
        lambda: requests.session.exists("/comes", watch=True),
        lambda: requests.session.children("/kept", watch=True),
    )
    drop(requests)
    assert not receive(requests, Connection).up
    assert not requests.session.ready
    writer.write(SetData("/kept", b"1", -1))
    while not requests.session.ready:
        requests.take(requests.inbox.get(timeout=120))
    writer.write(create("/comes"))
    writer.write(create("/kept/child"))
    until = time.monotonic() + 120
    while len(requests.session.fired) < 2 and time.monotonic() < until:
        requests.take(requests.inbox.get(timeout=120))
    while "CHILD" not in requests.session.fired["/kept"]:
        requests.take(requests.inbox.get(timeout=120))
    assert requests.session.fired == {"/kept": ["CHANGED", "CHILD"], "/comes": ["CREATED"]}


def test_a_session_that_has_ended_is_not_opened_again(keeper, opened):
    requests, other = opened(), opened()
    assert requests.write(create("/mine", b"", EPHEMERAL)) == OK
    session = requests.session.id
    steal(keeper, requests)
    receive(requests, Expiry)
    assert requests.session.expired
    assert requests.write(create("/again")) == EXPIRED
    with pytest.raises(Expired):
        requests.at_once(lambda: requests.session.get("/"))
    assert requests.session._client._connection.connection_stopped.wait(120)
    assert not requests.session._client.connected
    assert other.at_once(lambda: other.session.exists("/mine"))[0].result is None
    assert other.write(create("/again")) == OK
    assert requests.open(120) and requests.session.id != session
    assert requests.write(Delete("/again", -1)) == OK


def test_nothing_answers_where_there_is_no_zookeeper():
    from kafkaproof.impl.seams.zookeeper.requests import Requests

    requests = Requests("127.0.0.1:1", 1.0)
    assert not requests.open(0.3)
    assert issubclass(Lost, Exception)
