"""The user's cache directory: files that can be made again at any time.

Each has a checksum, so that a damaged file counts as missing; it is written atomically, so that processes never wait
for each other. An archive of kafkaproof brings such files along.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import kafkaproof

NAME = Path("kafkaproof", "kernels")
"""The directory of cached files below that of all programs."""
BROUGHT = Path(kafkaproof.__path__[0], "cache")
"""Where an archive has the files that it brings along."""
CHECKSUM_BYTES = 32


def cache_directory() -> Path:
    """The directory of cached files, below ``$XDG_CACHE_HOME`` or ``~/.cache``; without a home, a temporary one."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # in a container, the user may have none
        base = Path(tempfile.gettempdir())
    return base / NAME


def kept(path: Path) -> bytes | None:
    """The content of a cached file, None if it is missing or damaged."""
    for place in (path, BROUGHT / path.name):
        try:
            whole = place.read_bytes()
        except OSError:
            continue
        checksum, content = whole[:CHECKSUM_BYTES], whole[CHECKSUM_BYTES:]
        if hashlib.sha256(content).digest() == checksum:
            return content
    return None


def keep(path: Path, content: bytes) -> None:
    """Write a cached file, if that is possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(hashlib.sha256(content).digest() + content)
        os.replace(file.name, path)
    except OSError:
        pass  # a full disk, or a directory without permission: the content is made again next time
