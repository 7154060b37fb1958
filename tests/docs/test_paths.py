"""Every file, folder and module of ours that a document or a docstring names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOPS = "spec|checker|impl|traces|tests|docs|benchmarks"
DOCUMENTS = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *(
            path
            for top in ("spec", "checker", "impl", "traces", "tests", "benchmarks")
            for path in (ROOT / top).rglob("*.py")
        ),
    ]
)
PATH = re.compile(rf"`((?:{TOPS})/[\w./-]*\w/?)`")
PLACEHOLDER = re.compile(r"\b(SYSTEM|NAME)\b")
MODULE = re.compile(r"`kafkaproof\.((?:spec|checker|impl|traces|model)[a-z_.]*)`")


def is_there(dotted: str) -> bool:
    """Whether a dotted name is a module, or something in one: a name that its text has."""
    parts = dotted.split(".")
    for known in range(len(parts), 0, -1):
        for file in (ROOT.joinpath(*parts[:known]).with_suffix(".py"), ROOT.joinpath(*parts[:known], "__init__.py")):
            if file.is_file():
                return (
                    known == len(parts)
                    or re.search(rf"\b{parts[known]}\b", file.read_text(encoding="utf-8")) is not None
                )
    return dotted == "model" or (ROOT / "kafkaproof" / f"{parts[0]}.py").is_file()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_it_names_is_there(document):
    if document.name == "CHANGELOG.md":
        return  # what was said of former versions stands
    text = document.read_text(encoding="utf-8")
    assert [path for path in PATH.findall(text) if not PLACEHOLDER.search(path) and not (ROOT / path).exists()] == []
    assert [name for name in MODULE.findall(text) if not is_there(name)] == []
