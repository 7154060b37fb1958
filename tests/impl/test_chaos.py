"""Chaos does only what is possible, the same for the same seed, and mends everything in the end."""

from types import SimpleNamespace

import pytest

from kafkaproof.impl.harness.driving import chaos
from kafkaproof.impl.harness.driving.acts import KAFKA, ZOOKEEPER
from kafkaproof.impl.harness.driving.chaos import MOST_TOPICS, OFTEN, Chaos
from kafkaproof.impl.harness.driving.damage import Broken
from kafkaproof.spec.running.broker_ids import BrokerIds


class Child:
    def __init__(self):
        self.running, self.is_ending, self.session = True, False, (1, b"")


class FakeCluster:
    """Notes what is done to it, and follows it as a cluster would."""

    class size:
        brokers, standing, partitions, replicas, min_isr, variant = 3, 3, 2, 3, 1, "fenced"
        release, broker_ids = "", BrokerIds(range(3))

    owns_zookeeper = True

    def __init__(self):
        self.children = {b: Child() for b in range(3)}
        self.paused, self.done, self.topics = set(), [], []

    def owner(self, broker):
        return 1 if self.children[broker].running else None

    def registered(self):
        return [b for b, child in self.children.items() if child.running]

    def is_whole(self):
        return len(self.registered()) == 3

    def await_that(self, condition, what):
        assert condition(), what

    def start(self, broker):
        assert not self.children[broker].running
        self.children[broker].running = True
        self.done.append(("start", broker))

    def kill(self, broker):
        assert self.children[broker].running
        self.children[broker].running = False
        self.done.append(("kill", broker))

    stop = kill
    """It is noted as a kill."""

    def create_topic(self, topic):
        assert topic not in self.topics
        self.topics.append(topic)
        self.done.append(("create_topic", topic))

    def delete_topic(self, topic):
        self.topics = [each for each in self.topics if each != topic]
        self.done.append(("delete_topic", topic))

    def created_topics(self):
        return self.topics

    def pause(self, broker):
        assert self.children[broker].running and broker not in self.paused
        self.paused.add(broker)
        self.done.append(("pause", broker))

    def resume(self, broker):
        assert broker in self.paused
        self.paused.remove(broker)
        self.done.append(("resume", broker))

    def __getattr__(self, name):
        assert name in OFTEN or name == "let_go"
        return lambda *arguments: self.done.append((name, *arguments))


class Silent:
    def say(self, *_, **__):
        pass

    def look(self, cluster):
        pass


@pytest.fixture
def run(monkeypatch):
    """Run some minutes of chaos at once."""

    def some_minutes(seed, unclean=False):
        times = iter(range(100_000))
        clock = SimpleNamespace(monotonic=lambda: next(times), sleep=lambda seconds: None)
        monkeypatch.setattr(chaos, "time", clock)
        cluster = FakeCluster()
        Chaos(cluster, seed, unclean).run(300, Silent())
        return cluster

    return some_minutes


def is_slow(done):
    return done[0] == "slow_zookeeper"


@pytest.mark.parametrize("seed", range(5))
def test_all_faults_come_and_all_is_mended(run, seed):
    cluster = run(seed)
    assert {name for name, *_ in cluster.done} - {"let_go"} == OFTEN.keys() - {"stop", "allow_unclean"}
    assert not any({b: delay for name, b, delay in filter(is_slow, cluster.done)}.values())
    assert sum(name == "create_topic" for name, *_ in cluster.done) == MOST_TOPICS
    assert not cluster.paused and cluster.registered() == [0, 1, 2]


class Failing(FakeCluster):
    """A cluster in which the next process cannot come up."""

    fails = True

    def start(self, broker):
        super().start(broker)
        self.children[broker].running, self.fails = not self.fails, False

    def await_that(self, condition, what):
        assert any(condition() for _ in range(3)), what


def test_a_broker_that_could_not_come_up_is_started_again():
    """One of 3.9.1 that is stopped while it starts may end by itself, and nobody else would start it."""
    cluster = Failing()
    cluster.kill(1)
    Broken(cluster).mend()
    assert cluster.registered() == [0, 1, 2] and cluster.done.count(("start", 1)) == 2


class ShuttingDown(FakeCluster):
    """A cluster whose brokers take their time to shut down: as long as somebody waits for it."""

    def stop(self, broker):
        self.children[broker].is_ending = True
        self.done.append(("stop", broker))

    def await_that(self, condition, what):
        assert not condition()
        for child in self.children.values():
            child.running, child.is_ending = child.running and not child.is_ending, False
        super().await_that(condition, what)


def test_a_broker_that_shuts_down_is_started_when_it_has_ended():
    cluster = ShuttingDown()
    broken = Broken(cluster)
    broken.do("stop", 1)
    assert cluster.registered() == [0, 1, 2], "nobody has waited"
    broken.start(1)
    assert cluster.registered() == [0, 1, 2] and cluster.done == [("stop", 1), ("start", 1)]


def test_the_same_seed_does_the_same(run):
    assert run(3).done == run(3).done != run(4).done


def test_to_real_brokers_is_done_what_they_can(run, monkeypatch):
    monkeypatch.setattr(FakeCluster.size, "release", "3.9.1")
    done = run(3).done
    assert not {"fill_disk", "tear"} & {name for name, *_ in done}
    assert {link for name, *about in done if name == "lose_frame" for link in about[1:2]} == {ZOOKEEPER, KAFKA}


def test_unclean_elections_are_allowed_where_that_was_asked_for(run):
    assert ("allow_unclean",) in run(3, unclean=True).done
