"""
Run the tools of Kafka 3.9.1, 2.8.2 and 1.1.1 at their defaults against a cluster of ours, and write which work.

    python benchmarks/kafka_tools.py --output docs/kafka-tools.md
    python benchmarks/kafka_tools.py --releases 3.9.1 --only kafka-topics --verbose

A tool works if it ends with exit code 0 and says what it is to say. It is refused if it names an error of Kafka, which
the table tells. One that does not end is a fault, and so is an exception in a broker's log: then the exit code is 1.
The jars come from Maven, or from KAFKA_HOME.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from kafka_client_cases import CLIENTS
from kafka_tool_cases import CASES, CLASSES, RELEASES, SERVER, Case

from kafkaproof.impl.harness.driving.cluster import Cluster, Size
from kafkaproof.impl.harness.driving.zookeeper_server import die_with_parent, java
from kafkaproof.impl.harness.real.jars import tools_class_path

"""What the tools of three releases create, and delete."""
PATIENCE = 90
"""How long a tool may take, in seconds."""
JVM = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""A tool lives for a second or two."""
LOGGING = """log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.target=System.err
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%p %m (%c)%n
"""
ERROR = re.compile(
    r"\b([A-Z]\w+(?:Exception|Error))\b:?[ \t]*([^\n]*?does not support [A-Z_]+|[^\n]*)|(does not support [A-Z_]+)"
)
HARMLESS = re.compile(r"(?m)^(?:SLF4J|WARN .*(?:Option|deprecated)|WARNING).*\n?")
NONE, LONGEST = "–", 110


class Outcome(NamedTuple):
    """How a call has ended: a word, what it said, and whether that is as it should be."""

    word: str
    said: str
    right: bool


def main() -> int:
    """Run the tools; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--releases", nargs="+", default=RELEASES, choices=RELEASES)
    parser.add_argument("--only", default="", help="the tools whose names have this in them")
    parser.add_argument("--verbose", action="store_true", help="print what each tool says that does not work")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        size = Size(groups=True, auto_create=True, session_timeout=10.0)
        with Cluster(Path(place), size) as cluster:
            cluster.start_all()
            cluster.await_all()
            found = dict(outcomes(cluster, Path(place), options))
            clients = [] if options.only else list(tried(cluster))
            faults = tracebacks(Path(place))
            cluster.stop_all()
    table = "\n".join([*rows(found, options.releases), "", *client_rows(clients)])
    if options.output:
        write(options.output, table)
    else:
        print(table)
    for fault in faults:
        print(fault)
    return int(bool(faults) or not all(outcome.right for outcome in found.values()))


def outcomes(cluster: Cluster, place: Path, options) -> Iterator[tuple[tuple[Case, str], Outcome]]:
    """The calls of every release, one after the other, and how each has ended."""
    for release in options.releases:
        names = described(cluster, place, f"tried-{release}")
        for case in CASES:
            if options.only in case.tool and release in case.releases and class_of(case, release):
                began = time.monotonic()
                outcome = run(case, release, names, place)
                print(
                    f"{release} {case.tool} {case.what}: {outcome.word} ({time.monotonic() - began:.1f} s)", flush=True
                )
                if options.verbose and outcome.word != "works":
                    print(outcome.said, flush=True)
                yield (case, release), outcome


def described(cluster: Cluster, place: Path, topic: str) -> dict[str, str]:
    """What arguments name: addresses, the topic, and files of requests."""
    files = {
        "records": {"version": 1, "partitions": [{"topic": topic, "partition": 0, "offset": 1}]},
        "topics": {"version": 1, "topics": [{"topic": topic}]},
        "moves": {"version": 1, "partitions": [{"topic": topic, "partition": 0, "replicas": [2, 0]}]},
    }
    for name, content in files.items():
        (place / f"{name}-{topic}.json").write_text(json.dumps(content))
    (place / "log4j.properties").write_text(LOGGING)
    admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap())
    admin.create_topics([NewTopic(topic, 2, 3)])
    admin.close()
    found = {name: str(place / f"{name}-{topic}.json") for name in files}
    return found | {"servers": ",".join(cluster.bootstrap()), "zookeeper": cluster.zookeeper, "topic": topic}


def class_of(case: Case, release: str) -> str:
    """The main class of a tool in a release, "" where there is none."""
    return CLASSES[case.tool][RELEASES.index(release)]


def run(case: Case, release: str, names: dict[str, str], place: Path) -> Outcome:
    """Call a tool and judge what it says."""
    at = (SERVER, case.middle, case.old)[RELEASES.index(release)].format(**names)
    command = [
        java(f"Kafka {release}"),
        *JVM,
        f"-Dlog4j.configuration=file:{place}/log4j.properties",
        "-cp",
        tools_class_path(release),
        class_of(case, release),
        *case.arguments.format(at=at, **names).split(),
    ]
    try:
        done = subprocess.run(
            command,
            input=case.stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=case.seconds or PATIENCE,
            preexec_fn=die_with_parent,
        )
        said, ended, well = done.stdout, True, done.returncode == 0
    except subprocess.TimeoutExpired as left:
        said, ended, well = (left.stdout or b"").decode(), bool(case.seconds), bool(case.seconds)
    return judged(case, HARMLESS.sub("", said), ended, well, names["topic"])


def judged(case: Case, said: str, ended: bool, well: bool, topic: str) -> Outcome:
    """How a call has ended, by what it said."""
    pattern = case.pattern.format(topic=re.escape(topic))
    if well and not case.out_of_scope and re.search(pattern, said):
        return Outcome("works", said, True)
    named = ERROR.findall(said)
    error = next(
        (f"{name}: {text}{said}".strip(": ")[:LONGEST] for name, text, said in named if name != "ExecutionException"),
        "",
    )
    if not ended:
        return Outcome(f"does not end ({error})" if error else "does not end", said, False)
    if case.out_of_scope:
        return Outcome(f"out of scope: {case.out_of_scope}; {error or 'not refused'}", said, bool(error))
    last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "")
    return Outcome(f"refused: {error}" if error else f"fails: {last}", said, bool(error))


def tried(cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    """What clients of Python do: client, what it was, and how it ended."""
    for client, what, act in CLIENTS:
        try:
            act(cluster.bootstrap(), "events")
            word = "works"
        except Exception as failure:  # whatever a client raises is what its user sees
            word = f"refused: {type(failure).__name__}: {failure}"
        print(f"{client} {what}: {word}", flush=True)
        yield client, what, word


def client_rows(found: list[tuple[str, str, str]]) -> Iterator[str]:
    """The rows of the table of clients."""
    yield from ("| client | asked | |", "|---|---|---|") if found else ()
    for client, what, word in found:
        yield f"| {client} | {what} | {word.replace('|', '/')[:200]} |"


def tracebacks(place: Path) -> list[str]:
    """The exceptions in the logs of brokers."""
    return [
        f"{log.name}: {text[-400:]}" for log in place.glob("broker-*.log") if "Traceback" in (text := log.read_text())
    ]


def rows(found: dict[tuple[Case, str], Outcome], releases) -> Iterator[str]:
    """The rows of the table."""
    yield f"| tool | asked | {' | '.join(releases)} |"
    yield "|---" * (len(releases) + 2) + "|"
    for case in dict.fromkeys(case for case, _ in found):
        words = [found[case, each].word if (case, each) in found else NONE for each in releases]
        yield f"| {case.tool} | {case.what} | {' | '.join(word.replace('|', '/')[:160] for word in words)} |"


def write(output: Path, table: str) -> None:
    """Put the table between the marks of a page."""
    begin, end = "<!-- tools -->\n", "<!-- end -->\n"
    before, rest = output.read_text().split(begin)
    output.write_text(before + begin + table + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    sys.exit(main())
