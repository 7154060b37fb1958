"""Consumers in a group that note what they have read, and commit it afterwards: each record at least once.

They are kafka-python's, unmodified, each in a thread of its own.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import closing, suppress

from kafka import KafkaConsumer
from kafka.errors import KafkaError

SESSION = 10_000


class Consumers:
    """Members of the group `name`, which read the topic until `stop`; `read` has the values by partition and offset."""

    def __init__(self, bootstrap: Callable[[], list[str]], topic: str, name: str, members: int):
        logging.getLogger("kafka").setLevel(logging.CRITICAL)
        self._bootstrap, self._topic, self._name = bootstrap, topic, name
        self.read: dict[tuple[int, int], bytes] = {}
        self.assigned: dict[int, set[int]] = {}
        self.commits = 0
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(n,), daemon=True) for n in range(members)]
        for thread in self._threads:
            thread.start()

    def _run(self, number):
        while not self._stopping.is_set():
            with suppress(KafkaError), closing(self._connected()) as consumer:
                self._consume(number, consumer)

    def _connected(self):
        return KafkaConsumer(
            self._topic,
            bootstrap_servers=self._bootstrap(),
            group_id=self._name,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=SESSION,
            heartbeat_interval_ms=1000,
            max_poll_interval_ms=3 * SESSION,
            retry_backoff_ms=200,
            metadata_max_age_ms=2000,
            request_timeout_ms=2 * SESSION,
        )

    def _consume(self, number, consumer):
        while not self._stopping.is_set():
            for place, records in consumer.poll(timeout_ms=300).items():
                self.read.update({(place.partition, record.offset): record.value for record in records})
            self.assigned[number] = {place.partition for place in consumer.assignment()}
            try:
                consumer.commit(timeout_ms=SESSION)
                self.commits += 1
            except KafkaError:
                continue  # it is read again by whoever has the partition then

    def stop(self) -> None:
        """Leave the group."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(60)
