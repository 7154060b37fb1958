"""
Ask random walks for every safety violation that a search of all states has found.

    python benchmarks/walks.py --minutes 1 --seed 1
    python benchmarks/walks.py --systems replica election --minutes 3

Each variant with recorded violations is walked at its standard scope, with the walks of ``check --simulate --keep-going``,
until they have found all that the search did, or for so many minutes. The table has a row for each variant: how many of
the violated properties walks have found, after how many seconds the last of these, in how many walks, and which
are missing. Liveness is not asked for: walks do not judge it.

Exit code: 0 if none is missing, 1 otherwise.
"""

import argparse
import sys

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.spark.session import Place, start
from kafkaproof.checker.walk.walking import Walks, walk_all
from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.language.model import SAFETY

WIDTH = 120
LENGTH = 100


class Found(Exception):
    """Walks have found all that was asked for."""


def asked(model):
    """The safety properties that a search of all states violates."""
    recorded = dict(model.expected.get(model.scope, {}))
    return tuple(p for p in model.properties_at(model.scope) if p.kind in SAFETY and p.name in recorded)


def found_by_walks(model, context, walks):
    """The names that walks have found, with the seconds and walks after which there was nothing more to find."""
    properties = asked(model)
    kernel, last = Kernel(model, model.scope, properties), (set(), 0.0, 0)

    def note(met):
        nonlocal last
        if len(met.violated) > len(last[0]):
            last = {*met.violated}, met.seconds, met.walks
        if len(met.violated) == len(properties):
            raise Found

    try:
        walk_all(kernel, context, walks, keep_going=True, progress=note)
    except Found:
        pass
    return last


def main():
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", nargs="+", help="only these")
    parser.add_argument("--minutes", type=float, default=1, help="for each variant (default 1)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    walks = Walks(options.seed, LENGTH, minutes=options.minutes)
    table = Table("variant", "violated", "found", "seconds", "walks", "missing", box=SIMPLE)
    violated = found = 0
    context = start(Place("local[2]"))
    for model in all_models():
        wanted = {p.name for p in asked(model)}
        if not wanted or (options.systems and model.system not in options.systems):
            continue
        names, seconds, count = found_by_walks(model, context, walks)
        missing = ", ".join(sorted(wanted - names))
        print(f"{model.name}: {len(names)} of {len(wanted)} {missing}", file=sys.stderr, flush=True)
        table.add_row(model.name, str(len(wanted)), str(len(names)), f"{seconds:.1f}", f"{count:,}", missing)
        violated, found = violated + len(wanted), found + len(names)
    context.stop()
    console = Console(width=WIDTH)
    console.print(table)
    console.print(f"{found} of {violated} found")
    return 0 if found == violated else 1


if __name__ == "__main__":
    raise SystemExit(main())
