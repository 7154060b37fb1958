"""
Compare an exploration up to symmetry with that of the full graph, of the same model in the same run.

    python benchmarks/up_to_symmetry.py --cases replication/kip320:4,2,2,1 async-isr/maximal-isr:4,2,3 --rounds 3

A case is SYSTEM/VARIANT:SIZES, the sizes in the order of `kafkaproof list SYSTEM`. Both runs keep going after a
violation; they must come to the same verdict, lengths of counterexamples and goals that are not reached. (The
depth may be less with symmetry: docs/symmetry.md.)

How to read the table:

- "fewer" is full graph / orbits in distinct states, and is at most "renamings", the number of permutations.
- "faster" is the same ratio of seconds, from the first state to the verdict. In a round the two run one after the
  other on the same machine, so that it survives a slow or busy one. Not in it is what is paid once: the start of the
  engine, compilation, and the test that the model is symmetric, all of which is in "+ startup", in seconds.

Exit code: 0 if verdicts agree, 1 if they differ or a run fails.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from measured import CommandFailed, run_measured
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.model import LIVENESS

WIDTH = 120
DEFAULT = ["replication/kip320:3,2,2,2", "replication/kip320:4,2,2,1", "async-isr/maximal-isr:4,2,3"]


@dataclass(frozen=True)
class Case:
    """A model of the catalogue at a scope."""

    text: str
    options: list[str]
    properties: list[str]

    @classmethod
    def parse(cls, text):
        """A case from its text; raises ValueError."""
        name, _, sizes = text.partition(":")
        system, _, variant = name.partition("/")
        try:
            [model] = find(system, variant)
            given = dict(zip(model.scope, map(int, sizes.split(",")), strict=True))
        except (LookupError, ValueError) as error:
            raise argparse.ArgumentTypeError(f"{text!r} is not a case: {error}") from error
        scope = [f"--{size.replace('_', '-')}={value}" for size, value in given.items()]
        asked = [f"--property={p.name}" for p in model.properties_at(given) if p.kind not in LIVENESS]
        return cls(text, [system, "--variant", variant, *scope], asked)


@dataclass(frozen=True)
class Comparison:
    """All rounds of a case: the results of `kafkaproof check --json`, in pairs (full graph, up to symmetry)."""

    case: Case
    rounds: list[tuple[dict, dict]]

    @property
    def agrees(self):
        return all(_facts(full) == _facts(reduced) for full, reduced in self.rounds)

    def ratios(self, field):
        return [full[field] / reduced[field] for full, reduced in self.rounds]


def _facts(result):
    lengths = {violation["property"]: violation["trace_length"] for violation in result["violations"]}
    return result["verdict"], lengths, result["unreached"]


def check(case, *options):
    """The result of one run of the checker."""
    with tempfile.TemporaryDirectory() as directory:
        command = [str(Path(sys.executable).parent / "kafkaproof"), "check", *case.options, *options]
        command += ["--master", "local[2]", "--json", "--run-dir", str(Path(directory, "run"))]
        measured = run_measured(command, directory)
    [result] = json.loads(measured.output)["runs"]
    return result


def compare(case, rounds, errors):
    """Run a case in turn without and with symmetry; liveness, which is asked of the full graph only, is left out."""
    asked = ["--keep-going", *case.properties]
    pairs = []
    for number in range(1, rounds + 1):
        full, reduced = check(case, *asked), check(case, *asked, "--symmetry")
        pairs.append((full, reduced))
        faster = full["seconds"] / reduced["seconds"]
        told = f"{case.text}, round {number} of {rounds}: {faster:.2f} times faster"
        errors.print(told, markup=False, highlight=False)
    return Comparison(case, pairs)


def compared(comparisons):
    """The table of what is compared, one row for each case."""
    table = Table(title="Full graph / up to symmetry: medians", box=SIMPLE)
    table.add_column("case", no_wrap=True)
    for name in ["renamings", "states", "orbits", "fewer", "faster", "min", "max", "+ startup"]:
        table.add_column(name, justify="right", no_wrap=True)
    for each in comparisons:
        full, reduced = each.rounds[0]
        faster = each.ratios("seconds")
        startup = median(two["startup_seconds"] - one["startup_seconds"] for one, two in each.rounds)
        table.add_row(
            each.case.text,
            str(reduced["symmetry"]["renamings"]),
            f"{full['distinct']:,}",
            f"{reduced['distinct']:,}",
            *(f"{ratio:.2f}" for ratio in [each.ratios("distinct")[0], median(faster), min(faster), max(faster)]),
            f"{startup:.1f}",
        )
    return table


def main(arguments=None):
    """Compare all cases; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = [Case.parse(text) for text in DEFAULT]
    parser.add_argument(
        "--cases", nargs="+", type=Case.parse, default=default, metavar="S/V:N,N", help=f"default: {' '.join(DEFAULT)}"
    )
    parser.add_argument("--rounds", type=int, default=3, help="pairs of runs of each case (default: %(default)s)")
    options = parser.parse_args(arguments)
    errors = Console(stderr=True)
    try:
        comparisons = [compare(case, options.rounds, errors) for case in options.cases]
    except CommandFailed as failure:
        errors.print(str(failure), markup=False, soft_wrap=True)
        return 1
    Console(width=WIDTH).print(compared(comparisons))
    different = [each.case.text for each in comparisons if not each.agrees]
    if different:
        errors.print(f"verdicts, counterexamples or goals differ: {', '.join(different)}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
