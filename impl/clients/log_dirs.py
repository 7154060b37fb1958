"""DescribeLogDirs: the one log directory of a broker, and how large the log of each of its partitions is."""

from __future__ import annotations

import shutil

from kafka.protocol.admin import DescribeLogDirsResponse

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.clients.errors import ERRORS
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.spec.partition.context import NO_EPOCH


class LogDirs:
    """Tells clients of one broker what it has on its disk."""

    def __init__(self, process: Process):
        self._process = process

    def serve(self, call: Call) -> None:
        """Answer a request: of the partitions that it names, or of all.

        Source: kafka.server.ReplicaManager.describeLogDirs, 1.0 to 3.9.
        """
        asked = call.request.topics
        wanted = None if asked is None else {(topic.topic, p) for topic in asked for p in topic.partitions}
        kind, topics = DescribeLogDirsResponse.DescribeLogDirsResult, {}
        for p, plane in enumerate(self._process.planes):
            place = self._process.places.place_of(p)
            is_here = self._process.partition.replicas[p].leader_epoch != NO_EPOCH
            if place and is_here and (wanted is None or place in wanted):
                topics.setdefault(place[0], []).append(
                    kind.DescribeLogDirsTopic.DescribeLogDirsPartition(
                        partition_index=place[1], partition_size=plane.log.size, offset_lag=0, is_future_key=False
                    )
                )
        disk = shutil.disk_usage(self._process.settings.logs)
        found = kind(
            error_code=ERRORS[DONE],
            log_dir=self._process.settings.logs,
            topics=[kind.DescribeLogDirsTopic(name=name, partitions=each) for name, each in topics.items()],
            total_bytes=disk.total,
            usable_bytes=disk.free,
        )
        call.answer(DescribeLogDirsResponse(throttle_time_ms=0, error_code=ERRORS[DONE], results=[found]))
