"""Compares what docstrings and tables of findings say of Kafka's source with a clone: ``make sources KAFKA=PATH-TO-CLONE``.

Exit codes: 0 every place is there, 1 one is not, 2 a line or the clone cannot be read.
"""

import sys
from pathlib import Path

from rich.table import Table

from kafkaproof.checker.commands.tables import console
from tests.sources.clone import Clone
from tests.sources.findings import PAGES, findings, misplaced
from tests.sources.lines import all_lines
from tests.sources.lookup import absences


def main(arguments: list[str]) -> int:
    """Print a table of the places that Kafka does not have at the first or the last release that a line names, or not at
    the line that a document names."""
    if len(arguments) != 1:
        print("say where a clone of Kafka is: make sources KAFKA=PATH", file=sys.stderr)
        return 2
    try:
        lines, clone = list(all_lines()), Clone(Path(arguments[0]))
        absent = absences(clone, lines) + misplaced(clone)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    out = console()
    table = Table("where it is said", "place", "not there at", header_style="bold")
    for row in absent:
        table.add_row(*row)
    if absent:
        out.print(table)
    found = sum(1 for page in PAGES for _ in findings(page))
    out.print(f"{len(lines)} lines of docstrings and {found} findings compared, {len(absent)} places are not there")
    return 1 if absent else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
