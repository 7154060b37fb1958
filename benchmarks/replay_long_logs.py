"""
Measure how fast `kafkaproof replay` is on synthesised ZooKeeper logs, and how that grows with their length.

    python benchmarks/replay_long_logs.py --transactions 50000 200000 1000000 --masters none local[2]

long_log.py writes the logs, the same ones each time. A run is the whole command: it starts Python (and Spark), reads the
files, follows every record, and prints the report. How to read the table:

- "a second" is transactions / seconds of wall time; "CPU" is seconds of processors, over all processes, which
  survives a busy machine better, and "a CPU second" is transactions / that.
- "peak" is the resident memory of all processes together, and "a transaction" that divided.

Exit code: 0, or 1 if a run does not end with "conforms".
"""

import argparse
import sys
import tempfile
from pathlib import Path

from long_log import write_long_log
from measured import CommandFailed, run_measured
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

COLUMNS = ("transactions", "Spark", "seconds", "a second", "CPU", "a CPU second", "peak MiB", "KiB a transaction")


def measure(transactions, masters, errors):
    """Write one log and replay it on each master; yields rows of the table."""
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log"
        written = write_long_log(log, transactions)
        for master in masters:
            errors.print(f"{written:,} transactions, Spark: {master} ...")
            command = [str(Path(sys.executable).parent / "kafkaproof"), "replay", str(log)]
            run = run_measured(command + ([] if master == "none" else ["--master", master]), directory)
            yield (
                f"{written:,}",
                master,
                f"{run.seconds:,.0f}",
                f"{written / run.seconds:,.0f}",
                f"{run.cpu_seconds:,.0f}",
                f"{written / run.cpu_seconds:,.0f}",
                f"{run.peak_mib:,.0f}",
                f"{1024 * run.peak_mib / written:,.1f}",
            )


def main(arguments=None):
    """Measure all; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--transactions", nargs="+", type=int, default=[50_000, 200_000], metavar="N", help="default: 50000 200000"
    )
    parser.add_argument(
        "--masters",
        nargs="+",
        default=["none", "local[2]"],
        metavar="M",
        help="none, or a Spark master (default: none local[2])",
    )
    options = parser.parse_args(arguments)
    errors, table = Console(stderr=True), Table(box=SIMPLE)
    for name in COLUMNS:
        table.add_column(name, justify="right")
    try:
        for transactions in options.transactions:
            for row in measure(transactions, options.masters, errors):
                table.add_row(*row)
    except CommandFailed as failure:
        errors.print(str(failure), markup=False, soft_wrap=True)
        return 1
    Console(width=120).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
