"""A link is cut, mended, made slow; frames are held, delayed, dropped and noted."""

import socket
import threading
import time
from contextlib import suppress

import pytest

from kafkaproof.impl.harness.links.proxy import Proxy
from kafkaproof.impl.harness.links.rules import DELAY, DROP, HOLD, NOTICE, Rule
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.protocol.passed import ANSWER, DROPPED, PASSED, REQUEST, Recorder, read_passed

WAIT = 120


class Words(Proxy):
    """A proxy of frames that are words; "ping" overtakes."""

    def read(self, connection, data, part):
        return {"word": data[4:].decode()}

    def overtakes(self, data):
        return data[4:] == b"ping"


def frame(word):
    return len(word).to_bytes(4, "big") + word.encode()


@pytest.fixture
def server():
    """A server that answers with what it is told."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=echo, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()
    listener.close()


@pytest.fixture
def proxy(server):
    made = Words(server)
    yield made
    made.close()


def echo(connection):
    with connection, suppress(ConnectionError):
        while data := connection.recv(100):
            connection.sendall(data)


def connect(proxy):
    host, port = proxy.address.split(":")
    return socket.create_connection((host, int(port)), timeout=WAIT)


def say(link, *words):
    for word in words:
        link.sendall(frame(word))


def heard(link):
    """The next word that comes; None where the link is closed."""
    try:
        head = link.recv(4, socket.MSG_WAITALL)
        return link.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL).decode() if head else None
    except ConnectionError:
        return None


def test_what_is_sent_arrives(proxy):
    with connect(proxy) as link:
        say(link, "a" * 100_000, "b")
        assert heard(link) == "a" * 100_000 and heard(link) == "b"


def test_a_link_that_is_cut_is_closed_and_can_be_mended(proxy):
    with connect(proxy) as link:
        say(link, "x")
        assert heard(link) == "x"
        proxy.cut()
        assert heard(link) is None
    with connect(proxy) as link:
        assert heard(link) is None
    proxy.mend()
    with connect(proxy) as link:
        say(link, "y")
        assert heard(link) == "y"


def test_a_slow_link_holds_back_each_frame_both_ways(proxy, monkeypatch):
    asked = []

    async def sleep(seconds):
        asked.append(seconds)

    monkeypatch.setattr("kafkaproof.impl.harness.links.proxy.asyncio.sleep", sleep)
    proxy.delay = 7.0
    with connect(proxy) as link:
        say(link, "z")
        assert heard(link) == "z"
    assert sum(6.0 < seconds <= 7.0 for seconds in asked) == 2


def test_what_is_held_comes_when_it_is_released_and_what_is_behind_it_waits(proxy):
    rule = proxy.add(Rule(HOLD, {"part": REQUEST, "word": "stay"}))
    with connect(proxy) as link:
        say(link, "go", "stay", "behind", "ping")
        assert rule.await_taken(WAIT)
        assert [heard(link), heard(link)] == ["go", "ping"]
        rule.release()
        assert [heard(link), heard(link)] == ["stay", "behind"]


def test_each_frame_that_is_held_is_let_go_or_dropped_by_itself(proxy):
    rule = proxy.add(Rule(HOLD, {"part": REQUEST, "word": "stay.*"}, times=None))
    with connect(proxy) as link, connect(proxy) as other:
        say(link, "stay 1", "stay 2")
        assert rule.await_taken(WAIT)
        say(other, "stay 3")
        assert rule.await_taken(WAIT, 2)
        first, third = rule.held
        assert [first.said["word"], third.said["word"]] == ["stay 1", "stay 3"]
        third.drop()
        assert heard(other) is None
        first.let_go()
        assert heard(link) == "stay 1" and rule.await_taken(WAIT, 3)
        assert [frame.said["word"] for frame in rule.held] == ["stay 2"]
        rule.release()
        assert heard(link) == "stay 2" and not rule.held


def test_what_is_held_of_one_that_has_gone_is_stale(proxy):
    rule = proxy.add(Rule(HOLD, {"part": REQUEST}))
    with connect(proxy) as link:
        say(link, "stay")
        assert rule.await_taken(WAIT) and rule.held
    until = time.monotonic() + WAIT
    while rule.held and time.monotonic() < until:
        time.sleep(0.01)
    assert not rule.held and rule.taken[0].is_stale and rule.undecided


def test_what_is_held_for_one_that_has_gone_is_lost():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Words(listener.getsockname())
        rule = proxy.add(Rule(HOLD, {"part": REQUEST}))
        with connect(proxy) as link:
            accepted, _ = listener.accept()
            say(link, "stay")
            assert rule.await_taken(WAIT) and rule.undecided
            accepted.close()
            assert heard(link) is None
        assert not rule.undecided and rule.taken[0].verdict == DROPPED
        proxy.close()


def test_an_answer_is_held_alone(proxy):
    rule = proxy.add(Rule(HOLD, {"part": ANSWER, "word": "stay"}))
    with connect(proxy) as link, connect(proxy) as other:
        say(link, "stay")
        assert rule.await_taken(WAIT)
        say(other, "stay")
        assert heard(other) == "stay"
        proxy.remove(rule)
        assert heard(link) == "stay"


@pytest.mark.parametrize("part", [REQUEST, ANSWER])
def test_what_is_dropped_breaks_the_connection_once(proxy, part):
    rule = proxy.add(Rule(DROP, {"part": part, "word": "[ab]"}))
    with connect(proxy) as link:
        say(link, "c")
        assert heard(link) == "c"
        say(link, "a")
        assert heard(link) is None
    assert [frame.said for frame in rule.taken] == [{"part": part, "word": "a"}]
    with connect(proxy) as link:
        say(link, "a")
        assert heard(link) == "a"


def test_a_delayed_frame_comes_late_and_a_noticed_one_at_once(proxy):
    late, seen = (
        proxy.add(Rule(DELAY, {"part": REQUEST}, times=2, seconds=0.01)),
        proxy.add(Rule(NOTICE, {}, times=None)),
    )
    with connect(proxy) as link:
        say(link, "a", "b", "c")
        assert [heard(link) for _ in range(3)] == ["a", "b", "c"]
    assert len(late.taken) == 2 and [frame.said["word"] for frame in seen.taken if frame.said["part"] == ANSWER] == [
        "a",
        "b",
        "c",
    ]


def test_what_passed_is_noted_with_what_became_of_it(server, tmp_path):
    proxy = Words(server, Recorder(tmp_path / "frames"))
    proxy.add(Rule(DROP, {"part": ANSWER, "word": "b"}))
    with connect(proxy) as link:
        say(link, "a")
        assert heard(link) == "a"
        say(link, "b")
        assert heard(link) is None
    proxy.close()
    noted = list(read_passed(tmp_path / "frames"))
    assert [(each.part, each.became, each.data) for each in noted if each.part == REQUEST] == [
        (REQUEST, PASSED, frame("a")),
        (REQUEST, PASSED, frame("b")),
    ]
    assert [(each.became, each.data) for each in noted if each.part == ANSWER] == [
        (PASSED, frame("a")),
        (DROPPED, frame("b")),
    ]
    assert noted == sorted(noted) and {each.connection for each in noted} == {1}


def test_a_record_that_is_cut_off_has_the_frames_before(server, tmp_path):
    recorder = Recorder(tmp_path / "frames")
    for word in "ab":
        recorder.note(1, REQUEST, PASSED, frame(word))
    recorder.close()
    (tmp_path / "frames").write_bytes((tmp_path / "frames").read_bytes()[:-1])
    assert [each.data for each in read_passed(tmp_path / "frames")] == [frame("a")]


def test_what_is_no_record_of_frames_is_refused(tmp_path):
    (tmp_path / "text").write_text("no frames at all, but a text that is longer than a head")
    with pytest.raises(UserError, match="text: not a record of what passed"):
        list(read_passed(tmp_path / "text"))
    with pytest.raises(UserError, match="none: cannot be read: No such file"):
        list(read_passed(tmp_path / "none"))
