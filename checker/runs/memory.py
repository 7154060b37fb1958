"""Arrays of 64-bit words, in memory or in a file that all Python workers of one executor map."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from kafkaproof.checker.basics.errors import UserError


@contextmanager
def disk_errors_told(path: Path) -> Iterator[None]:
    """What cannot be written at a path is a UserError that says where."""
    try:
        yield
    except OSError as error:
        where = f"{path.parent}: {error.strerror or error}"
        raise UserError(f"{where}; seen states are kept there: make room, or set TMPDIR to another disk") from error


def made(size: int, path: Path | None) -> np.ndarray:
    """An array of `size` zeros, in place of what stands at a path. Raises UserError when there is no room for the file."""
    if path is None:
        return np.zeros(size, np.uint64)
    fresh = path.with_suffix(".new")
    with disk_errors_told(path), open(fresh, "wb") as file:  # a mapped file without room would kill the process later
        os.posix_fallocate(file.fileno(), 0, size * 8)
    array = found(fresh)
    fresh.replace(path)
    return array


def found(path: Path) -> np.ndarray:
    """The array that stands at a path."""
    return np.memmap(path, np.uint64, "r+")
