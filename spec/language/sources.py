"""Where a rule stands in Kafka's source, and in which releases: the lines ``Kafka:`` of docstrings.

    Kafka:   KafkaController.elect, maybeResign, 2.1 to 3.9 (KAFKA-6082); ZooKeeperClient.reinitialize, 1.1 to 3.9.

A place is a class with a member (``KafkaController.elect``), a further member of the last class (``maybeResign``), a
class, or a class with a text that is in it (``RequestChannel."RequestQueueSize"``); a class may be named with its
package. The places are followed by the release, or by the first and the last one, in which the rule stands there. What is
in parentheses is a remark. ``none`` says that Kafka has no such rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc

from kafkaproof.spec.language.releases import Releases

_SECTION = re.compile(r"^(?P<title>Kafka|Source):(?P<text>.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_OF_KAFKA = re.compile(r"(kafka|org\.apache\.kafka)\.")
_REMARK = re.compile(r"\s*\([^()]*\)")
_RELEASE = r"\d+(?:\.\d+){1,3}"
_RANGE = re.compile(rf"({_RELEASE})(?: to ({_RELEASE}))?")
_NAME = re.compile(
    r"(?P<package>(?:(?:[a-z]\w*|I0Itec)\.)*)(?P<of>[A-Z]\w*(?:\.[A-Z]\w*)*)(?:\.(?P<member>[a-z]\w*|\"[^\"]+\"))?"
)
_MEMBER = re.compile(r"[a-z]\w*|\"[^\"]+\"")


@dataclass(frozen=True)
class Place:
    """A class in Kafka's source, with its package where it is named, and a member or a text of it; "" for none."""

    of: str
    member: str = ""
    package: str = ""

    def __str__(self) -> str:
        return ".".join(filter(None, (self.package, self.of, self.member)))

    @property
    def is_of_kafka(self) -> bool:
        """Whether it is Kafka's own, and not of a library that it uses."""
        return not self.package or f"{self.package}.".startswith(("kafka.", "org.apache.kafka."))


@dataclass(frozen=True)
class Source:
    """Places that hold a rule in these releases."""

    places: tuple[Place, ...]
    releases: Releases


def sources(text: str) -> tuple[Source, ...]:
    """What the text behind ``Kafka:`` says, () for none. Raises ValueError with the part that cannot be read."""
    said = " ".join(_REMARK.sub("", " ".join(text.split())).split())
    if not said.endswith("."):
        raise ValueError(f"{said!r} does not end with a full stop")
    if said == "none.":
        return ()
    found: list[Source] = []
    for clause in said[:-1].split("; "):
        found.append(_clause(clause, [place for source in found for place in source.places]))
    return tuple(found)


def _clause(text: str, before: list[Place]) -> Source:
    """Places and their releases; `before`: the places that are named before them."""
    *named, last = text.split(", ")
    found = _RANGE.fullmatch(last)
    if not found or not named:
        raise ValueError(f"{text!r} is not places and releases, such as 'KafkaController.elect, 2.1 to 3.9'")
    places: list[Place] = []
    for name in named:
        places.append(_place(name, [*before, *places]))
    return Source(tuple(places), Releases(found[1], found[2] or found[1]))


def _place(name: str, before: list[Place]) -> Place:
    """A place, whose class may be that of the last one before it."""
    if before and _MEMBER.fullmatch(name):
        return Place(before[-1].of, name, before[-1].package)
    if found := _NAME.fullmatch(name):
        return Place(found["of"], found["member"] or "", found["package"].rstrip("."))
    raise ValueError(f"{name!r} is not a class with a member, such as 'KafkaController.elect'")


def sections(docstring: str) -> tuple[str, ...]:
    """The texts behind ``Kafka:`` in a docstring, and behind ``Source:`` where that names Kafka's source."""
    found = ((each["title"], each["text"].strip()) for each in _SECTION.finditer(cleandoc(docstring)))
    return tuple(text for title, text in found if title == "Kafka" or _OF_KAFKA.match(text))


def sources_of(function: Callable) -> tuple[Source, ...]:
    """Where a function's rule stands in Kafka, as its docstring says; () where that says nothing."""
    return tuple(source for text in sections(function.__doc__ or "") for source in sources(text))
