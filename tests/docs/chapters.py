"""What documents have their readers write and run: the files of their blocks, and the commands."""

import re
import shlex
from collections import defaultdict
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def text_of(name: str) -> str:
    """The text of a document."""
    return (DOCS / name).read_text(encoding="utf-8")


def files_in(text: str) -> dict[str, str]:
    """The files that the blocks of a document are: those that name the same file, in their order."""
    blocks = defaultdict(list)
    for name, block in re.findall(r"^```python (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        blocks[name].append(block)
    return {name: "\n\n".join(found) for name, found in blocks.items()}


def commands_in(text: str) -> list[list[str]]:
    """The arguments of the commands that a document gives, in order."""
    return [shlex.split(line, comments=True) for line in re.findall(r"^    kafkaproof (.*)$", text, re.MULTILINE)]
