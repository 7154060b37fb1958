"""Rules of a link: which frames are held, delayed or dropped, chosen by what they say."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from kafkaproof.spec.protocol.passed import DROPPED, PASSED

HOLD, DELAY, DROP, NOTICE = "hold", "delay", "drop", "notice"


class Frame:
    """A frame that a rule has taken: what it `said`, and what becomes of it. `is_stale`: whoever sent it has gone."""

    def __init__(self, said: Mapping[str, Any]):
        self.said, self.is_stale = dict(said), False
        self.verdict: str | None = None

    def let_go(self) -> None:
        """Forward it, if it is held."""
        self.verdict = self.verdict or PASSED

    def drop(self) -> None:
        """Lose it, if it is held, and break its connection."""
        self.verdict = self.verdict or DROPPED


class Rule:
    """What is done to the next frames that fit one of some patterns, `times` of them (None: to all).

    `action`: HOLD keeps each until it is let go or dropped, and what comes behind it; DELAY keeps them for some
    `seconds`; DROP loses them, and breaks the connection; NOTICE lets them pass. `taken` has all of them in order.

    A pattern has names and what they stand for: a frame fits where each name occurs in it, at whatever depth, with a
    value that is equal, or that a text fits as a regular expression, or that is a record in which a pattern fits:
    {"part": "answer", "operation": "multi", "path": "/brokers/topics/t/.*", "data": ".*\"leader\":1,.*"}.
    """

    def __init__(self, action: str, *patterns: Mapping[str, object], times: int | None = 1, seconds: float = 0.0):
        self.action, self.patterns, self.times, self.seconds = action, patterns, times, seconds
        self.taken: list[Frame] = []
        self._left = times
        self._changed = threading.Condition()

    def take(self, said: Mapping[str, object]) -> Frame | None:
        """The frame that says this, if the rule is for it; then it is counted."""
        with self._changed:
            if self._left == 0 or not any(fits(said, pattern) for pattern in self.patterns):
                return None
            self._left = None if self._left is None else self._left - 1
            self.taken.append(Frame(said))
            self._changed.notify_all()
            return self.taken[-1]

    def await_taken(self, seconds: float, count: int = 1) -> bool:
        """Wait until so many frames were taken; whether they were, in so many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.taken) >= count, seconds)

    @property
    def held(self) -> list[Frame]:
        """The frames that it holds now, of senders that wait."""
        return [frame for frame in self.undecided if not frame.is_stale]

    @property
    def undecided(self) -> list[Frame]:
        """The frames that it holds now, those of senders that have gone included."""
        return [frame for frame in self.taken if self.action == HOLD and not frame.verdict]

    def release(self) -> None:
        """Let go what it holds; it takes no more frames."""
        with self._changed:
            self._left = 0
        for frame in self.taken:
            frame.let_go()


def fits(said: object, pattern: Mapping[str, object]) -> bool:
    """Whether a pattern fits what is said."""
    return all(any(_is(value, wanted) for value in _values(said, name)) for name, wanted in pattern.items())


def check_pattern(pattern: Mapping[str, object]) -> None:
    """Raise ValueError where a text in a pattern is no regular expression."""
    for name, wanted in pattern.items():
        if isinstance(wanted, Mapping):
            check_pattern(wanted)
        elif isinstance(wanted, str):
            try:
                re.compile(wanted)
            except re.error as error:
                raise ValueError(f"pattern: {name} is {wanted!r}, which is no regular expression: {error}") from None


def _is(value: object, wanted: object) -> bool:
    if isinstance(wanted, Mapping):
        return any(fits(each, wanted) for each in (value if isinstance(value, (list, tuple)) else [value]))
    if isinstance(wanted, str):
        return re.fullmatch(wanted, value if isinstance(value, str) else str(value), re.DOTALL) is not None
    return type(value) is type(wanted) and value == wanted or isinstance(value, (list, tuple)) and wanted in value


def _values(said: object, name: str) -> Iterator[object]:
    """What stands under a name, at whatever depth."""
    if isinstance(said, Mapping):
        if name in said:
            yield said[name]
        for value in said.values():
            yield from _values(value, name)
    elif isinstance(said, (list, tuple)):
        for value in said:
            yield from _values(value, name)
