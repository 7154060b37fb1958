"""
Count the orbits of a complete run that was made without symmetry.

    python benchmarks/orbits.py runs/replication-kip320-20260101-120000-1f2e

Of each orbit the run has all states, so an orbit is counted where a state is its own representative. A search with
``--symmetry`` of the same scope must find as many states as this prints orbits: two searches that visit different states,
and share none of their tables, confirm each other's counts.
"""

import sys
from dataclasses import replace

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.check.run import begun, kernel_of
from kafkaproof.checker.compile.expansion import Expansion
from kafkaproof.checker.runs.directory import RunDirectory


def main(uri):
    """Print the states and the orbits of a run; return the exit code."""
    try:
        run = RunDirectory(uri)
        check, _, _ = begun(run)
        expansion = Expansion(kernel_of(replace(check, symmetry=True)).compiled)
        states = orbits = 0
        for level in run.levels():
            for there in run.states(level):
                states += len(there)
                orbits += int((expansion.representatives(there) == there).all(axis=1).sum())
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{states:,} states, {orbits:,} orbits")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
