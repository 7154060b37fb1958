"""The checkpoint of high watermarks on a broker's disk, in Kafka's form (replication-offset-checkpoint, version 0)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kafkaproof.impl.seams.storage.log import FileLog
from kafkaproof.impl.seams.zookeeper.partition_numbers import Places

NAME = "replication-offset-checkpoint"


class Checkpoint:
    """Kafka's offset of each partition's high watermark, as it was written last."""

    def __init__(self, directory: Path, places: Places):
        directory.mkdir(parents=True, exist_ok=True)
        self._file, self._places = directory / NAME, places
        self.offsets = self._read()

    def _read(self) -> dict[int, int]:
        """What the file says; a file that cannot be read says nothing: high watermarks are found again by fetching."""
        try:
            rows = [row.split() for row in self._file.read_text().splitlines()[2:]]
            found = {self._places.number_on_disk(topic, int(p)): int(offset) for topic, p, offset in rows}
            return {p: offset for p, offset in found.items() if p is not None}
        except (OSError, ValueError):
            return {}

    def place_in(self, log: FileLog, p: int) -> int:
        """The place of the high watermark of a partition in its log, as far as that goes."""
        return log.place_of(self.offsets.get(p, 0))

    def write(self, offsets: Sequence[int]) -> None:
        """Write the offsets of all partitions, all or nothing."""
        rows = ["{} {} {}".format(*self._places.on_disk(p), offset) for p, offset in enumerate(offsets)]
        new = self._file.with_suffix(".tmp")
        new.write_text("\n".join(["0", str(len(rows)), *rows, ""]))
        os.replace(new, self._file)
        self.offsets = dict(enumerate(offsets))
