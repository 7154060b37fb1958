"""The bundled recordings of our own clusters, and copies of them that are altered."""

import json
import shutil
from pathlib import Path

from kafkaproof.traces.processes.recorded.reading import read_cluster
from kafkaproof.traces.processes.replay import replay
from kafkaproof.traces.processes.state.result import Result

BUNDLED = Path(__file__).parents[3] / "traces" / "recordings"
FAILOVER = BUNDLED / "run-fenced-failover"
SPLIT_BRAIN = BUNDLED / "run-legacy-split-brain"
LOST_ANSWERS = BUNDLED / "run-fenced-lost-answers"
GROUP = BUNDLED / "run-fenced-group"


def replayed(directory: Path, variant: str | None = None) -> Result:
    """Read and replay a recording."""
    return replay(read_cluster(directory), variant)


class Copy:
    """A copy of a recording, whose lines may be changed before it is replayed."""

    def __init__(self, source: Path, directory: Path):
        self.directory = directory
        shutil.copytree(source, directory)

    def rows(self, process: str) -> list[dict]:
        """The lines of a process."""
        return [json.loads(line) for line in self._file(process).read_text().splitlines()]

    def write(self, process: str, rows: list[dict]) -> None:
        """Replace the lines of a process."""
        self._file(process).write_text("".join(json.dumps(row) + "\n" for row in rows))

    def change(self, process: str, n: int, **values: object) -> None:
        """Change the line of a step."""
        rows = self.rows(process)
        (row,) = (row for row in rows if row.get("n") == n and "step" in row)
        row.update(values)
        self.write(process, rows)

    def _file(self, process):
        return self.directory / "recording" / f"broker-{process}.jsonl"


def steps(directory: Path) -> list[tuple[str, dict]]:
    """All steps of a recording, each with its process."""
    found = []
    for file in sorted((directory / "recording").glob("broker-*.jsonl")):
        for line in file.read_text().splitlines():
            row = json.loads(line)
            if "step" in row:
                found.append((file.stem.removeprefix("broker-"), row))
    return found
