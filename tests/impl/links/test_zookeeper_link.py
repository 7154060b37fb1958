"""Requests of a real client to a real ZooKeeper are read, lost and held, by what they say."""

import threading

import pytest
from kazoo.client import KazooClient, KazooRetry
from kazoo.exceptions import ConnectionLoss

from kafkaproof.impl.harness.driving.zookeeper_server import parse
from kafkaproof.impl.harness.links.rules import HOLD, NOTICE, Rule
from kafkaproof.impl.harness.links.zookeeper import ZooKeeperLink
from kafkaproof.spec.protocol.passed import ANSWER, NOTIFICATION, REQUEST

WAIT = 120


@pytest.fixture
def link(keeper):
    made = ZooKeeperLink(parse(keeper.address))
    yield made
    made.close()


@pytest.fixture
def client(link):
    made = KazooClient(link.address, timeout=60, command_retry=KazooRetry(max_tries=0))
    made.start(WAIT)
    yield made
    made.stop()
    made.close()


def test_requests_and_answers_say_what_they_do(link, client):
    noticed = link.add(Rule(NOTICE, {}, times=None))
    client.create("/said", b"one")
    client.set("/said", b"two", version=0)
    multi = client.transaction()
    multi.check("/said", 1)
    multi.set_data("/said", b"three", 7)
    multi.delete("/other", 3)
    multi.commit()
    client.delete("/said")
    said = [each.said for each in noticed.taken if each.said["operation"] != "ping"]
    session = hex(client.client_id[0])
    assert all(each["session"] == session for each in said)
    assert [{k: v for k, v in each.items() if k != "session"} for each in said if each["part"] == REQUEST] == [
        {"part": REQUEST, "operation": "create", "path": "/said", "data": "one"},
        {"part": REQUEST, "operation": "setData", "path": "/said", "data": "two", "version": 0},
        {
            "part": REQUEST,
            "operation": "multi",
            "operations": [
                {"operation": "check", "path": "/said", "version": 1},
                {"operation": "setData", "path": "/said", "data": "three", "version": 7},
                {"operation": "delete", "path": "/other", "version": 3},
            ],
        },
        {"part": REQUEST, "operation": "delete", "path": "/said", "version": -1},
    ]
    assert [(each["operation"], each["error"]) for each in said if each["part"] == ANSWER] == [
        ("create", 0),
        ("setData", 0),
        ("multi", -103),
        ("delete", 0),
    ]


def test_an_answer_says_which_operation_of_a_multi_has_failed(link, client):
    noticed = link.add(Rule(NOTICE, {"part": ANSWER, "operation": "multi"}, times=None))
    for version, path in ((0, "/failed/none"), (9, "/failed/two"), (0, "/failed")):
        multi = client.transaction()
        client.ensure_path("/failed")
        multi.check("/failed", version)
        multi.create(path)
        multi.commit()
    assert [(each.said["error"], each.said.get("failed")) for each in noticed.taken] == [
        (0, None),
        (-103, 0),
        (-110, 1),
    ]


def test_the_session_is_known_as_its_client_knows_it(link, client):
    assert link.session == client.client_id


@pytest.mark.parametrize("applied", [True, False])
def test_a_lost_write_was_applied_where_its_answer_is_lost(link, client, applied):
    client.create(f"/lost-{applied}", b"before")
    link.lose(applied, f"/lost-{applied}")
    with pytest.raises(ConnectionLoss):
        client.set(f"/lost-{applied}", b"after")
    assert client.retry(client.get, f"/lost-{applied}")[0] == (b"after" if applied else b"before")


def test_a_write_waits_while_it_is_held_and_its_session_lives(link, client):
    rule = link.add(Rule(HOLD, {"part": REQUEST, "path": "/held"}))
    asked = client.create_async("/held")
    assert rule.await_taken(WAIT)
    assert not asked.ready()
    rule.release()
    assert asked.get(timeout=WAIT) == "/held"


def test_the_word_of_a_watch_is_held(link, client):
    heard = threading.Event()
    client.exists("/watched", watch=lambda event: heard.set())
    rule = link.add(Rule(HOLD, {"part": NOTIFICATION, "event": "NodeCreated"}))
    asked = client.create_async("/watched")
    assert rule.await_taken(WAIT)
    assert not heard.is_set() and not asked.ready()
    rule.release()
    assert heard.wait(WAIT) and asked.get(timeout=WAIT) == "/watched"
