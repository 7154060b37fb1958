"""The page of verdicts has each recorded scope, as its variant declares it."""

from pathlib import Path

import pytest

from kafkaproof.checker.check.recorded import HEADER
from kafkaproof.checker.prove.explored import in_brackets
from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.language.model import LIVENESS

PAGE = (Path(__file__).parents[2] / "docs" / "verdicts.md").read_text(encoding="utf-8")


def rows():
    """The cells of each row, by model and scope."""
    assert PAGE.startswith(HEADER)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.removeprefix(HEADER).splitlines()]
    return {(model, scope): rest for model, scope, *rest in cells}


ROWS = rows()


def test_every_recorded_scope_has_a_row_and_no_other():
    assert {*ROWS} == {(m.name, in_brackets(at)) for m in all_models() for at in m.expected}


@pytest.mark.parametrize("model", all_models(), ids=lambda model: model.name)
def test_a_row_has_what_is_declared(model):
    """Where not all states were explored, what was found is declared; what takes more states may be missing."""
    for at, declared in model.expected.items():
        names, states, depth, violated, verdict = ROWS[model.name, in_brackets(at)]
        assert names == ", ".join(name for name in model.scopes if model.scopes[name] == at)
        found = dict(entry.rsplit(" ", 1) for entry in violated.split(", ") if entry != "nothing")
        found = {name: int(length) for name, length in found.items()}
        partly = states.startswith("over ")
        assert found == declared if not partly else found.items() <= declared.items()
        asked = {p.name for p in model.properties_at(at)}
        live = {p.name for p in model.properties if p.kind in LIVENESS}
        assert {*found} <= asked and not (partly and live & {*found})
        assert verdict == "yes" and int(depth) > 0
