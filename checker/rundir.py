"""The run directory: the truth of an exploration.

``run.json`` says what is explored. ``level-00007/`` holds Parquet files with the states that are new in
level 7 and, once the level is complete, ``level.json``, which names the files that count. Whatever else
lies there was left by a task that was killed, and is ignored. A directory may be a local path or any URI
that Arrow opens (``hdfs://``, ``s3://`` ...), as long as driver and executors share it.

Columns: ``w0`` ``w1`` ... the packed state (uint64); ``key`` 44 bits of the state's hash; ``parent`` the
key of a state of the level before; ``step`` the number of the step that leads from there.
"""

from __future__ import annotations

import errno
import json
import os
import uuid
from pathlib import Path
from typing import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from checker.errors import UserError
from checker.table import STEP_BITS, keys_of, owners_of

FORMAT = 2


class RunError(UserError):
    """A run directory cannot be used; the message says which, why and what to do."""


class RunDirectory:
    """Reading and writing one run directory; cheap to make, so that every task makes its own."""

    def __init__(self, uri: str):
        self.uri = uri if "://" in uri else str(Path(uri).resolve())
        try:
            self._fs, self._base = pafs.FileSystem.from_uri(self.uri) if "://" in uri else (
                pafs.LocalFileSystem(), self.uri)
        except (OSError, ValueError) as error:
            raise RunError(f"cannot open the run directory {uri}: {error}") from error

    def exists(self) -> bool:
        """Whether it holds a run."""
        return self._fs.get_file_info(f"{self._base}/run.json").type == pafs.FileType.File

    def create(self, run: dict) -> None:
        """Make the directory and write ``run.json``; raises RunError when it is in use."""
        if self.exists():
            raise RunError(f"{self.uri} already holds a run; resume it with --resume, or name another")
        with self._explained("create"):
            self._fs.create_dir(self._base, recursive=True)
            self._write_json("run.json", {"format": FORMAT, **run})

    def run(self) -> dict:
        """What ``run.json`` says; raises RunError when it is not a run directory of this format."""
        if not self.exists():
            raise RunError(f"{self.uri} is not a run directory: it has no run.json")
        run = self._read_json("run.json")
        if run.get("format") != FORMAT:
            raise RunError(f"{self.uri} was written by another version (format {run.get('format')})")
        return run

    def write_probe(self, name: str) -> None:
        """Write an empty file, to show that one can; raises RunError."""
        with self._explained("write to"), self._fs.open_output_stream(f"{self._base}/{name}"):
            pass

    def take_probe(self, name: str) -> bool:
        """Whether another's probe is seen here; it is deleted."""
        path = f"{self._base}/{name}"
        if self._fs.get_file_info(path).type != pafs.FileType.File:
            return False
        self._fs.delete_file(path)
        return True

    def begin_level(self, level: int) -> None:
        """Make the level's directory empty."""
        with self._explained("write to"):
            path = f"{self._base}/{_level(level)}"
            self._fs.create_dir(path, recursive=True)
            self._fs.delete_dir_contents(path)

    def write_part(self, level: int, partition: int | None, rows: np.ndarray, summary: dict) -> None:
        """Write new states, shape (n, words + 1), and their summary, under names of their own."""
        name = f"{_level(level)}/part-{'all' if partition is None else partition}-{uuid.uuid4().hex[:12]}"
        words = rows.shape[1] - 1
        states = np.ascontiguousarray(rows[:, :words])
        columns = {f"w{i}": states[:, i] for i in range(words)}
        columns["key"] = keys_of(states)
        columns["parent"] = rows[:, words] >> np.uint64(STEP_BITS)
        columns["step"] = (rows[:, words] & np.uint64((1 << STEP_BITS) - 1)).astype(np.int32)
        with self._explained("write to"):
            file = f"{self._base}/{name}.parquet"
            pq.write_table(pa.table(columns), file, filesystem=self._fs, compression="none",
                           use_dictionary=False, write_statistics=False)
            size = self._fs.get_file_info(file).size
            self._write_json(f"{name}.json", {
                **summary, "partition": partition, "file": f"{name}.parquet", "states": len(rows), "bytes": size,
            })

    def commit_level(self, level: int, partitions: Iterable[int | None]) -> dict:
        """Complete a level: choose one attempt of each partition; returns what ``level.json`` holds."""
        chosen = {}
        selector = pafs.FileSelector(f"{self._base}/{_level(level)}")
        for info in sorted(self._fs.get_file_info(selector), key=lambda i: i.path):
            if info.base_name.startswith("part-") and info.extension == "json":
                part = self._read_json(f"{_level(level)}/{info.base_name}")
                if self._fs.get_file_info(f"{self._base}/{part['file']}").is_file:
                    chosen.setdefault(part["partition"], part)
        missing = [p for p in partitions if p not in chosen]
        if missing:
            raise RunError(f"{self.uri}: level {level} lacks partitions {missing}; resume the run")
        with self._explained("write to"):
            done = {"level": level, "parts": list(chosen.values())}
            self._write_json(f"{_level(level)}/level.json", done)
        return done

    def levels(self) -> list[dict]:
        """All complete levels, from the first on."""
        found = []
        while self._fs.get_file_info(f"{self._base}/{_level(len(found))}/level.json").is_file:
            found.append(self._read_json(f"{_level(len(found))}/level.json"))
        return found

    def states(self, level: dict, partition: int | None = None, partitions: int = 1) -> Iterable[np.ndarray]:
        """Packed states of a complete level, shape (n, words), by files; of one partition where given."""
        for part in level["parts"]:
            if part["states"] and partition in (None, part["partition"]) or part["partition"] is None:
                states = self._words(part)
                if partition is not None and part["partition"] is None:
                    states = states[owners_of(states, partitions) == partition]
                yield states

    def links(self, level: dict) -> Iterable[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """(states, keys, parents, steps) of a complete level, by files."""
        for part in level["parts"]:
            table = self._table(part, lambda name: True)
            columns = (table.column(name).to_numpy() for name in ("key", "parent", "step"))
            yield self._words(part), *columns

    def _words(self, part):
        table = self._table(part, lambda name: name.startswith("w"))
        return np.stack([column.to_numpy() for column in table.columns], axis=1)

    def _table(self, part, wanted):
        path = f"{self._base}/{part['file']}"
        try:
            names = pq.read_schema(path, filesystem=self._fs).names
            return pq.read_table(path, columns=[name for name in names if wanted(name)], filesystem=self._fs)
        except (OSError, pa.ArrowInvalid) as error:
            raise RunError(f"{self.uri}: {part['file']} cannot be read ({error}); delete the run") from error

    def write_columns(self, name: str, columns: dict[str, np.ndarray]) -> None:
        """Write columns of one length beside the levels, under a name with folders; readers see all or nothing."""
        path = f"{self._base}/{name}.parquet"
        temporary = f"{path}.{uuid.uuid4().hex[:12]}.tmp"
        with self._explained("write to"):
            self._fs.create_dir(path.rpartition("/")[0], recursive=True)
            pq.write_table(pa.table(columns), temporary, filesystem=self._fs, compression="none",
                           use_dictionary=False, write_statistics=False)
            self._fs.move(temporary, path)

    def read_columns(self, name: str) -> dict[str, np.ndarray]:
        """The columns that were written under a name; raises RunError."""
        table = self._table({"file": f"{name}.parquet"}, lambda column: True)
        return {column: table.column(column).to_numpy() for column in table.column_names}

    def delete_columns(self, folder: str) -> None:
        """Delete a folder of columns, if it is there."""
        path = f"{self._base}/{folder}"
        if self._fs.get_file_info(path).type == pafs.FileType.Directory:
            self._fs.delete_dir(path)

    def size(self) -> int:
        """Bytes of all files."""
        selector = pafs.FileSelector(self._base, recursive=True)
        return sum(i.size or 0 for i in self._fs.get_file_info(selector))

    def delete(self) -> None:
        """Delete the run directory; raises RunError when it does not hold a run."""
        self.run()
        self._fs.delete_dir(self._base)

    def write_result(self, result: dict) -> None:
        """Keep the outcome beside the levels."""
        with self._explained("write to"):
            self._write_json("result.json", result)

    def result(self) -> dict | None:
        """The outcome last kept, or None."""
        found = self._fs.get_file_info(f"{self._base}/result.json").is_file
        return self._read_json("result.json") if found else None

    def _write_json(self, name, value):
        path = f"{self._base}/{name}"
        temporary = f"{path}.{os.getpid()}.tmp"
        with self._fs.open_output_stream(temporary) as file:
            file.write(json.dumps(value).encode())
        self._fs.move(temporary, path)

    def _read_json(self, name):
        with self._fs.open_input_stream(f"{self._base}/{name}") as file:
            try:
                return json.loads(file.read())
            except ValueError as error:
                raise RunError(f"{self.uri}/{name} is not readable ({error}); delete the run") from error

    def _explained(self, doing):
        return _Explained(doing, self.uri)


class _Explained:
    """Turns what the file system says into one line that says what to do."""

    def __init__(self, doing, uri):
        self.doing, self.uri = doing, uri

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, OSError):
            full = error.errno == errno.ENOSPC or "No space left" in str(error)
            advice = "the disk is full; make room, then resume the run" if full else str(error)
            raise RunError(f"cannot {self.doing} the run directory {self.uri}: {advice}") from error


def _level(level):
    return f"level-{level:05d}"
