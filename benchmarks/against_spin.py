"""
Compare our explorer with Spin on the Kip320 variant of the replication model.

    python benchmarks/against_spin.py --scopes 2,2,2 2,2,3 --rounds 3

A scope is LOG,RECORDS,EPOCHS for three replicas. Both checkers explore the whole state
space and check WeakIsr and StrongIsr; both must count the same distinct states.

How to read the table:

- Read the ratio, ours / Spin: 2.0 means that ours takes twice as long. In a round the two
  run one after the other on the same machine, so a ratio survives a slow or busy machine,
  and a number of seconds does not. If min and max are far apart, use more rounds.
- "Spin s" is the wall time of its verifier process, on one core. "ours s" is from the first
  state to the verdict, on two cores (``local[2]``). Not in the ratio, because both are paid
  once and not per state: the compilation of Spin's verifier and the start of our command.
- At a scope of a few thousand states the ratio says only what a search costs when there is
  nothing to search. What counts there is the second table, from the command to the verdict:
  Spin's generation and compilation of the verifier included, and all of our command, whose
  kernel was compiled before.
- Memory is the peak of resident memory; ours is the sum over all its processes.

Exit code: 0 if the counts agree, 1 if they differ or a run fails, 2 if a tool is missing.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from measured import CommandFailed, run_measured
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

MODEL = Path(__file__).with_name("kip320.pml")
REPLICAS = 3
EXACT_AND_FASTEST = ["-O3", "-w", "-DSAFETY", "-DNOREDUCE", "-DNOFAIR", "-DNOBOUNDCHECK"]


@dataclass(frozen=True)
class Scope:
    """The bounds of the model: MAXEPOCH = 2 allows the epochs 0, 1 and 2."""

    log: int
    records: int
    epochs: int

    @classmethod
    def parse(cls, text):
        return cls(*(int(part) for part in text.split(",")))

    def __str__(self):
        return f"{REPLICAS};{self.log},{self.records},{self.epochs}"


@dataclass(frozen=True)
class Run:
    """
    One exploration by one checker.

    ``reported`` is Spin's own elapsed time and is None for ours; ``whole`` is from the command to the verdict.
    """

    distinct: int
    generated: int
    seconds: float
    peak_mib: float
    reported: float | None = None
    whole: float = 0.0


@dataclass(frozen=True)
class Comparison:
    """All rounds at one scope; ``spin[i]`` and ``ours[i]`` are one round."""

    scope: Scope
    spin: list[Run]
    ours: list[Run]

    @property
    def ratios(self):
        return [ours.seconds / spin.seconds for ours, spin in zip(self.ours, self.spin)]

    @property
    def agrees(self):
        return len({run.distinct for run in self.spin + self.ours}) == 1


def compile_spin(scope, directory):
    """Generate and compile the verifier ``pan`` for ``scope``; return the seconds taken."""
    bounds = {"REPLICAS": REPLICAS, "LOGSIZE": scope.log, "MAXRECORDS": scope.records, "MAXEPOCH": scope.epochs}
    started = time.perf_counter()
    run_measured(["spin", *(f"-D{k}={v}" for k, v in bounds.items()), "-a", str(MODEL)], directory)
    run_measured(["gcc", *EXACT_AND_FASTEST, "-o", "pan", "pan.c"], directory)
    return time.perf_counter() - started


def run_spin(directory, hash_bits, compile_seconds=0.0):
    """Run ``pan`` to its end; an error, or a search cut off by its depth, is a failure."""
    command = [str(Path(directory, "pan")), "-b", "-n", f"-w{hash_bits}"]
    measured = run_measured(command, directory)

    def number(pattern):
        return float(re.search(pattern, measured.output)[1])

    if number(r"errors: (\d+)"):
        raise CommandFailed(f"spin found an error: {measured.output[:2000].strip()}")
    return Run(
        distinct=int(number(r"(\S+) states, stored")),
        generated=int(number(r"(\S+) transitions")),
        seconds=measured.seconds,
        peak_mib=measured.peak_mib,
        reported=number(r"elapsed time (\S+) seconds"),
        whole=compile_seconds + measured.seconds,
    )


def run_ours(kafkaproof, scope):
    """Run our checker with a new run directory, and read its JSON."""
    with tempfile.TemporaryDirectory() as directory:
        command = [kafkaproof, "check", "replication", "--variant", "kip320"]
        command += ["--brokers", str(REPLICAS), "--log", str(scope.log)]
        command += ["--records", str(scope.records), "--epochs", str(scope.epochs)]
        command += ["--master", "local[2]", "--json", "--run-dir", str(Path(directory, "run"))]
        measured = run_measured(command, directory)
    [run] = json.loads(measured.output)["runs"]
    return Run(
        distinct=run["distinct"],
        generated=run["generated"],
        seconds=run["seconds"],
        peak_mib=measured.peak_mib,
        whole=measured.seconds,
    )


def compare(kafkaproof, scope, rounds):
    """Run both checkers in turn; the first runs only size Spin's hash table and compile our kernel."""
    with tempfile.TemporaryDirectory() as directory:
        compile_seconds = compile_spin(scope, directory)
        hash_bits = run_spin(directory, hash_bits=20).distinct.bit_length()
        run_ours(kafkaproof, scope)
        comparison = Comparison(scope, [], [])
        for _ in range(rounds):
            comparison.spin.append(run_spin(directory, hash_bits, compile_seconds))
            comparison.ours.append(run_ours(kafkaproof, scope))
    return comparison


def middle(runs, field, form="{:.2f}"):
    """The median of ``field`` over the rounds, as text."""
    return form.format(median(getattr(run, field) for run in runs))


def compared(comparisons):
    """The table of what is compared, one row for each scope."""
    table = Table(title="Kip320, exact and exhaustive: medians", box=SIMPLE)
    table.add_column("scope", no_wrap=True)
    for name in ["states", "Spin s", "ours s", "ours / Spin", "min", "max", "Spin MiB", "ours MiB"]:
        table.add_column(name, justify="right")
    for each in comparisons:
        counts = sorted({run.distinct for run in each.spin + each.ours})
        ratios = [f"{pick(each.ratios):.2f}" for pick in (median, min, max)]
        table.add_row(
            str(each.scope),
            "\n".join(f"{count:,}" for count in counts),
            middle(each.spin, "seconds"),
            middle(each.ours, "seconds"),
            *ratios,
            middle(each.spin, "peak_mib", "{:,.0f}"),
            middle(each.ours, "peak_mib", "{:,.0f}"),
        )
    return table


def from_command_to_verdict(comparisons):
    """The table of whole commands, Spin's compilation included."""
    table = Table(title="From the command to the verdict", box=SIMPLE)
    table.add_column("scope", no_wrap=True)
    for name in ["Spin s", "ours s", "ours / Spin", "min", "max", "elapsed, by Spin"]:
        table.add_column(name, justify="right")
    for each in comparisons:
        ratios = [ours.whole / spin.whole for ours, spin in zip(each.ours, each.spin)]
        table.add_row(
            str(each.scope),
            middle(each.spin, "whole"),
            middle(each.ours, "whole"),
            *(f"{pick(ratios):.2f}" for pick in (median, min, max)),
            middle(each.spin, "reported"),
        )
    return table


def find_kafkaproof():
    """Our command on the PATH, or else beside the running Python."""
    beside_python = str(Path(sys.executable).parent)
    return shutil.which("kafkaproof", path=os.pathsep.join([os.environ["PATH"], beside_python]))


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description="Compare our explorer with Spin.")
    default = [Scope(2, 2, 2), Scope(3, 3, 2), Scope(2, 2, 3)]
    parser.add_argument("--scopes", nargs="+", type=Scope.parse, default=default, metavar="L,R,E")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every run here")
    return parser.parse_args(arguments)


def main(arguments=None):
    """Compare at every scope; return the exit code."""
    options = parse_arguments(arguments)
    errors = Console(stderr=True)
    if not (shutil.which("spin") and shutil.which("gcc")):
        errors.print("Spin and a C compiler are needed: apt-get install spin gcc")
        return 2
    kafkaproof = find_kafkaproof()
    if kafkaproof is None:
        errors.print("the command kafkaproof is needed: pip install -e .")
        return 2
    try:
        comparisons = [compare(kafkaproof, scope, options.rounds) for scope in options.scopes]
    except CommandFailed as failure:
        errors.print(str(failure), markup=False, soft_wrap=True)
        return 1
    Console().print(compared(comparisons), from_command_to_verdict(comparisons))
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in comparisons], indent=2))
    different = [str(each.scope) for each in comparisons if not each.agrees]
    if different:
        errors.print(f"the numbers of distinct states differ: {', '.join(different)}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
