"""Finds ZooKeeper's files in a directory: the logs and the snapshots of one server, or of several of an ensemble."""

import re
from pathlib import Path

from kafkaproof.traces.zookeeper.transactions import LogError

_LOG_NAME = re.compile(r"log\.[0-9a-f]+")
_SNAPSHOT_NAME = re.compile(r"snapshot\.[0-9a-f]+(\.gz|\.snappy)?")


def log_files(directory: Path) -> list[Path]:
    """The transaction logs, in the order of the zxids in their names."""
    return _files(directory, _LOG_NAME)


def snapshot_files(directory: Path) -> list[Path]:
    """The snapshots, in the order of the zxids in their names."""
    return _files(directory, _SNAPSHOT_NAME)


def zxid_of(file: Path) -> int:
    """The zxid in the name of a log or of a snapshot."""
    return int(file.name.split(".")[1], 16)


def _files(directory: Path, name: re.Pattern) -> list[Path]:
    """List the files of that name in all places of a directory, in the order of the zxids in their names."""
    folders = [directory, directory / "version-2", *directory.glob("*/version-2")]
    try:
        files = [file for folder in folders if folder.is_dir() for file in folder.iterdir()]
    except OSError as error:
        raise LogError(f"{error.filename}: cannot be read: {error.strerror}") from None
    found = [file for file in files if name.fullmatch(file.name)]
    if strange := [file for file in found if not file.is_file()]:
        raise LogError(f"{strange[0]}: no regular file, though it is named like one of ZooKeeper's; take it away")
    return sorted(found, key=lambda file: (zxid_of(file), file))
