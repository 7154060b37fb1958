"""Which kafkaproof this is: the driver and its executors must be of one text."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import kafkaproof.checker
import kafkaproof.spec

PACKAGES = (kafkaproof.checker, kafkaproof.spec)
"""What executors run, and what it imports."""


def modules() -> dict[str, Path]:
    """The files of `PACKAGES`, by their paths below the folder that holds the package `kafkaproof`."""
    found = {}
    for package in PACKAGES:
        root = Path(package.__path__[0])
        folder = package.__name__.replace(".", "/")
        found |= {f"{folder}/{path.relative_to(root)}": path for path in sorted(root.rglob("*.py"))}
    return found


@cache
def source() -> str:
    """A hash of the text of `modules`."""
    total = hashlib.sha256()
    for name, path in modules().items():
        total.update(f"{name}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()
