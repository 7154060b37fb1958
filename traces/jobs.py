"""The jobs of Spark for a long log: a task for each file that is read into a table, one for each stream to explain."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path

from checker import cluster
from checker.errors import UserError
from traces.events import write_events
from traces.evidence import Common, Evidence
from traces.redaction import Redactor
from traces.streams import explain_stream
from traces.topics.replay import Streams
from traces.writes import Write
from traces.zookeeper_snapshot import Znode

POLL = 0.5
"""How often is looked how far the tasks are, in seconds."""
Stream = tuple[str, dict[str, Znode], list[Write]]


@contextmanager
def started(master: str) -> Iterator["Jobs"]:
    """Spark on `master` while the block runs; raises ClusterError where it cannot be used."""
    context = cluster.start(master)
    try:
        with ThreadPoolExecutor(1) as beside:
            yield Jobs(context, beside)
    finally:
        context.stop()


class Jobs:
    """What is handed to Spark. A task holds one file, or what all streams share and one stream."""

    def __init__(self, context, beside: ThreadPoolExecutor):
        self._context, self._beside = context, beside

    def events(self, files: list[Path], directory: Path, root: str, redactor: Redactor | None) -> int:
        """Write the events of each file into a Parquet file of its own; returns how many there are."""
        def write(file: Path) -> int:
            return write_events(file, directory, root, redactor)

        return sum(self._collected(self._context.parallelize(files, len(files)).map(write)))

    def explain(self, common: Common, streams: Iterable[Evidence]) -> Future[list[Streams]]:
        """Begin to explain each stream, the longest first, so that no long one is left for the end."""
        shared = self._context.broadcast(common)
        parts = sorted(((e.name, e.nodes, e.writes) for e in streams), key=lambda part: len(part[2]), reverse=True)

        def explain(part: Stream) -> Streams:
            name, nodes, writes = part
            return explain_stream(Evidence(name, shared.value, nodes, writes))

        return self._beside.submit(self._collected, self._context.parallelize(parts, len(parts)).map(explain))

    def each(self, items: list, function: Callable, progress: Callable[[int, int], None]) -> list:
        """What a function answers for each item, in order, in a task for each; tells how many tasks have ended."""
        found = self._beside.submit(self._collected, self._context.parallelize(items, len(items)).map(function))
        while not wait([found], POLL).done:
            stages = map(self._context.statusTracker().getStageInfo, self._context.statusTracker().getActiveStageIds())
            progress(sum(stage.numCompletedTasks for stage in stages if stage), len(items))
        progress(len(items), len(items))
        return found.result()

    def _collected(self, found) -> list:
        try:
            return cluster.run_job(found.collect)
        except cluster.LostLevel as lost:
            raise UserError(f"a job of Spark failed: {lost}") from lost
