"""A program in all four readings: Python, compiled, symbolic, and in bounded model checking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from kafkaproof.checker.prove.formulas import StyleError
from kafkaproof.spec.language.subset import RuleError
from tests.checker.fuzz import compiled, symbolic
from tests.checker.fuzz.programs import Program
from tests.checker.fuzz.truth import Truth, truth

MOST = 60
AT = 5
Readings = dict[str, Callable[[], Iterator[str]]]


def differences(program: Program, counts: Counter) -> list[str]:
    """What the readings of a program differ in, a line each.

    `counts` gathers how many programs each reading was compared for, and how many it refused. One that is not of the
    language has no meaning to differ in. A crash is a difference.
    """
    model, told = program.model(), []
    try:
        found = truth(model, model.scope, MOST)
    except RuleError:
        counts["not of the language"] += 1
        return []
    counts["that run into an error"] += found.goes_wrong
    for name, reading in _readings(found).items():
        try:
            told += reading()
            counts[name] += 1
        except StyleError:
            counts[f"{name}: refused"] += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, no reading may end so
            told.append(f"{name}: {type(error).__name__}: {error}")
    return told


def _readings(found: Truth) -> Readings:
    states = list(found.states)[:: max(1, len(found.states) // AT)][: AT + 1]
    proofs: Readings = {
        "proved": lambda: symbolic.proved(found),
        "proved for any size": lambda: symbolic.proved(found, True),
    }
    if found.beginning is not None:
        return proofs
    return {
        "compiled alone": lambda: compiled.alone(found, list(found.states)),
        "compiled": lambda: compiled.expanded(found),
        "merged": lambda: symbolic.merged(found, states, False),
        "merged without bounds": lambda: symbolic.merged(found, states, True),
        "bounded": lambda: symbolic.bounded(found),
        **proofs,
    }
