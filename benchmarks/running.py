"""
Break a running cluster at random, seed after seed, and measure what recording costs a producer.

    python benchmarks/running.py chaos --seeds 1-30 --seconds 60
    python benchmarks/running.py produce --rounds 3 --records 2000

chaos runs `kafkaproof run --chaos SEED --load` and replays the recording, and the log of its ZooKeeper alone: nothing
that was acknowledged may be lost, or missed by the group, every step must be one of the specification, and no property
may be violated. The table tells what happened meanwhile: leaders and controllers elected, writes of deposed controllers
that were fenced, generations of the group.

produce sends records with acks=all, one batch each, to a cluster of three brokers with recording and to one without,
one after the other in each round. Read the ratio, recorded / not recorded: a number of records a second belongs to the
machine.

Exit code: 0 if all is as it should be, 1 if not.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from kafka import KafkaProducer
from rich.console import Console
from rich.table import Table

from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size

PATIENCE = 900
COLUMNS = (
    "faults",
    "acknowledged",
    "lost",
    "missed",
    "leaders elected",
    "controllers elected",
    "writes fenced",
    "rebalances",
    "steps",
    "replay",
    "zookeeper",
)
NEW_GENERATION = ("complete_join", "join_timeout")


def main() -> int:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    chaos = commands.add_parser("chaos")
    chaos.add_argument("--seeds", default="1-30")
    chaos.add_argument("--seconds", type=int, default=60)
    chaos.set_defaults(run=break_clusters)
    produce = commands.add_parser("produce")
    produce.add_argument("--rounds", type=int, default=3)
    produce.add_argument("--records", type=int, default=2000)
    produce.set_defaults(run=compare)
    options = parser.parse_args()
    return options.run(options)


def break_clusters(options) -> int:
    """One row a seed."""
    first, _, last = options.seeds.partition("-")
    table, failed = Table("seed", *COLUMNS), 0
    for seed in range(int(first), int(last or first) + 1):
        with tempfile.TemporaryDirectory() as folder:
            code, row = one_seed(seed, options.seconds, Path(folder) / "run")
        failed += code != 0 or any(row[each] != "conforms" for each in ("replay", "zookeeper"))
        table.add_row(str(seed), *map(str, row.values()))
        print(seed, code, row, file=sys.stderr, flush=True)
    Console().print(table)
    return int(failed > 0)


def one_seed(seed: int, seconds: int, directory: Path) -> tuple[int, dict]:
    """Run and replay one seed: the exit code of the run, and what is in its row."""
    ran = command("run", "--chaos", seed, "--seconds", seconds, "--load", "--json", "--directory", directory)
    said = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    replayed = (command("replay", "--json", each).stdout for each in (directory, directory / "zookeeper"))
    reports = [json.loads(report or "{}") for report in replayed]
    return ran.returncode, row_of(said, *reports, rebalances(directory))


def row_of(said: list[dict], report: dict, zookeeper: dict, rebalanced: int) -> dict:
    """A row of the table, from what the run said and the two replays found."""
    told = {name: value for line in said for name, value in line.items() if name in ("acknowledged", "lost", "missed")}
    most = {row["metric"]: row["most"] for row in (zookeeper.get("metrics") or {}).get("summary", ())}
    violated = [each["id"] for each in report.get("violations", ())]
    counts = [told.get(name, "?") for name in ("acknowledged", "lost", "missed")]
    counts += [most.get(name, "?") for name in ("leader_elections", "controller_elections", "fenced_writes")]
    verdicts = [" ".join([report.get("verdict", "?"), *violated]), zookeeper.get("verdict")]
    faults = sum("fault" in line for line in said)
    return dict(zip(COLUMNS, (faults, *counts, rebalanced, report.get("steps"), *verdicts), strict=True))


def rebalances(directory: Path) -> int:
    """How many generations of the group its coordinators have begun."""
    files = (directory / "recording").glob("broker-*.jsonl")
    steps = (line for file in files for line in file.read_text().splitlines())
    return sum('"group"' in line and any(f".{name}(" in line for name in NEW_GENERATION) for line in steps)


def command(*arguments: object) -> subprocess.CompletedProcess:
    """A command of kafkaproof."""
    run = "from kafkaproof.checker.commands.main import main; raise SystemExit(main())"
    return subprocess.run(
        [sys.executable, "-c", run, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def compare(options) -> int:
    """Rounds of both, and their ratio."""
    table, ratios = Table("round", "recorded, records/s", "not recorded, records/s", "ratio"), []
    for number in range(options.rounds):
        rates = [rate(options.records, records) for records in (True, False)]
        ratios.append(rates[0] / rates[1])
        table.add_row(str(number + 1), *(f"{each:,.0f}" for each in rates), f"{ratios[-1]:.2f}")
    Console().print(table)
    print(f"ratio {median(ratios):.2f}, from {min(ratios):.2f} to {max(ratios):.2f}")
    return 0


def rate(records: int, recorded: bool) -> float:
    """Acknowledged records a second, each in a batch of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Cluster(Path(folder) / "run", Size(partitions=1, session_timeout=60.0, recorded=recorded)) as cluster,
    ):
        cluster.start_all()
        cluster.await_all()
        producer = KafkaProducer(
            bootstrap_servers=cluster.bootstrap(), acks="all", enable_idempotence=False, batch_size=0
        )
        for _ in range(20):
            producer.send(TOPIC, b"warm").get(PATIENCE)
        began = time.perf_counter()
        for sent in [producer.send(TOPIC, b"x" * 100) for _ in range(records)]:
            sent.get(PATIENCE)
        taken = time.perf_counter() - began
        producer.close()
    return records / taken


if __name__ == "__main__":
    sys.exit(main())
