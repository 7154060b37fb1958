"""The tables of findings in documents: the releases that have what was found, and where it stands in Kafka's source."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.language.sources import Place, sources
from tests.sources.clone import Clone
from tests.sources.lines import ROOT
from tests.sources.lookup import line_of

DOCS = ROOT / "docs"
PAGES = (DOCS / "findings.md", *sorted((DOCS / "findings").glob("*.md")))
COLUMNS = ("Releases", "Kafka's source")
NO_RELEASE = ("no release", "none")
"""What stands in the columns of a finding about what no release does."""
_RANGE = re.compile(r"([\d.]+)(?: to ([\d.]+))?")
_DECLARED = re.compile(r"`([\w.]+)` (\d[\w.-]*):(\d+)")


class Declared(NamedTuple):
    """A place in Kafka's source, and the line at which it is declared at a tag."""

    place: Place
    tag: str
    line: int


class Finding(NamedTuple):
    """A row of a table of findings: its page, its cells, the releases and the source; () where no release has it."""

    page: str
    cells: tuple[str, ...]
    releases: tuple[Releases, ...]
    declared: tuple[Declared, ...]


def findings(page: Path) -> Iterator[Finding]:
    """Those of one page. Raises ValueError with the row that cannot be read."""
    for head, rows in tables(page.read_text(encoding="utf-8")):
        if head[-2:] == COLUMNS:
            for row in rows:
                try:
                    yield Finding(page.name, row, *_read(*row[-2:]))
                except ValueError as error:
                    raise ValueError(f"{page.name}: {row[0]}: {error}") from None


def tables(text: str) -> Iterator[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """The tables of a document, each as the cells of its head and those of its rows."""
    for found in re.finditer(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = (tuple(cell.strip() for cell in row.split("|")[1:-1]) for row in found[0].splitlines())
        yield head, rows


def misplaced(clone: Clone) -> list[tuple[str, str, str]]:
    """Where a row names a place, the place with tag and line, and the tag of a clone at which it is elsewhere."""
    return [
        (f"{finding.page}: {finding.cells[0]}", f"{each.place}, line {each.line}", each.tag)
        for page in PAGES
        for finding in findings(page)
        for each in finding.declared
        if (line_of(clone, each.tag, each.place) or ("", 0))[1] != each.line
    ]


def _read(releases: str, declared: str) -> tuple[tuple[Releases, ...], tuple[Declared, ...]]:
    if (releases, declared) == NO_RELEASE:
        return (), ()
    ranges = [re.fullmatch(_RANGE, part) for part in re.sub(r" \([^()]*\)", "", releases).split(", ")]
    places = [re.fullmatch(_DECLARED, part) for part in declared.split("; ")]
    if not all(ranges) or not all(places):
        raise ValueError(f"{releases!r} and {declared!r} are not releases and places, such as `A.b` 2.8.2:31")
    return (
        tuple(Releases(found[1], found[2] or found[1]) for found in ranges if found),
        tuple(Declared(_place(found[1]), found[2], int(found[3])) for found in places if found),
    )


def _place(name: str) -> Place:
    return sources(f"{name}, 0.8.")[0].places[0]
