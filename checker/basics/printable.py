"""Escapes unsafe characters in printed text: names in logs and files may hold control codes."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

UNSAFE = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    r"\ufff9-\ufffb\U000e0000-\U000e007f"
)
"""Characters that are never printed, as a class of a regular expression: controls except tabs and ends of lines,
characters without width, changes of text direction, and surrogates."""
_UNSAFE = re.compile(f"[{UNSAFE}]")


def printable(text: str) -> str:
    """A text with every unsafe character escaped, as ``\\x1b`` or ``\\u202e``."""
    return _UNSAFE.sub(_written_out, text)


def _written_out(found: re.Match) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class Printable:
    """A stream that passes on only printable text, and otherwise behaves like the one behind it."""

    def __init__(self, stream):
        self.behind = stream

    def write(self, text: str) -> int:
        """Write a text."""
        self.behind.write(printable(text))
        return len(text)

    def writelines(self, lines) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name):
        return getattr(self.behind, name)


def obeyed(stream):
    """The stream behind a printable one, for what a terminal must interpret: colours and carriage returns."""
    return stream.behind if isinstance(stream, Printable) else stream


@contextmanager
def only_printable() -> Iterator[None]:
    """Make everything printed within the block printable."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(Printable, before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
