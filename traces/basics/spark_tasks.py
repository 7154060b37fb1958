"""Spark for a long log, and for many: a task for each file that is read, one for each stream to explain."""

import gc
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.spark.blocks import LostLevel
from kafkaproof.checker.spark.cluster import run_job
from kafkaproof.checker.spark.session import Place, start
from kafkaproof.traces.basics.tasks import Progress, collecting_seldom

POLL = 0.5
"""How often is looked how far the tasks are, in seconds."""
_TASKS = 100
"""So many tasks are begun for some work at the most: each takes some milliseconds beside what is done in it."""


@contextmanager
def started(master: str) -> Iterator["Jobs"]:
    """Spark on `master` while the block runs; raises ClusterError where it cannot be used."""
    context = start(Place(master))
    try:
        with ThreadPoolExecutor(2) as beside:
            yield Jobs(context, beside)
    finally:
        context.stop()


class Jobs:
    """Does work in tasks of Spark: one for each piece."""

    def __init__(self, context, beside: ThreadPoolExecutor):
        self._context, self._beside = context, beside

    def shared(self, value: object):
        """A `value` that all pieces need, once in each process that has tasks."""
        return self._context.broadcast(value)

    def each(self, items: list, function: Callable, progress: Progress) -> list:
        """What a function answers for each item, in order; tells how many are done.

        A task has one item, or of very many every hundredth.
        """
        if not items:
            return []
        count = min(len(items), _TASKS)
        tasks = self._context.parallelize([items[first::count] for first in range(count)], count)
        found = self._beside.submit(self._collected, tasks.map(partial(_done_all, function)))
        while not wait([found], POLL).done:
            stages = map(self._context.statusTracker().getStageInfo, self._context.statusTracker().getActiveStageIds())
            progress(sum(stage.numCompletedTasks for stage in stages if stage) * len(items) // count, len(items))
        progress(len(items), len(items))
        answers = [None] * len(items)
        for first, dealt in enumerate(found.result()):
            answers[first::count] = dealt
        return answers

    def beside(self, item: object, function: Callable) -> Callable[[], object]:
        """Begin a task that finds what a function answers for an item; returns what waits for that."""
        return self._beside.submit(self._answer, self._context.parallelize([item], 1), function).result

    def _answer(self, tasks, function: Callable) -> object:
        """The answer of one task in a temporary file, as it may be too large for what Spark hands over."""
        with TemporaryDirectory(prefix="kafkaproof-answer-") as directory:
            file = Path(directory) / "answer"
            self._collected(tasks.map(partial(_write, file, function)))
            with file.open("rb") as found:
                return pickle.load(found)

    def _collected(self, found) -> list:
        try:
            return run_job(found.collect)
        except LostLevel as lost:
            raise UserError(f"a job of Spark failed: {lost}") from lost


def _done_all(function: Callable, items: list) -> list:
    """What a function answers for each item, in a process of its own."""
    return [_done(function, item) for item in items]


def _done(function: Callable, item: object) -> object:
    """What a function answers for an item, in a process of its own."""
    with collecting_seldom():
        answer = function(item)
    gc.freeze()  # PySpark collects garbage after every task, and what is kept from task to task is much to look at
    return answer


def _write(file: Path, function: Callable, item: object) -> None:
    """Leave in a file what a function answers for an item."""
    answer = _done(function, item)
    with file.open("wb") as out:
        pickle.dump(answer, out)
