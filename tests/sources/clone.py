"""A clone of Kafka: which tag is a release, and what its sources say there."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FOLDERS = ("core", "clients", "server-common", "server", "storage", "metadata", "raft")
"""The parts of Kafka in which brokers and clients of the ZooKeeper mode are written."""
KIND = "(?:class|object|trait|interface|enum)"
_TAG = re.compile(r"(\d+(?:\.\d+)+)(?:-rc(\d+))?")


class Clone:
    """Kafka's sources by tag. `folder` is the clone, or its git directory; raises ValueError where it is none."""

    def __init__(self, folder: Path):
        self._folder = folder / ".git" if (folder / ".git").exists() else folder
        found = [each for each in map(_TAG.fullmatch, _git(self._folder, "tag").split()) if each]
        found.sort(key=lambda each: (_numbers(each[1]), each[2] is None, int(each[2] or 0)))
        self._tags = {_numbers(each[1]): each[0] for each in found}
        if not self._tags:
            raise ValueError(f"{folder}: no tag is a release of Kafka, such as 2.8.2; fetch the tags")

    def first_tag(self, release: str) -> str:
        """The tag of the first release that is `release` or a patch of it; where there is none, the tag before."""
        wanted = _numbers(release)
        found = (tag for number, tag in self._tags.items() if number[: len(wanted)] == wanted)
        return next(found, None) or self.last_tag(release)

    def last_tag(self, release: str) -> str:
        """The tag of the last one; where there is none, the tag before. Raises ValueError where none is before."""
        wanted = _numbers(release)
        found = [tag for number, tag in self._tags.items() if number[: len(wanted)] <= wanted]
        if not found:
            raise ValueError(f"no tag of the clone is {release} or comes before it")
        return found[-1]

    def files_with(self, tag: str, name: str) -> Iterator[str]:
        """The main sources in which a class, object, trait, interface or enum `name` may be declared at a tag."""
        yield from (file for file in _files(self._folder, tag) if Path(file).stem == name)
        yield from _declaring(self._folder, tag).get(name, ())

    def text(self, tag: str, file: str) -> str:
        """A file at a tag."""
        return _git(self._folder, "show", f"{tag}:{file}")


@cache
def _git(folder: Path, *command: str) -> str:
    run = subprocess.run(["git", f"--git-dir={folder}", *command], capture_output=True)
    if run.returncode:
        raise ValueError(f"{folder}: git {command[0]}: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout.decode("utf-8", errors="replace")


@cache
def _files(folder: Path, tag: str) -> tuple[str, ...]:
    """The main sources, in Scala and Java."""
    found = _git(folder, "ls-tree", "-r", "--name-only", tag, *FOLDERS).split("\n")
    return tuple(file for file in found if "/src/main/" in file and file.endswith((".scala", ".java")))


@cache
def _declaring(folder: Path, tag: str) -> dict[str, list[str]]:
    """For each class and its like the main sources that declare it."""
    known, found = set(_files(folder, tag)), {}
    lines = _git(folder, "grep", "-E", r"\b(class|object|trait|interface|enum) +[A-Z]", tag, "--", *FOLDERS)
    for line in lines.split("\n"):
        file, _, text = line.removeprefix(f"{tag}:").partition(":")
        for name in re.findall(rf"\b{KIND} +([A-Z]\w*)", text) if file in known else ():
            found.setdefault(name, []).append(file)
    return found


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
