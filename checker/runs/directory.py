"""The run directory: the truth of an exploration.

``run.json`` says what is explored. ``level-00007/`` holds Parquet files with the states that are new in level 7, and
``level.json``, which names the files that count, each with its rows and its checksum, and the level before by the
checksum of its ``level.json`` (of ``run.json``, for the first). ``levels.json`` names the complete levels and
``run.json`` by their checksums; it is written last. Other files were left by killed tasks, and are ignored.
``result.json`` holds the outcome, its checksum, and the contents of ``levels.json`` at that time. Checksums are
compared on every read, so that damaged or exchanged files are reported. A directory may be a local path or any URI that
Arrow opens (``hdfs://``, ``s3://`` ...), as long as driver and executors share it.

Columns: ``w0`` ``w1`` ... the packed state (uint64); ``key`` 44 bits of the state's hash; ``parent`` the
key of a state of the previous level; ``step`` the number of the step that leads from there.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import pairwise

import numpy as np
import pyarrow as pa

from kafkaproof.checker.basics.spent import WRITING, Spent
from kafkaproof.checker.runs.files import AGAIN, Files, RunError, as_bytes, checksum
from kafkaproof.checker.runs.table import STEP_BITS, keys_of, owners_of

FORMAT = 3
RUN, LEVELS, RESULT = "run.json", "levels.json", "result.json"
COUNTEREXAMPLE, BESIDE = "counterexample.html", "beside.html"
PART = r"part-(all|\d+)-[0-9a-f]{12}"
DESCRIBED = {
    "system": str,
    "variant": str,
    "model": str | None,
    "scope": dict,
    "properties": list,
    "keep_going": bool,
    "deadlock": bool,
    "symmetry": dict | None,
    "partitions": int,
    "source": str,
    "created": str,
}
"""What ``run.json`` must say for a run to be listed, shown and resumed."""
OURS = re.compile(
    rf"((run|levels|result)\.json|{COUNTEREXAMPLE}|{BESIDE}|probe-\d+"
    rf"|level-\d{{5,}}(/({PART}\.(parquet|json)|level\.json))?"
    r"|liveness(/[\w-]+(/[\w-]+)?(\.parquet)?)?)(\.[0-9a-f]{12}\.tmp)?"
)
"""The names of all files and folders that a run writes."""


class RunDirectory:
    """Reading and writing one run directory; cheap to make, so that every task makes its own."""

    def __init__(self, uri: str):
        self._files, self._named = Files(uri), uri
        self.uri = self._files.uri

    def exists(self) -> bool:
        """Whether it holds a run."""
        return self._files.is_file(RUN)

    def create(self, run: dict) -> None:
        """Make the directory and write ``run.json``; raises RunError when it is in use."""
        if self.exists():
            raise RunError(f"{self.uri} already holds a run; resume it with --resume, or name another")
        self._files.make()
        self._require_alone("name a directory that is new or empty")
        written = as_bytes({"format": FORMAT, **run})
        self._files.write(LEVELS, as_bytes({"run": checksum(written), "levels": []}))
        self._files.write(RUN, written)

    def held(self) -> AbstractContextManager[None]:
        """Lock the directory for this process, if it is local; raises RunError if another process holds it."""
        return self._files.held()

    def run(self) -> dict:
        """The contents of ``run.json``; raises RunError for any other directory or format, or if it was changed."""
        if not self.exists():
            why = f"it has no {RUN}" if self._files.is_there() else "there is no such directory"
            raise RunError(f"{self.uri} is not a run directory: {why}")
        run = self._files.read_json(RUN)
        if run.get("format") != FORMAT:
            raise RunError(f"{self.uri} was written by another version (format {run.get('format')}, not {FORMAT})")
        return self._files.read_json(RUN, self._index()["run"])

    def described(self) -> dict:
        """The contents of `run`, with all of `DESCRIBED`; raises RunError if something is missing."""
        found = self.run()
        wrong = [name for name, kind in DESCRIBED.items() if name not in found or not isinstance(found[name], kind)]
        if not wrong:
            right = {
                "scope": all(type(size) is int for size in found["scope"].values()),
                "properties": all(isinstance(name, str) for name in found["properties"]),
                "partitions": found["partitions"] > 0,
            }
            wrong = [name for name in right if not right[name]]
        if wrong:
            raise RunError(f"{self.uri}: its {RUN} does not say {', '.join(wrong)}; begin a new run")
        return found

    def _index(self):
        """The contents of ``levels.json``: the checksums of ``run.json``, and of ``level.json`` of each complete level."""
        index = self._files.read_json(LEVELS)
        if not _is_index(index):
            raise RunError(f"{self.uri}/{LEVELS} does not name the levels; {AGAIN}")
        return index

    def write_probe(self, name: str) -> None:
        """Write a file, to show that this process can; raises RunError."""
        self._files.write(name, b"")

    def take_probe(self, name: str) -> bool:
        """Whether the probe that another process wrote is visible here; deletes it."""
        if not self._files.is_file(name):
            return False
        self._files.remove_file(name)
        return True

    def begin_level(self, level: int) -> None:
        """Empty the level's directory; raises RunError if another process has completed the level."""
        if len(self._index()["levels"]) > level:
            self._refuse_complete(level)
        self._files.empty(_level(level))

    def write_part(self, level: int, partition: int | None, rows: np.ndarray, summary: dict, spent: Spent) -> None:
        """Write new states, shape (n, words + 1), and their summary with the seconds `spent`, under names of their own."""
        name = f"part-{'all' if partition is None else partition}-{uuid.uuid4().hex[:12]}"
        words = rows.shape[1] - 1
        states = np.ascontiguousarray(rows[:, :words])
        columns = {f"w{i}": states[:, i] for i in range(words)}
        columns["key"] = keys_of(states)
        columns["parent"] = rows[:, words] >> np.uint64(STEP_BITS)
        columns["step"] = (rows[:, words] & np.uint64((1 << STEP_BITS) - 1)).astype(np.int32)
        with spent.on(WRITING):
            written = self._files.write_table(f"{_level(level)}/{name}.parquet", pa.table(columns))
        part = {"partition": partition, "file": f"{name}.parquet", "states": len(rows), "seconds": spent.rounded}
        self._files.write(f"{_level(level)}/{name}.json", as_bytes({**summary, **part, **written}))

    def commit_level(self, level: int, partitions: Iterable[int | None]) -> dict:
        """Complete a level: choose one attempt of each partition; returns the contents of ``level.json``."""
        index, folder, chosen = self._index(), _level(level), {}
        names = {name for name, directory, _ in self._files.inside(folder) if not directory}
        for name in sorted(names):
            if re.fullmatch(rf"{folder}/{PART}\.json", name) and name.removesuffix("json") + "parquet" in names:
                part = self._files.read_json(name)
                chosen.setdefault(part["partition"], part)
        missing = [p for p in partitions if p not in chosen]
        if missing:
            raise RunError(f"{self.uri}: level {level} lacks partitions {missing}; resume the run")
        if len(index["levels"]) != level:
            self._refuse_complete(level)
        done = {"level": level, "after": [index["run"], *index["levels"]][-1], "parts": list(chosen.values())}
        index["levels"].append(self._files.write(f"{folder}/level.json", as_bytes(done)))
        self._files.write(LEVELS, as_bytes(index))
        return done

    def _refuse_complete(self, level):
        raise RunError(f"{self.uri}: another process has completed level {level}; let one alone go on with a run")

    def levels(self) -> list[dict]:
        """All complete levels in order; raises RunError if a ``level.json`` is not as it was written."""
        index, levels = self._index(), []
        for number, (before, own) in enumerate(pairwise([index["run"], *index["levels"]])):
            level = self._files.read_json(f"{_level(number)}/level.json", own)
            if (level.get("after"), level.get("level")) != (before, number):
                raise RunError(f"{self.uri}/{_level(number)} does not follow the level before; {AGAIN}")
            self._require_parts(level)
            levels.append(level)
        return levels

    def _require_parts(self, level):
        """Raise RunError unless a manifest names parts in the level's own directory, each once."""
        where = f"{self.uri}/{_level(level['level'])}/level.json"
        try:
            files = [part["file"] for part in level["parts"]]
            strange = [file for file in files if not re.fullmatch(rf"{PART}\.parquet", file)]
        except (KeyError, TypeError) as error:
            raise RunError(f"{where} does not name its parts; {AGAIN}") from error
        if strange:
            raise RunError(f"{where} names {strange[0]!r}, which is not a part; {AGAIN}")
        if len({*files}) < len(files):
            raise RunError(f"{where} names a part twice; {AGAIN}")

    def verify(self) -> None:
        """Read all levels; raises RunError if anything is not as it was written."""
        levels = self.levels()
        if self._files.is_file(f"{_level(len(levels) + 1)}/level.json"):
            raise RunError(f"{self.uri}/{LEVELS} names {len(levels)} levels, but there are more; {AGAIN}")
        parts = [(level, part) for level in levels for part in level["parts"]]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda each: self._table(*each).num_rows, parts))

    def states(self, level: dict, partition: int | None = None, partitions: int = 1) -> Iterable[np.ndarray]:
        """Packed states of a complete level, shape (n, words), file by file; of one partition if given."""
        for part in level["parts"]:
            if part["states"] and partition in (None, part["partition"]) or part["partition"] is None:
                states = _words(self._table(level, part))
                if partition is not None and part["partition"] is None:
                    states = states[owners_of(states, partitions) == partition]
                yield states

    def links(self, level: dict) -> Iterable[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """(states, keys, parents, steps) of a complete level, file by file."""
        for part in level["parts"]:
            table = self._table(level, part)
            columns = (table.column(name).to_numpy() for name in ("key", "parent", "step"))
            yield _words(table), *columns

    def _table(self, level, part):
        """A part of a level, as `levels` gave it."""
        return self._files.read_table(f"{_level(level['level'])}/{part['file']}", part)

    def write_columns(self, name: str, columns: dict[str, np.ndarray]) -> None:
        """Write columns of one length beside the levels, under a name with folders; readers see all or nothing."""
        self._files.write_scratch(f"{name}.parquet", pa.table(columns))

    def read_columns(self, name: str) -> dict[str, np.ndarray]:
        """The columns that were written under a name; raises RunError."""
        table = self._files.read_scratch(f"{name}.parquet")
        return {column: table.column(column).to_numpy() for column in table.column_names}

    def delete_columns(self, folder: str) -> None:
        """Delete a folder of columns, if it is there."""
        self._files.remove(folder)

    def size(self) -> int:
        """Bytes of all files."""
        return sum(size for _, directory, size in self._files.inside() if not directory)

    def delete(self) -> None:
        """Delete the run directory; raises RunError unless it holds a run and nothing else."""
        if self._files.linked:
            raise RunError(f"{self._named} is a link to {self.uri}; name that, and remove the link yourself")
        self.run()
        with self.held():
            self._require_alone("a directory is deleted when all in it is a run's; move it away")
            self._files.remove()

    def _require_alone(self, advice):
        """Raise RunError if the directory holds something that no run writes."""
        for name, _, _ in self._files.inside():
            if not OURS.fullmatch(name) and not re.search(r"(^|/)\.[^/]*\.crc$", name) or self._files.is_link(name):
                raise RunError(f"{self.uri} holds {name}, which does not belong to a run; {advice}")

    def write_result(self, result: dict) -> None:
        """Keep the outcome beside the levels."""
        kept = {**result, "levels": self._index()}
        self._files.write(RESULT, as_bytes({**kept, "sha256": checksum(as_bytes(kept))}))

    def result(self) -> dict | None:
        """The stored outcome of the present levels, or None; raises RunError when it was changed."""
        if not self._files.is_file(RESULT):
            return None
        result, index = self._files.read_json(RESULT), self._index()
        if result.pop("sha256", None) != checksum(as_bytes(result)) or not _is_index(result.get("levels")):
            raise RunError(f"{self.uri}/{RESULT} is not as it was written; resume the run to have it written again")
        then = result.pop("levels")
        if then["run"] != index["run"] or then["levels"] != index["levels"][: len(then["levels"])]:
            raise RunError(f"{self.uri}/{RESULT} is of other levels than there are; resume the run to have it written")
        return result if then == index else None


def _is_index(value):
    """Whether a value names a run and its levels by their checksums."""
    if not isinstance(value, dict) or not isinstance(value.get("levels"), list):
        return False
    return all(isinstance(text, str) for text in (value.get("run"), *value["levels"]))


def _words(table):
    """The packed states of a part, shape (n, words)."""
    return np.stack([table.column(name).to_numpy() for name in table.column_names if name.startswith("w")], axis=1)


def _level(level):
    return f"level-{level:05d}"
