"""
Break a running cluster at random, seed after seed, and measure what recording costs a producer.

    python benchmarks/running.py chaos --seeds 1-30 --seconds 60
    python benchmarks/running.py produce --rounds 3 --records 2000

chaos runs `kafkaproof run --chaos SEED --load` and replays the recording: nothing that was acknowledged may be lost, or
missed by the group, every step must be one of the specification, and no property may be violated.

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

from impl.cluster import TOPIC, Cluster, Size, wait_until

PATIENCE = 900


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
    table, failed = Table("seed", "faults", "acknowledged", "lost", "missed", "steps", "verdict", "violated"), 0
    for seed in range(int(first), int(last or first) + 1):
        with tempfile.TemporaryDirectory() as folder:
            row = one_seed(seed, options.seconds, Path(folder) / "run")
        failed += not (row["code"] == 0 and row["verdict"] == "conforms" and not row["violated"])
        table.add_row(*map(str, (seed, *list(row.values())[1:])))
        print(seed, row, file=sys.stderr, flush=True)
    Console().print(table)
    return int(failed > 0)


def one_seed(seed: int, seconds: int, directory: Path) -> dict:
    """Run and replay one seed: what is in its row."""
    ran = command("run", "--chaos", seed, "--seconds", seconds, "--load", "--json", "--directory", directory)
    said = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    told = {name: value for line in said for name, value in line.items() if name in ("acknowledged", "lost", "missed")}
    report = json.loads(command("replay", "--json", directory).stdout or "{}")
    return {"code": ran.returncode, "faults": sum("fault" in line for line in said),
            **{name: told.get(name, "?") for name in ("acknowledged", "lost", "missed")},
            "steps": report.get("steps"), "verdict": report.get("verdict"),
            "violated": " ".join(each["id"] for each in report.get("violations", ()))}


def command(*arguments: object) -> subprocess.CompletedProcess:
    """A command of kafkaproof."""
    run = "from checker.commands.main import main; raise SystemExit(main())"
    return subprocess.run([sys.executable, "-c", run, *map(str, arguments)], stdout=subprocess.PIPE, text=True,
                          timeout=PATIENCE, check=False)


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
    with tempfile.TemporaryDirectory() as folder, Cluster(
            Path(folder) / "run", Size(partitions=1, session_timeout=60.0, recorded=recorded)) as cluster:
        cluster.start_all()
        wait_until(cluster.is_whole)
        producer = KafkaProducer(bootstrap_servers=cluster.bootstrap(), acks="all", enable_idempotence=False,
                                 batch_size=0)
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
