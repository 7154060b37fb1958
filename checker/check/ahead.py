"""The kernels of several runs, made and compiled while the runs before them are explored."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection

from kafkaproof.checker.check.run import kernel_of
from kafkaproof.checker.compile.expansion import compile_all
from kafkaproof.checker.compile.kernel import Compiled, Kernel
from kafkaproof.checker.model.selection import Check


class Ahead:
    """The kernels of checks, in order: a thread makes them, from now on. All but the first are compiled as well, as the driver
    runs them at first, by another process, which ends with this one.
    """

    def __init__(self, checks: Sequence[Check]):
        self._maker, self._coming = ThreadPoolExecutor(1), deque[Future[Kernel]]()
        self._compiler = _started_compiler() if len(checks) > 1 else None
        for check in checks:
            kernel = self._maker.submit(kernel_of, check)
            if self._coming and self._compiler:
                self._maker.submit(_hand_on, kernel, self._compiler)
            self._coming.append(kernel)

    def __iter__(self) -> Iterator[Kernel]:
        """Each kernel, once it is made; raises what making it has raised."""
        while self._coming:
            yield self._coming.popleft().result()

    def close(self) -> None:
        """Make no more of them."""
        self._maker.shutdown(cancel_futures=True)
        if self._compiler:
            self._compiler.close()


def _started_compiler() -> Connection:
    """A process that compiles what it is sent, until the connection is closed."""
    spawn = multiprocessing.get_context("spawn")
    receiving, sending = spawn.Pipe(duplex=False)
    spawn.Process(target=_compile_received, args=(receiving,), daemon=True).start()
    receiving.close()
    return sending


def _hand_on(kernel: Future[Kernel], compiler: Connection) -> None:
    """Send a kernel that is made to the process that compiles; without that, the driver compiles it itself."""
    compiler.send(kernel.result().compiled)


def _compile_received(receiving: Connection) -> None:
    compile_all(_received(receiving), 0)


def _received(receiving: Connection) -> Iterator[Compiled]:
    try:
        while True:
            yield receiving.recv()
    except EOFError:
        return
