"""Replay has no rule of its own: which variants and releases there are stands where the model is chosen, and where the
formats of znodes are declared."""

import ast
import re
from pathlib import Path

import pytest

from kafkaproof.spec.catalogue import find

TRACES = Path(__file__).parents[2] / "traces"
CHOICES = {TRACES / "evidence" / "features.py", TRACES / "groups" / "machine.py"}
"""Where the model is chosen."""
FORMATS = TRACES / "zookeeper" / "znodes" / "formats.py"
RELEASE = re.compile(r"\d+\.\d+(\.\d+)*( to \d+\.\d+(\.\d+)*)?")
VARIANTS = {model.variant for model in find()}
FILES = sorted(set(TRACES.rglob("*.py")) - CHOICES)


def texts(node):
    return {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)}


def asks_for_a_variant(node):
    """Whether an expression compares something with the name of a variant, or looks for its beginning."""
    match node:
        case ast.Compare(left, _, others):
            asked = {
                each.attr for part in (left, *others) for each in ast.walk(part) if isinstance(each, ast.Attribute)
            }
            return "variant" in asked and bool(texts(node) & VARIANTS)
        case ast.Call(ast.Attribute(ast.Attribute(attr="variant")), _, _) | ast.Call(ast.Name("find"), [_, _], _):
            return bool(texts(node) & VARIANTS)
    return False


def is_release(node):
    match node:
        case ast.Constant(str() as text):
            return RELEASE.fullmatch(text)
        case ast.Call(ast.Name("Releases")):
            return True
    return False


def found(file, asked):
    return [node.lineno for node in ast.walk(ast.parse(file.read_text())) if asked(node)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TRACES)))
def test_no_variant_and_no_release_is_asked_for_elsewhere(file):
    assert found(file, asks_for_a_variant) == []
    assert file == FORMATS or found(file, is_release) == []


@pytest.mark.parametrize(
    "text", ['log.variant == "fenced"', 'self.variant.startswith("legacy")', 'find("partition", "kip380")']
)
def test_such_a_question_is_found(text):
    assert any(asks_for_a_variant(node) for node in ast.walk(ast.parse(text)))


@pytest.mark.parametrize("text", ['x == "2.4"', "Releases(first, last)", 'said("2.4 to 3.9")'])
def test_such_a_release_is_found(text):
    assert any(is_release(node) for node in ast.walk(ast.parse(text)))
