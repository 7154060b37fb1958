"""The glossary has every id of a property, with what it says."""

import re
from pathlib import Path

from kafkaproof.spec.catalogue import MODELS

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"
ID = re.compile(r"\b([A-Z]\d{1,2}|O-OFFSET-MONO)\b")


def rows() -> list[str]:
    """A row for each id and each sentence that bears it, with the properties that say it."""
    found: dict[tuple[str, str], list[str]] = {}
    for model in MODELS:
        for prop in model.properties:
            for bracket in re.findall(r"\(([^()]*)\)", prop.text):
                for name in ID.findall(bracket):
                    named = found.setdefault((name, prop.text), [])
                    if (place := f"`{model.system}` {prop.name}") not in named:
                        named.append(place)
    order = sorted(found, key=lambda each: (each[0][0], int(re.sub(r"\D", "", each[0]) or 99)))
    return [f"| {name} | {', '.join(found[name, text])} | {text.replace('|', '/')} |" for name, text in order]


def test_every_id_has_its_rows():
    page = PAGE.read_text(encoding="utf-8").partition("## Ids of properties")[2].splitlines()
    assert [line for line in page if ID.match(line.removeprefix("| "))] == rows()
