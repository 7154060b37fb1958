"""The log of one partition on one broker: record batches in a file, as Kafka keeps them.

To the specification a batch is one record: its place in the log is its offset there, its checksum is its id. What
the specification asks of a log (`kafkaproof.spec.replica.storage`) is answered by the methods of the same names.
Kafka's offsets, which count the records within batches, are a matter of encoding: the batches before one say where it
begins.

An append is one write; what a process that died has left of one is cut off when the log is opened again.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kafkaproof.impl.protocol.batches import check, stamped
from kafkaproof.spec.language.digest import EMPTY, link
from kafkaproof.spec.protocol.batches import HEADER, CorruptBatch, Numbered, read_header
from kafkaproof.spec.replica.log_start import raised, start_after_cut
from kafkaproof.spec.replica.storage import NO_EPOCH

CLOSED = -1
SEGMENT, DELETED = "00000000000000000000.log", "-delete"
"""The one file of a log; what the directory of one that is deleted ends with."""


class LogFailed(Exception):
    """The file of a log cannot be written; the text says why."""


class Entry(NamedTuple):
    """A batch: `id` and `epoch` as the specification has them; where it is in the file, its Kafka offsets, and its producer."""

    id: int
    epoch: int
    position: int
    size: int
    base_offset: int
    end_offset: int
    timestamp: int
    chain: str
    producer: Numbered


class FileLog:
    """A log, read and written in place; its directory is made by the first append.

    `incoming` is the batch that the step in progress may append; `before_write` is called before each change of the
    file. `broken` says why the log fails from now on: a fault that is injected (`fail_after`: so many bytes of the
    next append still reach the file; `dies`: and then the process ends, as by kill -9). `start_offset`: Kafka's log start
    offset, at first `start` as far as the log goes; what is before it stays in the file.
    """

    def __init__(self, directory: Path, start: int = 0):
        self.path = directory / SEGMENT
        self.slots: list[Entry] = []
        self._epochs: list[int] = []
        self.incoming = b""
        self.before_write: Callable[[], None] = lambda: None
        self.fail_after: int | None = None
        self.dies = False
        self._file = CLOSED
        self.dropped = 0
        if self.path.exists():
            self._open()
            self.dropped = self._recover()
        self.start_offset = start_after_cut(start, self.end_offset)

    def _open(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)

    def _recover(self) -> int:
        """Read the file up to the first bytes that are no sound batch, and cut off the rest; returns how many bytes
        those were.
        """
        size, position = os.fstat(self._file).st_size, 0
        while position < size:
            try:
                length = read_header(os.pread(self._file, HEADER.size, position)).size
                data = os.pread(self._file, length, position)
                header = check(data)
                if header.base_offset != self.end_offset or header.epoch < self.last_epoch():
                    raise CorruptBatch("it does not follow the batch before")
            except CorruptBatch:
                break
            self._note(header.crc, header.epoch, header)
            position += header.size
        os.ftruncate(self._file, position)
        return size - position

    # What the specification asks of a log

    @property
    def length(self) -> int:
        """How many batches there are."""
        return len(self.slots)

    def last_epoch(self) -> int:
        """The epoch of the last batch, -1 without one."""
        return self._epochs[-1] if self._epochs else NO_EPOCH

    def end_of_epoch(self, epoch: int) -> int:
        """Where the batches of `epoch` and of lower ones end."""
        return bisect_right(self._epochs, epoch)

    def has_epoch(self, epoch: int) -> bool:
        """Whether a batch is of this epoch."""
        return self.start_of_epoch(epoch) < self.length

    def known_epoch(self, epoch: int) -> int:
        """The largest epoch up to `epoch` that a batch has; `epoch` itself when there is none."""
        end = self.end_of_epoch(epoch)
        return self._epochs[end - 1] if end else epoch

    def start_of_epoch(self, epoch: int) -> int:
        """Where the batches of `epoch` start; the log's end without one."""
        start = bisect_left(self._epochs, epoch)
        return start if start < self.length and self._epochs[start] == epoch else self.length

    def append(self, id: int, epoch: int) -> None:
        """Write the batch that has come, with its offset and epoch; raises LogFailed where it could not."""
        data, header = self.incoming, read_header(self.incoming)
        if header.crc != id:
            raise ValueError(f"batch {header.crc} comes where {id} is to be appended: a defect")
        try:
            if self._file == CLOSED:
                self._open()
        except OSError as error:
            raise LogFailed(f"{self.path}: {error}") from None
        self.before_write()
        position = self.size
        data = stamped(data, self.end_offset, epoch)
        try:
            if self.fail_after is not None:
                os.pwrite(self._file, data[: self.fail_after], position)
                if self.dies:
                    os.kill(os.getpid(), signal.SIGKILL)
                raise OSError("injected")
            if os.pwrite(self._file, data, position) < len(data):
                raise OSError("disk full")
        except OSError as error:
            raise LogFailed(f"{self.path}: {error}") from None
        self._note(id, epoch, read_header(data))

    def truncate(self, offset: int) -> None:
        """Drop the batches at `offset` and beyond; raises LogFailed where it could not."""
        self.before_write()
        try:
            os.ftruncate(self._file, self.slots[offset].position)
        except OSError as error:
            raise LogFailed(f"{self.path}: {error}") from None
        del self.slots[offset:], self._epochs[offset:]
        self.start_offset = start_after_cut(self.start_offset, self.end_offset)

    def remove(self) -> None:
        """Delete the log with its directory, renamed first; another begins with the next append."""
        if self._file == CLOSED:
            return
        self.before_write()
        self.close()
        deleted = self.path.parent.with_name(f"{self.path.parent.name}.{secrets.token_hex(4)}{DELETED}")
        self.path.parent.rename(deleted)
        shutil.rmtree(deleted, ignore_errors=True)
        self.slots, self._epochs, self._file, self.start_offset = [], [], CLOSED, 0

    def begin_at(self, start: int) -> None:
        """Raise the log start offset."""
        self.start_offset = raised(self.start_offset, start)

    def _note(self, id, epoch, header):
        before = self.slots[-1] if self.slots else None
        base = self.end_offset
        self.slots.append(
            Entry(
                id,
                epoch,
                before.position + before.size if before else 0,
                header.size,
                base,
                base + header.count,
                header.timestamp,
                link(self.chain, epoch, id),
                header.producer,
            )
        )
        self._epochs.append(epoch)

    # What clients and followers read

    @property
    def chain(self) -> str:
        """A hash of all batches, each by its epoch and its id."""
        return self.slots[-1].chain if self.slots else EMPTY

    @property
    def end_offset(self) -> int:
        """Kafka's log end offset."""
        return self.slots[-1].end_offset if self.slots else 0

    @property
    def size(self) -> int:
        """How many bytes all batches have."""
        return self.slots[-1].position + self.slots[-1].size if self.slots else 0

    def has(self, offset: int) -> bool:
        """Whether a client may read at a Kafka offset, that of the end included."""
        return self.start_offset <= offset <= self.end_offset

    def offset_of(self, place: int) -> int:
        """Kafka's offset of the place of a batch, or of the end."""
        return self.slots[place].base_offset if place < self.length else self.end_offset

    def place_of(self, offset: int) -> int:
        """The place of the batch that has a Kafka offset; the log's length for offsets behind it."""
        return bisect_right(self.slots, offset, key=lambda entry: entry.end_offset)

    def boundary(self, offset: int) -> int:
        """The place before which all batches have offsets below a Kafka offset, as if the log went on with batches of one
        record.
        """
        if offset > self.end_offset:
            return self.length + offset - self.end_offset
        return bisect_left(self.slots, offset, key=lambda entry: entry.base_offset)

    def read(self, place: int) -> bytes:
        """The bytes of a batch."""
        entry = self.slots[place]
        return os.pread(self._file, entry.size, entry.position)

    def close(self) -> None:
        """Leave the file."""
        if self._file != CLOSED:
            os.close(self._file)
