"""
Measure brokers of ours beside real ones of Kafka 3.9.1: records a second, and how long nothing is acknowledged when a
broker is killed.

    python benchmarks/beside_kafka.py --rounds 3
    python benchmarks/beside_kafka.py --rounds 1 --only rates

Each round starts three brokers of Kafka, three of ours, and three of ours that record, one cluster after the other. The
client is the same for all: Kafka's own producer-perf-test for records a second, with acks=all, batched (its defaults)
and one at a time (no batches, one request in flight); kafka-python for the gaps, one record after the other. The session
timeout is 2 seconds where brokers are killed. Read the ratios, ours to Kafka's, of the same round: how much a second
belongs to the machine, whose load (of one minute, before the round) is printed, too. The jars come from Maven, or from
KAFKA_HOME.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from kafka import KafkaProducer
from kafka.errors import KafkaError
from rich.console import Console
from rich.table import Table

from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size
from kafkaproof.impl.harness.driving.zookeeper_server import java
from kafkaproof.impl.harness.real.cluster import KafkaCluster
from kafkaproof.impl.harness.real.jars import tools_class_path

RELEASE, KAFKA = "3.9.1", "Kafka"
KINDS = (KAFKA, "ours", "ours, recorded")
BATCHED, SINGLE = "batched, records/s", "one at a time, records/s"
TOOL = "org.apache.kafka.tools.ProducerPerformance"
PROPERTIES = {BATCHED: (), SINGLE: ("batch.size=0", "max.in.flight.requests.per.connection=1")}
RECORDS, WARM = {BATCHED: 100_000, SINGLE: 1500}, {BATCHED: 20_000, SINGLE: 500}
LASTS, SHORT, PATIENCE = 60.0, 2.0, 300
"""The session timeouts where nothing fails and where brokers are killed, and how long a tool may take, in seconds."""
WATCHED = 12
"""How long acknowledgements are watched after a broker was killed, in seconds: longer than any gap."""
LEADER, CONTROLLER, BOTH = "the leader is killed, s", "the controller is killed, s", "one that is both, s"
KILLED = {LEADER: (1, 0), CONTROLLER: (1, 1), BOTH: (0, 0)}
"""Which broker is the controller, and which is killed; broker 0 leads."""
RATE = re.compile(r"([\d.]+) records/sec")


def main() -> int:
    """The table of all rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("rates", "gaps"))
    options = parser.parse_args()
    parts = {"rates": (rates,), "gaps": (gaps,)}.get(options.only, (rates, gaps))
    rounds = []
    for number in range(options.rounds):
        load = os.getloadavg()[0]
        found = {kind: {name: value for part in parts for name, value in part(kind).items()} for kind in KINDS}
        rounds.append(found)
        print(f"round {number + 1}, load {load:.1f}: {found}", file=sys.stderr, flush=True)
    Console().print(table_of(rounds))
    return 0


def table_of(rounds: list[dict[str, dict[str, float]]]) -> Table:
    """A row for each thing that was measured: medians of what was found, and of the ratios to Kafka's, with their range."""
    table = Table("", *KINDS, *(f"{kind} / {KAFKA}" for kind in KINDS[1:]))
    for name in rounds[0][KAFKA]:
        found = [f"{median(each[kind][name] for each in rounds):,.1f}" for kind in KINDS]
        ratios = [[each[kind][name] / each[KAFKA][name] for each in rounds] for kind in KINDS[1:]]
        table.add_row(name, *found, *(f"{median(each):.2f} ({min(each):.2f}-{max(each):.2f})" for each in ratios))
    return table


def cluster_of(kind: str, folder: Path, session_timeout: float) -> Cluster:
    """A cluster of three brokers of a kind, with one partition."""
    if kind == KAFKA:
        return KafkaCluster(folder, Size(partitions=1, session_timeout=session_timeout, release=RELEASE))
    return Cluster(folder, Size(partitions=1, session_timeout=session_timeout, recorded=kind != KINDS[1]))


def with_cluster(kind: str, session_timeout: float, controller: int, measure: Callable[[Cluster], float]) -> float:
    """What is measured on a new cluster with a certain controller, whose one partition broker 0 leads."""
    with tempfile.TemporaryDirectory() as place, cluster_of(kind, Path(place) / "run", session_timeout) as cluster:
        cluster.start_brokers(first=controller)
        cluster.await_all()
        if isinstance(cluster, KafkaCluster):
            cluster.create_events([[0, 1, 2]])
        return measure(cluster)


def rates(kind: str) -> dict[str, float]:
    """Acknowledged records a second."""
    return {name: with_cluster(kind, LASTS, 0, partial(rate, name)) for name in RECORDS}


def rate(name: str, cluster: Cluster) -> float:
    """What the tool measures, once the brokers are warm."""
    for records in (WARM[name], RECORDS[name]):
        said = perf_test(cluster, records, PROPERTIES[name])
    return float(RATE.findall(said)[-1])


def perf_test(cluster: Cluster, records: int, properties: tuple[str, ...]) -> str:
    """What Kafka's producer-perf-test says."""
    options = ("--topic", TOPIC, "--num-records", records, "--record-size", 100, "--throughput", -1)
    bootstrap = f"bootstrap.servers={','.join(cluster.bootstrap())}"
    command = [java(TOOL), "-Xmx256m", "-cp", tools_class_path(RELEASE), TOOL, *map(str, options)]
    command += ["--producer-props", bootstrap, "acks=all", *properties]
    streams: dict[str, int] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.run(command, **streams, text=True, timeout=PATIENCE, check=True).stdout


def gaps(kind: str) -> dict[str, float]:
    """How long nothing is acknowledged when a broker is killed, in seconds."""
    return {
        name: with_cluster(kind, SHORT, controller, partial(gap, killed))
        for name, (controller, killed) in KILLED.items()
    }


def gap(killed: int, cluster: Cluster) -> float:
    """The longest time between two acknowledgements after `killed` is, in seconds."""
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap(), acks="all", enable_idempotence=False)
    try:
        for _ in range(100):
            producer.send(TOPIC, b"warm").get(PATIENCE)
        cluster.kill(killed)
        last = began = time.monotonic()
        longest = 0.0
        while last - began < WATCHED:
            try:
                producer.send(TOPIC, b"x").get(PATIENCE)
            except KafkaError:
                continue  # it is not acknowledged
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        return longest
    finally:
        producer.close(timeout=1)


if __name__ == "__main__":
    sys.exit(main())
