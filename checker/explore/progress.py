"""Progress of an exploration, or a proof, on standard error: one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

from kafkaproof.checker.basics.printable import obeyed

if TYPE_CHECKING:
    from kafkaproof.checker.runs.outcome import Outcome

PLAIN_EVERY = 5.0
LIVE_EVERY = 0.1


def silent(text: str) -> None:
    """Ignores the note."""


class Progress:
    """Shows level, frontier, distinct states, rate and memory of the exploration called `title`."""

    def __init__(self, title: str, stream=None):
        self._title, self._stream = title, obeyed(stream or sys.stderr)
        self._live = self._stream.isatty()
        self._began = self._shown = time.monotonic()

    def __call__(self, outcome: Outcome, generated: int) -> None:
        """Show `outcome`; `generated` counts successors of the level that is running, roughly."""
        now = time.monotonic()
        if now - self._shown < (LIVE_EVERY if self._live else PLAIN_EVERY):
            return
        self._shown = now
        rate = outcome.distinct / max(now - self._began, 1e-3)
        line = (
            f"{self._title}  level {outcome.depth}  frontier {outcome.frontier:,}  distinct {outcome.distinct:,}"
            f"  {rate:,.0f} states/s  {outcome.memory / 2**20:,.0f} MiB"
        )
        if outcome.older:
            line += f", {outcome.older / 2**20:,.0f} on disk"
        self._write(line)

    def note(self, text: str) -> None:
        """Show what is being done; without a terminal, only when a line is due."""
        now = time.monotonic()
        if self._live or now - self._shown >= PLAIN_EVERY:
            self._shown = now
            self._write(f"{self._title}  {text}")

    def _write(self, line):
        """Write a line. A live one is cut to the width of the terminal, since a wrapped line could not be cleared."""
        if self._live:
            self._stream.write(f"\r\x1b[2K{line[: shutil.get_terminal_size().columns - 1]}")
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Clear the live line."""
        if self._live:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
