"""``kafkaproof pack``: the archive that executors of a cluster need."""

from __future__ import annotations

from pathlib import Path

from kafkaproof.checker.commands.main import OK
from kafkaproof.checker.pack.archive import PYTHON, pack

EXAMPLES = """examples:
  kafkaproof pack
  kafkaproof check replication --variant kip320 --master spark://host:7077 --archive kafkaproof.tar.gz --run-dir /shared/run
"""


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "pack",
        help="pack kafkaproof and its libraries for the executors of a cluster",
        description="Write an archive with which executors need no installation, only a Python of this minor version.",
        epilog=EXAMPLES,
    )
    parser.add_argument(
        "archive", nargs="?", default="kafkaproof.tar.gz", metavar="FILE", help="what to write (default %(default)s)"
    )
    parser.set_defaults(run=run)


def run(options) -> int:
    """Write the archive."""
    target = Path(options.archive)
    pack(target)
    print(
        f"{target}: {target.stat().st_size / 2**20:.0f} MiB, for executors with Python {PYTHON} and this operating system"
    )
    print(f"use it: kafkaproof check SYSTEM --master spark://HOST:7077 --archive {target} --run-dir DIR")
    return OK
