"""A producer that notes what was acknowledged, and a reader that looks in the end whether all of it is there.

The producer is kafka-python's, with acks=all; so is the reader. A record that was acknowledged must be read at the
offset that was acknowledged.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError

from kafkaproof.spec.errors import Unfinished

PAUSE, TIMEOUT, AT_ONCE, PATIENCE = 0.05, 40, 1, 300


class Verdict(NamedTuple):
    """What became of the records: how many were acknowledged and read, and which acknowledged ones are not there."""

    acknowledged: int
    read: int
    lost: list[tuple[int, int, bytes]]


class Load:
    """Produces numbered records to every partition of a topic, one after the other, until `stop`.

    Use it as a context, so that it ends where something else fails.
    `noted`: what was acknowledged last, by partition and offset; `replaced`: what was acknowledged there before, with
    both.
    """

    def __init__(self, bootstrap: Callable[[], list[str]], topic: str, partitions: int):
        logging.getLogger("kafka").setLevel(logging.CRITICAL)
        self._bootstrap, self._topic, self._partitions = bootstrap, topic, partitions
        self.noted: dict[tuple[int, int], bytes] = {}
        self.replaced: list[tuple[int, int, bytes]] = []
        self._stopping = threading.Event()
        self._patience: float = TIMEOUT
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self) -> Load:
        return self

    def __exit__(self, *_) -> None:
        self.stop(AT_ONCE)

    def _run(self):
        producer, number = self._connect(), 0
        while not self._stopping.wait(PAUSE):
            value, p = str(number).encode(), number % self._partitions
            number += 1
            try:
                producer.send(self._topic, value=value, partition=p).add_callback(self._note, value)
            except (KafkaError, ValueError):  # ValueError: a partition that the broker it asked has yet to hear of
                continue
        close_producer(producer, self._patience)

    def _connect(self):
        while not self._stopping.is_set():
            try:
                while not self._bootstrap():
                    time.sleep(PAUSE)
                return KafkaProducer(
                    bootstrap_servers=self._bootstrap(),
                    acks="all",
                    enable_idempotence=False,
                    retry_backoff_ms=200,
                    max_in_flight_requests_per_connection=1,
                    max_block_ms=10_000,
                    request_timeout_ms=10_000,
                    delivery_timeout_ms=30_000,
                    metadata_max_age_ms=2000,
                )
            except KafkaError:
                time.sleep(0.2)

    def _note(self, value, metadata):
        place = metadata.partition, metadata.offset
        if place in self.noted:
            self.replaced.append((*place, self.noted[place]))
        self.noted[place] = value

    @property
    def acknowledged(self) -> int:
        """How many records have been acknowledged."""
        return len(self.noted) + len(self.replaced)

    def stop(self, patience: float = TIMEOUT) -> None:
        """Produce no more; what is under way may still be acknowledged, within so many seconds."""
        self._patience = patience
        self._stopping.set()
        self._thread.join(2 * TIMEOUT)

    def _ends(self, consumer, places, check):
        """The high watermarks, of all partitions; asked for again where a leader does not answer."""
        ends, until = {}, time.monotonic() + PATIENCE
        while len(ends) < len(places):
            check()
            try:
                ends = consumer.end_offsets(places)
            except (KafkaError, KeyError):  # kafka-python leaves out a partition without a leader, and then misses it
                time.sleep(PAUSE)
            if len(ends) < len(places) and time.monotonic() > until:
                raise Unfinished(
                    f"no leader answers for {self._topic} {sorted(set(places) - ends.keys())}: it is not "
                    "known what has become of the records"
                )
        return ends

    def _is_all(self, consumer, places, ends, found, may_lose) -> bool:
        """Whether the high watermarks are reached, and, unless it may be lost, whatever was acknowledged is read.

        A leader that was just elected may know of a high watermark that lies before what its predecessor acknowledged.
        """
        try:
            at_end = all(consumer.position(place) >= ends[place] for place in places)
        except KafkaError:
            return False
        return at_end and (may_lose or self.noted.keys() <= found.keys())

    def read_all(self, check: Callable[[], None], may_lose: bool = False) -> Verdict:
        """Read every partition from its beginning to its high watermark, and compare.

        What was acknowledged and is not read within five minutes is lost; with `may_lose` what is not read at once.
        `check` raises where there is no use in waiting.
        """
        consumer = KafkaConsumer(
            bootstrap_servers=self._bootstrap(),
            group_id=None,
            consumer_timeout_ms=TIMEOUT * 1000,
            auto_offset_reset="earliest",
        )
        places = [TopicPartition(self._topic, p) for p in range(self._partitions)]
        consumer.assign(places)
        ends = self._ends(consumer, places, check)
        found: dict[tuple[int, int], bytes] = {}
        until = time.monotonic() + PATIENCE
        while not self._is_all(consumer, places, ends, found, may_lose) and time.monotonic() < until:
            check()
            for place, records in consumer.poll(timeout_ms=1000).items():
                found.update({(place.partition, record.offset): record.value for record in records})
        consumer.close()
        lost = self.replaced + [
            (p, offset, value) for (p, offset), value in sorted(self.noted.items()) if found.get((p, offset)) != value
        ]
        return Verdict(self.acknowledged, len(found), lost)


def close_producer(producer: KafkaProducer, patience: float) -> None:
    """Close a producer; what is not acknowledged within `patience` seconds is given up."""
    try:
        producer.close(timeout=patience)
    except KafkaError:
        pass
