"""Looks a place up in Kafka's sources: its class is declared, and that class declares its member."""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from kafkaproof.spec.language.sources import Place
from tests.sources.clone import KIND, Clone
from tests.sources.lines import Line

_NOISE = re.compile(
    r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"' + r"|'(?:\\[^\n]{1,5}|[^'\\\n])'" + r"|//[^\n]*|/\*(?:.|\n)*?\*/"
)
"""What is no code in Scala or Java: texts, characters, comments."""
_OF_A_HEAD = re.compile(r"[][(){};]|\n\s*\n|\b(?:class|object|trait|interface|enum|def|val|var|import)\b")
_IN_SCALA = re.compile(r"\b(?:def|val|var)\s+$")
_IN_JAVA = re.compile(r"\s*(?!(?:return|new|throw|else|case)\b)[\w.<>\[\],?& ]*[\w>\]]\s+")
_BEHIND_IN_JAVA = re.compile(r"\s*[(=;]")


def absences(clone: Clone, lines: Iterable[Line]) -> list[tuple[str, str, str]]:
    """Where a docstring names a place, the place, and the tag of the first or last release at which it is not there.

    Raises ValueError where a line cannot be read, or the clone has no such release.
    """
    found = []
    for line in lines:
        for source in line.sources():
            tags = dict.fromkeys((clone.first_tag(source.releases.first), clone.last_tag(source.releases.last)))
            places = [place for place in source.places if place.is_of_kafka]
            found += [(line.where, str(p), tag) for p in places for tag in tags if not line_of(clone, tag, p)]
    return found


def line_of(clone: Clone, tag: str, place: Place) -> tuple[str, int] | None:
    """The file and line where a place is declared at a tag, or None where it is not."""
    for file in clone.files_with(tag, place.of.split(".")[0]):
        if place.package and f"/{place.package.replace('.', '/')}/" not in file:
            continue
        text = clone.text(tag, file)
        if (at := _declared(text, place)) is not None:
            return file, text.count("\n", 0, at) + 1
    return None


def _declared(text: str, place: Place) -> int | None:
    """Where a class, or its member, is declared in a file; a class that extends it there may do that, too."""
    code = _code(text)
    outer, *inner = place.of.split(".")
    regions = list(_regions(code, outer, 0, len(code)))
    for name in inner:
        regions = [each for begin, end in regions for each in _regions(code, name, begin + 1, end)]
    if not place.member:
        return regions[0][0] if regions else None
    regions += [each for name in _heirs(code, outer) for each in _regions(code, name, 0, len(code))]
    if place.member.startswith('"'):
        return next((at for begin, end in regions if (at := text.find(place.member, begin, end)) >= 0), None)
    return next((at for begin, end in regions for at in _members(place.member, code, begin, end)), None)


def _members(name: str, code: str, begin: int, end: int) -> Iterator[int]:
    """Where a member of this name is declared between two places, in Scala, or in Java."""
    for found in re.compile(rf"\b{name}\b").finditer(code, begin, end):
        before = code[code.rfind("\n", 0, found.start()) + 1 : found.start()]
        if _IN_SCALA.search(before) or _IN_JAVA.fullmatch(before) and _BEHIND_IN_JAVA.match(code, found.end()):
            yield found.start()


def _heirs(code: str, name: str) -> list[str]:
    """The classes of a file that extend a class."""
    return [
        found[1]
        for found in re.finditer(r"\bclass\s+(\w+)", code)
        if re.search(rf"\bextends\s+{name}\b", code[found.end() : _head(code, found.end())])
    ]


def _regions(code: str, name: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Where classes, objects and their like of this name are, between two places: from the name to the last brace."""
    for found in re.compile(rf"\b{KIND}\s+{name}\b").finditer(code, begin, end):
        head = _head(code, found.end())
        yield found.start(), _closing(code, head) if code[head : head + 1] == "{" else head


def _head(code: str, at: int) -> int:
    """Where the head of a declaration ends, whose name ends at `at`: at the brace of its body, if it has one."""
    depth = 0
    for found in _OF_A_HEAD.finditer(code, at):
        if found[0] in ("(", "["):
            depth += 1
        elif found[0] in (")", "]") and depth:
            depth -= 1
        elif depth == 0:
            return found.start()
    return len(code)


def _closing(code: str, at: int) -> int:
    """Behind the brace that closes the one at `at`."""
    depth = 0
    for brace in re.compile(r"[{}]").finditer(code, at):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(code)


@cache
def _code(text: str) -> str:
    """The text with comments, and what is in quotes, as blanks; lines stay where they are."""
    return _NOISE.sub(lambda noise: re.sub(r"[^\n]", " ", noise[0]), text)
