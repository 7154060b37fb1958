"""Who may import whom, held by reading the code."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = {"spec", "checker", "traces", "impl"}
MAY_IMPORT = {"spec": {"spec"}, "checker": {"checker", "spec"}, "traces": {"traces", "checker", "spec"}, "impl": {"impl", "spec"}}
FILES = [path for package in sorted(OURS) for path in sorted((ROOT / package).rglob("*.py"))]


def imported(path):
    """The packages that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield path.relative_to(ROOT).parts[0] if node.level else node.module.split(".")[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_packages_below_its_own(path):
    package = path.relative_to(ROOT).parts[0]
    assert set(imported(path)) & OURS <= MAY_IMPORT[package]


@pytest.mark.parametrize("path", [p for p in FILES if p.is_relative_to(ROOT / "spec")], ids=lambda path: path.stem)
def test_the_specification_imports_numpy_and_the_standard_library(path):
    assert set(imported(path)) <= {"spec", "numpy", *sys.stdlib_module_names}
