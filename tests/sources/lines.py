"""The lines ``Kafka:`` of all docstrings, and what of them cannot be read."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kafkaproof.spec.language.sources import Source, sections, sources

ROOT = Path(__file__).parents[2]
FOLDERS = ("spec", "checker", "impl", "traces")


class Line(NamedTuple):
    """What one docstring says of Kafka's source: `where` is its file and function."""

    where: str
    text: str

    def sources(self) -> tuple[Source, ...]:
        """The line as data. Raises ValueError where it cannot be read."""
        try:
            return sources(self.text)
        except ValueError as error:
            raise ValueError(f"{self.where}: {error}") from None


def all_lines() -> Iterator[Line]:
    """Those of every module, class and function."""
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield from lines_of(file.read_text(encoding="utf-8"), str(file.relative_to(ROOT)))


def lines_of(text: str, name: str) -> Iterator[Line]:
    """Those of one module's text."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            where = f"{name}: {node.name}" if not isinstance(node, ast.Module) else name
            yield from (Line(where, said) for said in sections(ast.get_docstring(node) or ""))
