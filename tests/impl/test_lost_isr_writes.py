"""A controller whose write of an ISR got no answer writes again, before it answers the leader, as Kafka's ZooKeeper client does."""

import pytest

from kafkaproof.impl.seams.between.messages import Message
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.replica.network import SENT
from kafkaproof.spec.running.replica_messages import WRITTEN
from tests.impl.memory_cluster import InMemory, World
from tests.impl.test_queued_requests import Noting

ALONE = 1
"""The ISR of broker 0 alone."""


@pytest.fixture
def world(monkeypatch):
    """Broker 0 is the controller, and leads the partition; broker 1 is in sync."""
    made = World("fenced", monkeypatch)
    for b in range(2):
        made.start(b)
    conductor = InMemory(made)
    conductor.take_all(
        *(step for b in range(2) for step in (f"session.start(b={b})", f"session.register_broker(b={b})")),
        "failover.elect(b=0)",
        "failover.load_brokers(b=0)",
        "failover.load_state(b=0, p=0)",
        f"machines.create_first_state(b=0, p=0, delivery={ANSWERED})",
        "control.leader_and_isr(b=0, epoch=1, p=0)",
        "data_plane.shrink_isr(b=0, p=0, follower=1)",
    )
    return made


def test_an_answer_to_a_leader_waits_until_its_isr_is_written(world):
    fields = {"state": SENT, "epoch": 0, "isr": ALONE}
    content = {"p": 0, "leader_epoch": 0, "isr": ALONE, "version": 0, "fields": fields}
    broker, reply = world.orders[0][1], Noting()
    world.server.lost, world.server.lost_at = False, ".*/state"
    broker.handle(Message("AlterPartition", "0.1-9", 0, 0, 0, content, reply=reply))
    assert broker.events.begin() and reply.outcomes == [] and broker.events.waits
    assert broker.events.begin() and [each.kind for each in reply.outcomes] == [WRITTEN]
