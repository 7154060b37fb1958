"""What a broker knows of the partitions and logs that requests of Kafka name, and where other brokers listen."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from kafkaproof.impl.broker.replica import Plane
from kafkaproof.impl.seams.between.messages import Receiver
from kafkaproof.impl.seams.network import PartitionNetwork
from kafkaproof.impl.seams.storage.log import FileLog
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.impl.seams.zookeeper.znodes import BrokerId
from kafkaproof.spec.running.broker_ids import PLAIN, BrokerIds


class Known:
    """The names of one broker's process, as `kafkaproof.impl.seams.between.naming.Naming` asks for them.

    `addresses`: where brokers listen, as UpdateMetadata has told it.
    """

    def __init__(self, network: PartitionNetwork, planes: Sequence[Plane], ids: BrokerIds = PLAIN):
        zookeeper = network.zookeeper
        self.broker, self._network, self._places, self._planes = network.broker, network, zookeeper.places, planes
        self._zookeeper, self._requests = zookeeper, zookeeper.requests
        self.brokers = ids
        self.addresses: dict[int, BrokerId] = {}
        self._ids: dict[str, UUID] = {}

    @property
    def broker_epoch(self) -> int:
        """The czxid of its registration."""
        return self._network.broker_epoch

    @property
    def own_id(self) -> int:
        """Its id."""
        return self.brokers.id(self.broker)

    def place_of(self, p: int) -> tuple[str, int]:
        """The topic and the partition of a number; what it is called on a disk, where no topic is known to have it."""
        return self._places.place_of(p) or self._places.on_disk(p)

    def id_of(self, topic: str) -> UUID | None:
        """As Naming."""
        return self._ids.get(topic)

    def name_of(self, id: UUID) -> str | None:
        """As Naming."""
        return next((topic for topic, known in self._ids.items() if known == id), None)

    def note_id(self, topic: str, id: UUID | None) -> None:
        """As Naming."""
        if id is None:
            self._ids.pop(topic, None)
        else:
            self._ids[topic] = id

    def number_of(self, topic: str, partition: int) -> int | None:
        """The number of a partition, None where this broker knows of none, and learns of none from ZooKeeper; raises Expired
        and NotAnswered.
        """
        if self._places.number_on_disk(topic, partition) is None:
            self._zookeeper.look_up(topic)
        return self._places.number_on_disk(topic, partition)

    def offset_of(self, p: int, place: int) -> int:
        """Kafka's offset of the place of a batch in its log; without logs the place itself."""
        return self._log(p).offset_of(place) if self._planes else place

    def start_of(self, p: int) -> int:
        """As Naming; without logs 0."""
        return self._log(p).start_offset if self._planes else 0

    def boundary(self, p: int, offset: int) -> int:
        """As Naming; without logs the offset itself."""
        return self._log(p).boundary(offset) if self._planes else offset

    def _log(self, p: int) -> FileLog:
        """The log of a partition; requests name some that this broker has not heard of before."""
        self._places.reach(p)
        return self._planes[p].log

    def reach(self, broker: int) -> Receiver | None:
        """Where a broker listens: as UpdateMetadata has told it, or else as it is registered; None where it is not."""
        found = self.addresses.get(broker)
        if found is None:
            session = self._requests.session
            try:
                reply = self._requests.at_once(lambda: session.get(BrokerId.path_of(broker)))[0]
            except (Expired, NotAnswered):
                return None
            found = None if reply.error else BrokerId.decode(reply.result[0])
        return found and Receiver(broker, *found.inner)
