"""The recording of one process: its steps as lines of JSON, each written whole before anybody hears of the step.

A line of a step: `n` its number, `part` and `step` as text with the answer, `with` the steps of the other part, `seams`
what was asked for and answered, `zxids` the transactions that it made, `at` the zxid at which it took place and whether
it wrote there, `zxid` and `clock` what the process knew, `took` and `sent` the messages, `came` what the one that it took
says, if it is from a broker that is none of ours, `changed` the fields that changed, `partitions` for how many it has
records, `state` the hash of the record after it. Before a step's first write goes out, `asks` tells it: a process that
dies may have written what it did not live to record.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

FORMAT = 10


class Recorder:
    """Appends lines to a file; each is one write, so that a process that is killed leaves whole lines behind.

    Without a file (None) nothing is recorded.
    """

    def __init__(self, file: Path | None, **about: object):
        self.on = file is not None
        if file is None:
            return
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC, 0o644)
        self.write({"format": FORMAT, **about})

    def write(self, line: dict) -> None:
        """Append one line."""
        if self.on:
            os.write(self._file, json.dumps(line, separators=(",", ":")).encode() + b"\n")
