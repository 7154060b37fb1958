"""A producer and a consumer of the driver, which ask the broker that they are told to ask; and what logs hold.

Source: Kafka protocol guide, Produce version 3, Fetch version 4 (0.11 to 3.9).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from kafka.protocol.api_message import ApiMessage
from kafka.protocol.consumer.fetch import FetchRequest, FetchResponse
from kafka.protocol.producer.produce import ProduceRequest, ProduceResponse
from kafka.record import MemoryRecords

from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.clients.errors import ERRORS
from kafkaproof.impl.protocol import wire
from kafkaproof.impl.protocol.batches import check, one_record
from kafkaproof.impl.protocol.wire import HOST
from kafkaproof.spec.protocol.batches import CorruptBatch, read_header

PATIENCE, LARGEST = 300.0, 1 << 20
"""How long a producer waits for its answer, in seconds, and how much a consumer reads at once, in bytes."""
_PRODUCE, _FETCH = 3, 4
_NAMES = {code: name for name, code in ERRORS.items()}
ALL, GONE = -1, "GONE"


@dataclass
class Produced:
    """A record that a broker was asked to append: what it has `error` for an answer (None: it has not answered yet;
    GONE where its connection broke, DONE where the record was taken) and at which `offset`.
    """

    value: bytes
    partition: int
    acks: int
    broker: int
    error: str | None = None
    offset: int = -1

    @property
    def is_acknowledged(self) -> bool:
        """Whether the broker has said that all that are in sync have the record."""
        return self.error == DONE and self.acks == ALL


class Clients:
    """A producer, which notes what became of each record that it has `produced`, and a consumer, of a topic.

    `ports`: where clients find each broker.
    """

    def __init__(self, topic: str, ports: dict[int, int]):
        self._topic, self._ports = topic, ports
        self.produced: list[Produced] = []
        self.read: list[bytes] = []

    def produce(self, broker: int, p: int, acks: int) -> Produced:
        """Ask a broker to append the next record, with `acks` 1 or ALL; the answer is noted when it comes."""
        found = Produced(b"record-%d" % len(self.produced), p, acks, broker)
        self.produced.append(found)
        self.send(found)
        return found

    def send(self, record: Produced) -> None:
        """Ask again for a record, of the broker that it names now."""
        record.error = None
        Thread(target=self._send, args=(record,), daemon=True).start()

    def _send(self, record: Produced) -> None:
        kind = ProduceRequest.TopicProduceData
        partition = kind.PartitionProduceData(index=record.partition, records=one_record(record.value))
        request = ProduceRequest(
            transactional_id=None,
            acks=record.acks,
            timeout_ms=int(PATIENCE * 1000),
            topic_data=[kind(name=self._topic, partition_data=[partition])],
        )
        answer = ask(self._ports[record.broker], request, ProduceResponse, _PRODUCE)
        if answer is None:
            record.error = GONE
            return
        found = answer.responses[0].partition_responses[0]
        record.offset, record.error = found.base_offset, _name(found.error_code)

    def consume(self, broker: int, p: int) -> bytes | None:
        """The record that comes next, as a broker tells it; None where it tells of none."""
        found = self.visible(broker, p, len(self.read))
        self.read += found[:1]
        return found[0] if found else None

    def visible(self, broker: int, p: int, offset: int = 0) -> list[bytes]:
        """The records from an offset on that a broker shows to consumers; none where it is not their leader."""
        topic, found = FetchRequest.FetchTopic, []
        while True:
            partition = topic.FetchPartition(partition=p, fetch_offset=offset + len(found), partition_max_bytes=LARGEST)
            request = FetchRequest(
                replica_id=-1,
                max_wait_ms=100,
                min_bytes=1,
                max_bytes=LARGEST,
                isolation_level=0,
                topics=[topic(topic=self._topic, partitions=[partition])],
            )
            answer = ask(self._ports[broker], request, FetchResponse, _FETCH)
            more = _read(answer, offset + len(found)) if answer else []
            if not more:
                return found
            found += more


def _read(answer: ApiMessage, offset: int) -> list[bytes]:
    found = answer.responses[0].partitions[0]
    return values_in(bytes(found.records or b""), offset) if found.error_code == 0 else []


def _name(code: int) -> str:
    return _NAMES.get(code, f"error {code}")


def ask(port: int, request: ApiMessage, answer: Any, version: int) -> ApiMessage | None:
    """What a broker answers to a request; None where nothing listens, or its connection breaks."""
    return wire.ask((HOST, port), request, answer, version, "driver", PATIENCE)


def values_in(data: bytes, offset: int = 0) -> list[bytes]:
    """The values of the records from an offset on that some bytes of a log have, up to a batch that is not whole."""
    found = []
    while data:
        try:
            size = read_header(data).size
            check(data[:size])
        except CorruptBatch:
            break
        for batch in MemoryRecords(data[:size]):
            found += [record.value for record in batch if record.offset >= offset]
        data = data[size:]
    return found


def log_of(files: list[Path]) -> list[bytes]:
    """The values of the records in the segments of a log."""
    return [value for file in sorted(files) if file.exists() for value in values_in(file.read_bytes())]
