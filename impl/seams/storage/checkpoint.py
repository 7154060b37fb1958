"""Checkpoints on a broker's disk, in Kafka's form (version 0): of high watermarks, and of log start offsets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from kafkaproof.impl.seams.storage.log import FileLog
from kafkaproof.impl.seams.zookeeper.partition_numbers import Places

NAME, STARTS = "replication-offset-checkpoint", "log-start-offset-checkpoint"


class Checkpoint:
    """One of Kafka's offsets for each partition, as it was written last: that of its high watermark, or by another name."""

    def __init__(self, directory: Path, places: Places, name: str = NAME):
        directory.mkdir(parents=True, exist_ok=True)
        self._file, self._places = directory / name, places
        self.offsets = self._read()

    def _read(self) -> dict[int, int]:
        """What the file says; a file that cannot be read says nothing: leaders tell followers again."""
        try:
            rows = [row.split() for row in self._file.read_text().splitlines()[2:]]
            found = {self._places.number_on_disk(topic, int(p)): int(offset) for topic, p, offset in rows}
            return {p: offset for p, offset in found.items() if p is not None}
        except (OSError, ValueError):
            return {}

    def offset_of(self, p: int) -> int:
        """The offset of a partition, 0 where nothing was written."""
        return self.offsets.get(p, 0)

    def place_in(self, log: FileLog, p: int) -> int:
        """The place of the high watermark of a partition in its log, as far as that goes."""
        return log.place_of(self.offset_of(p))

    def write(self, offsets: Mapping[int, int]) -> None:
        """Write the offsets of partitions, all or nothing."""
        rows = ["{} {} {}".format(*self._places.on_disk(p), offset) for p, offset in offsets.items()]
        new = self._file.with_suffix(".tmp")
        new.write_text("\n".join(["0", str(len(rows)), *rows, ""]))
        os.replace(new, self._file)
        self.offsets = dict(offsets)
