"""A broker that ends by itself, and a cluster that never becomes whole: `kafkaproof run` says so, and ends."""

import os
import queue
import signal
import socket
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from kafkaproof.impl.broker.settings import Settings
from kafkaproof.impl.harness.conducting import conductor
from kafkaproof.impl.harness.conducting.conductor import Conductor
from kafkaproof.impl.harness.driving import cluster
from kafkaproof.impl.harness.driving import zookeeper_server as keeper
from kafkaproof.impl.harness.driving.child import BrokerChild
from kafkaproof.impl.harness.driving.cluster import Cluster
from kafkaproof.spec.errors import Unfinished
from tests.impl.processes import all_end, children

SETTINGS = Settings(0, 1, 1, 1, 1, 1, "fenced", "events", "127.0.0.1:1", 2.0, "", "")
LONG = "import time; time.sleep(600)"
LEAVES = (
    "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit()); print('{}', flush=True)\n"
    "while True: time.sleep(0.05)"
)
"""It sleeps for short whiles: a signal between Python's last look and a sleep waits for its end."""


def python(monkeypatch, text):
    """Let the brokers run this."""
    monkeypatch.setattr(BrokerChild, "program", (sys.executable, "-c", text))


def brokers(parent):
    """The brokers that a command has started."""
    return [
        child
        for child in children(parent)
        if b"kafkaproof.impl.server.main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def complaint(answer):
    """The one line on standard error, of a run that has not come to its end."""
    (line,) = answer.err.splitlines()
    assert answer.code == 3 and line.startswith("kafkaproof: "), answer
    return line


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_broker_that_is_killed_by_somebody_else(begin, answer_of):
    process = begin("run", "--brokers", 2, "--directory", "c", "--session-timeout", 60)
    while len(brokers(process.pid)) < 2:
        time.sleep(0.01)
    started = children(process.pid)
    os.kill(brokers(process.pid)[-1], signal.SIGKILL)
    told = complaint(answer_of(process))
    assert "broker 1 has ended by itself: killed by SIGKILL, by somebody else or for want of memory" in told
    assert "its log is c/broker-1.log" in told and "`kafkaproof replay c` follows what they did" in told
    assert all_end(started)


def test_a_broker_that_fails(kafkaproof, monkeypatch):
    python(monkeypatch, "raise MemoryError('no more')")
    told = complaint(kafkaproof("run", "--brokers", 1, "--directory", "c"))
    assert (
        "broker 0 has ended by itself: exit status 1; its log is c/broker-0.log, which ends with: MemoryError: no "
        "more; all processes are ended" in told
    )


def test_a_cluster_that_never_becomes_whole(kafkaproof, monkeypatch):
    python(monkeypatch, LONG)
    monkeypatch.setattr(cluster, "PATIENCE", 0.1)
    told = complaint(kafkaproof("run", "--brokers", 2, "--chaos", 1, "--directory", "c"))
    assert "in vain until all brokers are there: registered are [] of 2 brokers, the controller is nobody" in told
    assert "see c/broker-*.log" in told


def test_a_zookeeper_that_has_ended(tmp_path):
    keeper = SimpleNamespace(exit_status=137, log=tmp_path / "zookeeper.log")
    with pytest.raises(Unfinished, match="ZooKeeper has ended by itself, exit status 137: see .*zookeeper.log"):
        Cluster.check(SimpleNamespace(_keeper=keeper))


def test_a_broker_that_ends_when_it_is_to_take_a_step(monkeypatch):
    def check():
        raise Unfinished("broker 0 has ended by itself")

    monkeypatch.setattr(conductor, "LOOK", 0.0)
    told = SimpleNamespace(told=queue.Queue(), command=lambda **_: None)
    with pytest.raises(Unfinished, match="broker 0 has ended"):
        Conductor(SimpleNamespace(children={0: told}, check=check), None).take("session.register_broker(b=0)")


@pytest.fixture
def child(monkeypatch, tmp_path):
    """Start a process; it is killed in the end."""
    started = []

    def start(text):
        python(monkeypatch, text)
        started.append(BrokerChild(SETTINGS, tmp_path / "log"))
        return started[-1]

    yield start
    for each in started:
        each.signal(signal.SIGKILL)
        each.wait(60)


def ended(process, may_leave=False):
    while process.running:
        time.sleep(0.01)
    return process.unwanted_end(may_leave)


def test_an_end_that_was_asked_for_is_none_by_itself(child):
    killed = child(LONG)
    killed.signal(signal.SIGKILL)
    assert ended(killed) is None
    early = child(LONG)
    early.signal(signal.SIGTERM)
    assert ended(early) is None
    torn = child("import os; input(); input(); os.kill(os.getpid(), 9)")
    torn.command(do="break_log", p=0, after=0, dies=True)
    assert ended(torn) is None
    left = child(LEAVES)
    left.told.get(timeout=60)
    assert left.unwanted_end(may_leave=False) is None
    left.signal(signal.SIGTERM)
    assert ended(left) is None
    stopped = child(LONG)
    stopped.wait(0)
    assert ended(stopped) is None


def test_a_port_that_is_kept_for_a_broker_is_given_to_no_connection_meanwhile():
    """A real broker listens seconds after its port was chosen, and once more whenever it is started again."""
    with socket.create_server((keeper.HOST, 0)) as given, socket.create_connection(given.getsockname()) as connection:
        assert not {given.getsockname()[1], connection.getsockname()[1], 32768} & set(keeper.PORTS)
    assert keeper.free_port() in keeper.PORTS


class Stopping(Cluster):
    """A cluster of one process."""

    shuts_down_within = 60.0

    def __init__(self, child):
        self.children = {0: child}

    def note(self, fault, **about):
        pass


def test_nobody_waits_for_the_end_of_a_controlled_shutdown(child):
    stopped = child(LEAVES)
    stopped.told.get(timeout=60)
    stopped.signal(signal.SIGSTOP)
    Stopping(stopped).stop(0)
    assert stopped.is_ending
    stopped.signal(signal.SIGCONT)
    assert ended(stopped) is None and not stopped.is_ending


def test_one_that_leaves_by_its_own_steps_may_do_so_where_it_was_disturbed(child):
    left = child("")
    assert "could not register" in ended(left) and ended(left, may_leave=True) is None


def test_one_that_fails_when_it_is_asked_to_end(child):
    failed = child(LEAVES.replace("exit()", "exit(1)"))
    failed.told.get(timeout=60)
    failed.signal(signal.SIGTERM)
    assert ended(failed, may_leave=True).startswith("exit status 1; its log is ")
