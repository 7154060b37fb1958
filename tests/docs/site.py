"""Prepares the documentation site: the documents, the README as its first page, and a gallery of drawn scenarios.

Use: python -m tests.docs.site DIR, then `zensical build`, which checks every link. Links between documents lead to
where these stand in the site.
"""

import re
import shutil
import sys
from functools import partial
from pathlib import Path

from kafkaproof.checker.commands.scenario import bundled
from kafkaproof.checker.pictures import render, render_beside
from kafkaproof.checker.scenarios.play import play
from kafkaproof.checker.scenarios.show import history_of_part

ROOT = Path(__file__).parents[2]
OTHERS = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
    "traces/recordings/README.md": "recordings.md",
}
"""Documents outside docs/, and their names in the site."""
LINK = re.compile(r"(\]\()([^)#\s]+)")


def copy_documents(target: Path) -> None:
    """Copy all documents, with their links changed to lead where each stands in the site."""
    shutil.copytree(ROOT / "docs", target)
    for path, name in OTHERS.items():
        shutil.copy(ROOT / path, target / name)
    sources = {target / name: ROOT / path for path, name in OTHERS.items()}
    for page in target.rglob("*.md"):
        source = sources.get(page, ROOT / "docs" / page.relative_to(target))
        page.write_text(LINK.sub(partial(_moved, source=source, page=page, target=target), page.read_text()))


def _moved(found: re.Match, source: Path, page: Path, target: Path) -> str:
    """A link of the document `source` as it reads in its page of the site."""
    before, link = found.groups()
    if ":" in link:
        return found[0]
    meant = (source.parent / link).resolve().relative_to(ROOT)
    place = OTHERS.get(str(meant)) or (meant.relative_to("docs") if meant.parts[0] == "docs" else None)
    if place is None:
        return found[0]
    up = "../" * len(page.relative_to(target).parent.parts)
    return f"{before}{up}{place}"


def draw_gallery(target: Path) -> None:
    """Write a page for each scenario, of its first two variants beside each other, and the page that lists them."""
    target.mkdir()
    rows = ["# Gallery", "", "Stories of operations, drawn step by step; two variants stand beside each other.", ""]
    for scenario in bundled():
        histories = [history_of_part(scenario, play(scenario, part)) for part in scenario.parts[:2]]
        page = render_beside(*histories) if len(histories) == 2 else render(histories[0])
        (target / f"{scenario.name}.html").write_text(page, encoding="utf-8")
        rows.append(f'- <a href="{scenario.name}.html">{scenario.title}</a> ({scenario.system})')
    (target / "index.md").write_text("\n".join(rows) + "\n", encoding="utf-8")


def main(target: Path) -> None:
    """Prepare the site in a directory that does not exist, or was made so."""
    shutil.rmtree(target, ignore_errors=True)
    copy_documents(target)
    draw_gallery(target / "gallery")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
