"""A controller answers a request for ids of producers after the event in progress, as Kafka's does."""

from kafkaproof.impl.seams.between.data_apis import NOT_CONTROLLER
from kafkaproof.impl.seams.between.messages import Message
from kafkaproof.impl.seams.between.producer_apis import ASKS_IDS, NOT_REGISTERED
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from tests.impl.memory_cluster import InMemory, World


class Noting:
    """Notes what a request is answered."""

    request = None

    def __init__(self):
        self.outcomes = []

    def give(self, outcome):
        self.outcomes.append(outcome)


def asks(world, b, sender=1, epoch=None):
    """What `sender` is answered by a broker; nothing yet while its request waits."""
    reply, broker = Noting(), world.orders[b][1]
    known = broker.process.partition_zookeeper.brokers.get(sender)
    content = {"broker_epoch": known[1] if epoch is None and known else epoch}
    broker.handle(Message(ASKS_IDS, "1.1-1", sender, 0, 0, content, reply=reply))
    return reply.outcomes


def test_a_request_for_ids_waits_for_the_event_in_progress(monkeypatch):
    world = World("fenced", monkeypatch)
    conductor = InMemory(world)
    for b in range(2):
        world.start(b)
    conductor.take_all(
        *(step for b in range(2) for step in (f"session.start(b={b})", f"session.register_broker(b={b})"))
    )
    assert asks(world, 1) == [NOT_CONTROLLER], "it is not the controller"
    conductor.take_all("failover.elect(b=0)", "failover.load_brokers(b=0)")
    answered, unknown, former = asks(world, 0), asks(world, 0, sender=7), asks(world, 0, epoch=-5)
    assert answered == unknown == former == [], "the failover is in progress"
    conductor.take_all("failover.load_state(b=0, p=0)", f"machines.create_first_state(b=0, p=0, delivery={ANSWERED})")
    world.orders[0][1].events.begin()
    assert [each.content for each in answered] == [{"block": [0, 1000]}]
    assert unknown == [NOT_REGISTERED] and former == ["stale_broker_epoch"]
