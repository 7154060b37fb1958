"""The page of liveness says what is recorded: of each property the variants, lengths and mutants, of each command its verdict."""

import re
import shlex
from pathlib import Path

import pytest

from kafkaproof.checker.commands.main import parser
from kafkaproof.checker.commands.models import chosen
from kafkaproof.checker.mutation.by_hand import catalogue
from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.language.model import LIVENESS

PAGE = (Path(__file__).parents[2] / "docs" / "liveness.md").read_text(encoding="utf-8")
ASKED = {(m.system, p.name): p for m in all_models() for p in m.properties if p.kind in LIVENESS}
PROPERTY = re.compile(r"(\S+) `(\w+)`")


def cells(title):
    """The rows of the table behind a title, without its head."""
    lines = PAGE.split(f"## {title}\n")[1].split("\n## ")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")][2:]


def found(system, name):
    """Of each variant that is asked, the lengths that are recorded."""
    lengths = {}
    for model in all_models():
        scopes = model.expected if model.system == system else ()
        asked = [scope for scope in scopes if name in [p.name for p in model.properties_at(scope)]]
        if asked:
            recorded = (model.expectation(scope).get(name) for scope in asked)
            lengths[model.variant] = sorted({length for length in recorded if length})
    return lengths


def words(lengths):
    """Lengths as the page has them: ``13``, ``6 or 7``, ``12 to 38``."""
    return " or ".join(map(str, lengths)) if len(lengths) < 3 else f"{lengths[0]} to {lengths[-1]}"


def row(system, name):
    """A property as the page has it: where it holds, where it is violated, by which mutants."""
    lengths = found(system, name)
    texts = {}
    for variant, at in lengths.items():
        texts.setdefault(words(at), []).append(variant)
    holds = ", ".join(texts.pop("", []))
    violated = "; ".join(f"{', '.join(variants)} {text}" for text, variants in texts.items())
    mutants = dict.fromkeys(f"`{m.name}`" for model, m in catalogue() if (model.system, m.kills) == (system, name))
    return [f"{system} `{name}`", holds, violated, ", ".join(mutants)]


def test_every_property_is_explained():
    assert sorted(PROPERTY.fullmatch(cell[1]).groups() for cell in cells("What is asked")) == sorted(ASKED)


def test_every_property_has_an_id_that_its_text_has():
    for ids, name, *_ in cells("What is asked"):
        for id in ids.split(", "):
            assert re.search(rf"\b{id}\b", ASKED[PROPERTY.fullmatch(name).groups()].text)


def test_verdicts_and_mutants_are_those_recorded():
    rows = cells("What is found")
    assert rows == [row(*PROPERTY.fullmatch(cell[0]).groups()) for cell in rows]
    assert len(rows) == len(ASKED)


@pytest.mark.parametrize("command", [tuple(row) for row in cells("Commands that show it")], ids=lambda row: row[0])
def test_a_command_shows_the_recorded_verdict(command):
    options = parser().parse_args(["check", *shlex.split(command[0].strip("`"))])
    ((model, scope),) = chosen(options)
    (name,) = options.properties
    recorded = (model.expectation(scope) or {}).get(name)
    assert name in [p.name for p in model.properties_at(scope)]
    assert re.match(rf"{recorded or 'holds'}\b", command[1])
