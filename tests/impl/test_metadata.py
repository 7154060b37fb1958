"""What clients are told is what UpdateMetadata has told, and may be old."""

from types import SimpleNamespace

from kafkaproof.impl.harness.driving.cluster import TOPIC
from kafkaproof.impl.seams.zookeeper.znodes import State
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from tests.impl.memory_cluster import InMemory, World

BEGIN = [step for b in range(2) for step in (f"session.start(b={b})", f"session.register_broker(b={b})")]
RULE = [
    "failover.elect(b=0)",
    "failover.load_brokers(b=0)",
    "failover.load_state(b=0, p=0)",
    f"machines.create_first_state(b=0, p=0, delivery={ANSWERED})",
]


def metadata(world, b):
    return world.orders[b][1].api.metadata


def leaders(world, b):
    """What the clients of a broker are told of leaders, and of live brokers."""
    known = metadata(world, b).known()
    return {p: told.leader for told_of in known.topics.values() for p, told in told_of.items()}, set(known.brokers)


def test_a_broker_tells_clients_what_it_was_told_last(monkeypatch):
    world = World("legacy", monkeypatch)
    conductor = InMemory(world)
    for b in range(2):
        world.start(b)
    conductor.take_all(*BEGIN)
    conductor.take_all(*RULE)
    assert leaders(world, 1) == ({}, set()), "nothing, before anything has arrived"
    conductor.take_all("cache.update_metadata(b=0, epoch=1)", "cache.update_metadata(b=1, epoch=1)")
    assert leaders(world, 0) == leaders(world, 1) == ({0: 0}, {0, 1})
    assert metadata(world, 1).known().controller == 0 and metadata(world, 1).is_led("nothing") is False
    assert [told.replicas for told in metadata(world, 1).known().topics.popitem()[1].values()] == [(0, 1)]
    world.operator.server.znodes.clear()
    assert leaders(world, 1) == ({0: 0}, {0, 1}), "ZooKeeper is not asked"


def test_clients_are_told_the_ids_of_brokers(monkeypatch):
    world = World("legacy", monkeypatch, ids=(5, 101))
    conductor = InMemory(world)
    for b in range(2):
        world.start(b)
    conductor.take_all(*BEGIN, *RULE, "cache.update_metadata(b=1, epoch=1)")
    state = State.decode(world.content(State.path_of(TOPIC, 0)))
    assert (state.leader, set(state.isr)) == (5, {5, 101}) and leaders(world, 1) == ({0: 0}, {0, 1})
    answers = []
    request = SimpleNamespace(topics=None)
    metadata(world, 1).serve(SimpleNamespace(request=request, version=9, answer=answers.append))
    (told,) = answers
    (partition,) = told.topics[0].partitions
    assert (told.controller_id, [each.node_id for each in told.brokers]) == (5, [5, 101])
    assert (partition.leader_id, partition.replica_nodes, partition.isr_nodes) == (5, [5, 101], [5, 101])


def test_one_that_is_gone_is_told_of_as_live_until_its_failure_is_dealt_with(monkeypatch):
    """It is still in the controller's context while brokers that start meanwhile are told of all (onBrokerStartup)."""
    world = World("fenced", monkeypatch, (3, 3, 1))
    conductor = InMemory(world)
    for b in range(2):
        world.start(b)
    conductor.take_all(*BEGIN)
    conductor.take_all(*RULE)
    world.kill(1)
    world.expire(1)
    world.start(2)
    conductor.take_all("session.start(b=2)", "session.register_broker(b=2)")
    conductor.take_all("brokers.broker_change(b=0)", "brokers.broker_startup(b=0)")
    conductor.take_all("cache.update_metadata(b=2, epoch=1)")
    assert leaders(world, 2)[1] == {0, 1, 2}
