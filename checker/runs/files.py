"""Files with checksums, on any file system that Arrow opens: what is read is what was written, or the reader says so.

A checksum is the SHA-256 of a file's bytes. It is computed while the file is written, kept by whoever names the file,
and compared when the file is read.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from kafkaproof.checker.basics.errors import UserError

AGAIN = "the run was damaged or altered; begin a new one"
PLAIN = {"use_dictionary": False, "write_statistics": False}
LARGE = 1_000_000
"""Tables of so many rows are compressed: half the disk, for a tenth of the time that such a level takes."""
PATIENCE = 15.0
"""How long to wait for a directory that another process holds, in seconds."""


class RunError(UserError):
    """A run directory cannot be used; the message says which, why and what to do."""


def checksum(data: bytes) -> str:
    """The checksum of a file with these bytes."""
    return hashlib.sha256(data).hexdigest()


def as_bytes(value: object) -> bytes:
    """A value as the bytes of a JSON file."""
    return json.dumps(value).encode()


class Files:
    """The files below one directory, by relative names; every failure is a RunError that names the directory.

    `linked` says whether the name given is a symbolic link.
    """

    def __init__(self, uri: str):
        if not uri:
            raise RunError("a run directory needs a name")
        self.uri = uri if "://" in uri else str(Path(uri).resolve())
        try:
            self._fs, self._base = pafs.FileSystem.from_uri(uri) if "://" in uri else (pafs.LocalFileSystem(), self.uri)
        except (OSError, ValueError) as error:
            raise RunError(f"cannot open the run directory {uri}: {error}") from error
        self._local = isinstance(self._fs, pafs.LocalFileSystem)
        self.linked = self._local and os.path.islink((self._base if "://" in uri else uri).rstrip("/"))

    def path(self, name: str) -> str:
        """The path of a file in its file system."""
        return f"{self._base}/{name}"

    def is_file(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return self._fs.get_file_info(self.path(name)).type == pafs.FileType.File

    def is_there(self) -> bool:
        """Whether there is such a directory, or a file in its place."""
        return self._fs.get_file_info(self._base).type != pafs.FileType.NotFound

    def is_link(self, name: str) -> bool:
        """Whether a name is a symbolic link."""
        return self._local and os.path.islink(self.path(name))

    def inside(self, folder: str = "") -> list[tuple[str, bool, int]]:
        """(name, whether it is a directory, bytes) of everything below a folder, in order; links are not followed."""
        found = []
        for info in sorted(self._listed(folder), key=lambda info: info.path):
            name = f"{folder}/{info.base_name}" if folder else info.base_name
            directory = info.type == pafs.FileType.Directory and not self.is_link(name)
            found.append((name, directory, info.size or 0))
            found += self.inside(name) if directory else []
        return found

    def _listed(self, folder):
        with self.explained("read"):
            where = self.path(folder) if folder else self._base
            return self._fs.get_file_info(pafs.FileSelector(where, allow_not_found=True))

    def make(self, folder: str = "") -> None:
        """Make a directory, with those above it."""
        with self.explained("create"):
            self._fs.create_dir(self.path(folder) if folder else self._base, recursive=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock a local directory for this process; raises RunError if another process holds it.

        The lock of a killed process is released once its workers have ended too; so this tries for a while.
        """
        if not (self._local and os.path.isdir(self._base)):
            yield
            return
        directory = os.open(self._base, os.O_RDONLY)
        try:
            until = time.monotonic() + PATIENCE
            while not _locked(directory):
                if time.monotonic() > until:
                    raise RunError(f"another process is using {self.uri}; wait for its end, or end it")
                time.sleep(0.1)
            yield
        finally:
            os.close(directory)

    def empty(self, folder: str) -> None:
        """Make an empty directory; raises RunError if the name is a link to another place."""
        self._require_no_link(folder)
        self.make(folder)
        with self.explained("write to"):
            self._fs.delete_dir_contents(self.path(folder))

    def remove(self, folder: str = "") -> None:
        """Delete a directory and its contents, if it is there; links in it are not followed."""
        self._require_no_link(folder)
        path = self.path(folder) if folder else self._base
        if self._fs.get_file_info(path).type == pafs.FileType.Directory:
            with self.explained("delete"):
                self._fs.delete_dir(path)

    def remove_file(self, name: str) -> None:
        """Delete a file."""
        self._fs.delete_file(self.path(name))

    def _require_no_link(self, folder):
        if folder and self.is_link(folder):
            raise RunError(f"{self.uri}/{folder} is a link, which kafkaproof never makes; remove the link")

    def write(self, name: str, data: bytes) -> str:
        """Write a file atomically; returns its checksum."""
        temporary = f"{name}.{uuid.uuid4().hex[:12]}.tmp"
        with self.explained("write to"):
            self._put(temporary, data)
            self._fs.move(self.path(temporary), self.path(name))
        return checksum(data)

    def _put(self, name, data):
        with self._fs.open_output_stream(self.path(name)) as file:
            file.write(data)

    def read(self, name: str, expected: str | None = None) -> bytes:
        """The bytes of a file; raises RunError if their checksum is not the expected one."""
        if not self.is_file(name):
            raise RunError(f"{self.uri} lacks the file {name}; {AGAIN}")
        with self.explained("read"), self._fs.open_input_file(self.path(name)) as file:
            data = file.read_buffer()
        if expected is not None and hashlib.sha256(data).hexdigest() != expected:
            raise RunError(f"{self.uri}/{name} is not as it was written: its checksum differs; {AGAIN}")
        return data

    def read_json(self, name: str, expected: str | None = None) -> dict:
        """The object in a JSON file; raises RunError if its checksum differs, or if it holds no object."""
        try:
            value = json.loads(memoryview(self.read(name, expected)).tobytes())
        except (ValueError, RecursionError) as error:
            raise RunError(f"{self.uri}/{name} is not readable ({error}); {AGAIN}") from error
        if not isinstance(value, dict):
            raise RunError(f"{self.uri}/{name} holds no object; {AGAIN}")
        return value

    def write_table(self, name: str, table: pa.Table, **options) -> dict:
        """Write a Parquet file, with `options` of pyarrow; returns its ``bytes`` and its checksum ``sha256``."""
        packed = {"compression": "zstd", "compression_level": 1} if len(table) >= LARGE else {"compression": "none"}
        with self.explained("write to"), self._fs.open_output_stream(self.path(name)) as stream:
            sink = _Summing(stream)
            pq.write_table(table, pa.PythonFile(sink, "w"), **PLAIN, **packed, **options)
        return {"bytes": sink.bytes, "sha256": sink.sum.hexdigest()}

    def read_table(self, name: str, written: dict) -> pa.Table:
        """Read a Parquet file, given what `write_table` returned and how many ``states`` it has.

        Raises RunError if one of them differs.
        """
        self._require(name, "bytes", written["bytes"], self._fs.get_file_info(self.path(name)).size)
        data = self.read(name, written["sha256"])
        with self.explained("read"):
            table = pq.ParquetFile(pa.BufferReader(data)).read()
        self._require(name, "states", written["states"], len(table))
        return table

    def _require(self, name, what, expected, found):
        if found is not None and found != expected:
            raise RunError(f"{self.uri}/{name} has {found:,} {what}, and was written with {expected:,}; {AGAIN}")

    def write_scratch(self, name: str, table: pa.Table) -> None:
        """Write a Parquet file for the life of this process, with checksums of its pages."""
        temporary = f"{name}.{uuid.uuid4().hex[:12]}.tmp"
        self.make(name.rpartition("/")[0])
        self.write_table(temporary, table, write_page_checksum=True)
        with self.explained("write to"):
            self._fs.move(self.path(temporary), self.path(name))

    def read_scratch(self, name: str) -> pa.Table:
        """Read what `write_scratch` wrote; raises RunError if a page is damaged."""
        with self.explained("read"):
            return pq.ParquetFile(self.path(name), filesystem=self._fs, page_checksum_verification=True).read()

    @contextmanager
    def explained(self, doing: str) -> Iterator[None]:
        """Turns errors of the file system into a RunError that says what to do."""
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            full = getattr(error, "errno", None) == errno.ENOSPC or "No space left" in str(error)
            advice = "the disk is full; make room, then resume the run" if full else str(error)
            raise RunError(f"cannot {doing} the run directory {self.uri}: {advice}") from error


class _Summing:
    """A file that computes its checksum while it is written."""

    closed = False

    def __init__(self, stream):
        self._stream, self.sum, self.bytes = stream, hashlib.sha256(), 0

    def write(self, data):
        self._stream.write(data)
        self.sum.update(data)
        self.bytes += len(data)
        return len(data)

    def flush(self):
        """Does nothing: whoever opened the stream flushes and closes it."""


def _locked(directory: int) -> bool:
    """Lock an open directory; returns False if another process holds it."""
    try:
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
