"""A member of the load's group whose client fails leaves nothing behind, and joins again."""

from types import SimpleNamespace

from kafka import TopicPartition
from kafka.errors import KafkaTimeoutError

from kafkaproof.impl.harness.driving import consumers
from kafkaproof.impl.harness.driving.consumers import Consumers


class Client:
    """A consumer of kafka-python's that fails when it is first asked for records; `all` that there were."""

    all: list["Client"] = []

    def __init__(self, *topics, **settings):
        self.closed = False
        self.all.append(self)

    def poll(self, timeout_ms):
        if len(self.all) == 1:
            raise KafkaTimeoutError
        return {TopicPartition("events", 0): [SimpleNamespace(offset=len(self.all), value=b"7")]}

    def assignment(self):
        return ()

    def commit(self, timeout_ms):
        group.stopping()

    def close(self):
        self.closed = True


group = SimpleNamespace()


def test_a_client_that_has_failed_is_closed_before_another_joins(monkeypatch):
    monkeypatch.setattr(consumers, "KafkaConsumer", Client)
    readers = Consumers(list, "events", "readers", members=0)
    group.stopping = readers.stop
    readers._run(0)
    assert [client.closed for client in Client.all] == [True, True] and readers.read == {(0, 2): b"7"}
