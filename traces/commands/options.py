"""What the commands of replay have in common: their options, and files that they write."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path

from kafkaproof.traces.basics.whole_files import write_whole
from kafkaproof.traces.redaction import Redactor


def given(options, *names: str) -> str:
    """Those of the options that were given, as one writes them."""
    written = {"begin": "from", "end": "to"}
    return ", ".join(
        f"--{written.get(n, n).replace('_', '-')}" for n in names if getattr(options, n) not in (None, False, (), [])
    )


def chroot_of(options, redactor: Redactor | None) -> str | None:
    """The chroot that was named, as what is read has it."""
    return redactor.path(options.chroot) if redactor and options.chroot else options.chroot


def jobs_on(master: str | None):
    """Spark for as long as a block runs; None where it was not asked for."""
    if master is None:
        return nullcontext()
    from kafkaproof.traces.basics.spark_tasks import started

    return started(master)


def write_history(history: dict | None, file: Path) -> None:
    """Write the steps to the first violation or divergence, if there is one."""
    if history is None:
        print("no violation and no divergence, so there is no history to write", file=sys.stderr)
        return
    write_whole("--history", file, json.dumps(history, indent=1))
    print(f"history in {file}; see it with: kafkaproof show {file}", file=sys.stderr)
