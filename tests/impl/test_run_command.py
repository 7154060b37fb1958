"""``kafkaproof run``: it runs, it ends with all that it started, and says in a line what is wrong."""

import json
import os
import shutil
import signal
import socket
import sys
import time

import pytest
from kazoo.exceptions import ConnectionLoss

from tests.impl.processes import alive, all_end, children

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def lines_until(process, wanted):
    """What a process says, up to the line in which something stands."""
    said = []
    for line in process.stdout:
        said.append(json.loads(line))
        if wanted(said[-1]):
            return said
    raise AssertionError(process.stderr.read())


def all_registered(brokers):
    return lambda line: line.get("what") == "registered" and line["now"] == list(range(brokers))


def test_a_cluster_runs_until_it_is_interrupted_and_nothing_is_left(begin, answer_of, tmp_path):
    process = begin("run", "--brokers", 2, "--partitions", 1, "--directory", "c", "--session-timeout", 60)
    said = []
    while not said or "events-0: leader 0" not in said[-1]:
        said.append(process.stdout.readline())
        assert said[-1], process.stderr.read()
    started = children(process.pid)
    process.send_signal(signal.SIGINT)
    answer = answer_of(process)
    assert (answer.code, answer.err) == (0, "")
    assert any("controller: broker" in line for line in said)
    assert "next: kafkaproof replay c" in answer.out
    assert (tmp_path / "c" / "zookeeper" / "version-2").is_dir()
    assert all_end(started)


def test_an_interrupted_load_is_looked_at_all_the_same(begin, answer_of):
    sizes = ("--brokers", 1, "--partitions", 1, "--replicas", 1)
    process = begin("run", *sizes, "--load", "--json", "--directory", "c", "--session-timeout", 60)
    lines_until(process, lambda line: line.get("what") == "events-0")
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    answer = answer_of(process)
    told = [json.loads(line) for line in answer.out.splitlines()]
    (verdict,) = [line for line in told if "acknowledged" in line]
    assert (answer.code, verdict["lost"]) == (0, 0) and verdict["read"] >= verdict["acknowledged"] > 0


def test_nothing_is_left_when_the_parent_is_killed(begin):
    process = begin("run", "--brokers", 2, "--json", "--directory", "c", "--session-timeout", 60)
    lines_until(process, all_registered(2))
    started = children(process.pid)
    assert len(started) == 3
    os.kill(started[-1], signal.SIGSTOP)
    os.kill(process.pid, signal.SIGKILL)
    assert all_end(started), [child for child in started if alive(child)]


def test_no_zookeeper(kafkaproof):
    """Nor is there a recording then that would be in the way of the next attempt."""
    for _ in range(2):
        complaint = kafkaproof("run", "--zookeeper", "127.0.0.1:1", "--directory", "c").complaint
        assert "no ZooKeeper at 127.0.0.1:1" in complaint


@pytest.mark.parametrize(
    "arguments, wanted",
    [
        (["--zookeeper", "nowhere"], "not HOST:PORT"),
        (["--zookeeper", "h:99999"], "not HOST:PORT"),
        (["--brokers", "0"], "--brokers 0: from 1 to 9"),
        (["--brokers", "2", "--replicas", "3"], "--replicas 3: from 1 to 2"),
        (["--partitions", "1001"], "from 1 to 1000"),
        (["--seconds", "0"], "more than 0"),
        (["--port", "0"], "--port 0"),
        (["--seconds", "nan"], "--seconds nan: more than 0"),
        (["--seconds", "5", "--variant", "legacy", "--scenario", "split-brain"], "a --scenario ends by itself"),
        (["--directory", __file__], f"--directory {__file__}: cannot be made: Not a directory"),
        (["--session-timeout", "0.1"], "--session-timeout 0.1"),
    ],
)
def test_wrong_use(kafkaproof, arguments, wanted):
    assert wanted in kafkaproof("run", *arguments).complaint


class Gone:
    """A cluster whose ZooKeeper ends when it is there."""

    def __init__(self, *_):
        pass

    def __enter__(self):
        raise ConnectionLoss

    def __exit__(self, *_):
        pass


def test_a_zookeeper_that_answers_no_more(kafkaproof, monkeypatch):
    monkeypatch.setattr("kafkaproof.impl.commands.run.Cluster", Gone)
    monkeypatch.setattr("kafkaproof.impl.commands.run.look_at", lambda zookeeper: None)
    complaint = kafkaproof("run", "--zookeeper", "127.0.0.1:1", "--directory", "c").complaint
    assert "127.0.0.1:1: ZooKeeper answers no more (ConnectionLoss()); the recording is in c" in complaint


def test_a_port_that_is_taken(kafkaproof):
    with socket.create_server(("127.0.0.1", 0)) as server:
        complaint = kafkaproof("run", "--port", server.getsockname()[1], "--directory", "c").complaint
    assert "cannot listen on port" in complaint


def test_no_java(kafkaproof, monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no java on PATH" in kafkaproof("run", "--directory", "c").complaint


def test_a_java_that_does_not_start(kafkaproof, monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    (tmp_path / "java").symlink_to(shutil.which("false"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "java does not start" in kafkaproof("run", "--directory", "c").complaint


def test_a_directory_that_is_used_already(kafkaproof, tmp_path):
    (tmp_path / "c" / "recording").mkdir(parents=True)
    (tmp_path / "c" / "recording" / "cluster.json").write_text("{}")
    assert "there is a recording in it" in kafkaproof("run", "--directory", "c").complaint
