"""Writes a file whole or not at all."""

import os
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError


def expect_writable(option: str, file: Path) -> None:
    """Raise UserError where the file cannot be made, before any work is done for it."""
    if file.is_dir():
        raise UserError(f"{option} {file}: is a directory; name a file")
    if not file.parent.is_dir():
        raise UserError(f"{option} {file}: there is no directory {file.parent}; make it first")
    if not os.access(file.parent, os.W_OK | os.X_OK):
        raise UserError(f"{option} {file}: nothing may be written into {file.parent}; name another place")


def write_whole(option: str, file: Path, text: str) -> None:
    """Write a text to a file, which is as before where that fails: then UserError is raised.

    What is no file, such as a pipe or a device, is written to, and not replaced by one.
    """
    replaces = file.is_file() or not file.exists()
    beside = file.with_name(f".{file.name}.{os.getpid()}") if replaces else file
    try:
        with beside.open("w", encoding="utf-8", errors="replace") as out:
            out.write(text)
            out.flush()
            if replaces:
                os.fsync(out.fileno())
        if replaces:
            beside.replace(file)
    except OSError as error:
        if replaces:
            beside.unlink(missing_ok=True)
        raise UserError(f"{option} {file}: cannot be written: {error.strerror}; name another place") from None
