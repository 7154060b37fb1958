"""``kafkaproof run``: a cluster whose brokers are the checked transitions, on a real ZooKeeper."""

from __future__ import annotations

import signal
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import cast

from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from kafkaproof.impl.commands.size import read_brokers, read_ids, require_plain, size_of
from kafkaproof.impl.harness.conducting.conductor import Conductor, Departs
from kafkaproof.impl.harness.conducting.counterexample import Counterexample, read_counterexample
from kafkaproof.impl.harness.conducting.replica_conductor import PlaneConductor
from kafkaproof.impl.harness.conducting.scenarios import SCENARIOS
from kafkaproof.impl.harness.driving.acts import Act, carry_out, read_acts
from kafkaproof.impl.harness.driving.chaos import Chaos
from kafkaproof.impl.harness.driving.cluster import MANIFEST, TOPIC, Cluster, Size, wait_until
from kafkaproof.impl.harness.driving.consumers import Consumers
from kafkaproof.impl.harness.driving.joining import joined, look_at, told_of
from kafkaproof.impl.harness.driving.load import Load
from kafkaproof.impl.harness.driving.watch import Watcher
from kafkaproof.impl.harness.real.behaviour import Behaviour, read_behaviour
from kafkaproof.impl.harness.real.cluster import KafkaCluster
from kafkaproof.impl.harness.real.compared import compared, real_name
from kafkaproof.impl.harness.real.control import Control, control_of
from kafkaproof.impl.harness.real.jars import number_of
from kafkaproof.impl.harness.real.mixed import MixedCluster
from kafkaproof.impl.harness.real.reproduction import go_along
from kafkaproof.spec.cluster.model import FENCED
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.partition.releases.model import LEGACY
from kafkaproof.spec.running.processes import VARIANTS

CHAOS_SECONDS, LOST, SHOWN = 30, 1, 10
MEMBERS, GROUP = 2, "readers"
EXAMPLES = """examples:
  kafkaproof run --brokers 3 --seconds 20
  kafkaproof run --brokers 3 --partitions 4 --directory runs/cluster
  kafkaproof run --ids 1,2,7 --zookeeper 127.0.0.1:2181
  kafkaproof run --brokers 3 --chaos 1 --seconds 60 --load
  kafkaproof run --brokers 3 --faults runs/cluster/recording/faults.jsonl --load
  kafkaproof run --brokers 3 --variant legacy --scenario split-brain --directory runs/split-brain
  kafkaproof run --kafka 3.9.1 --brokers 3 --chaos 1 --seconds 60 --load
  kafkaproof run --kafka 3.9.1 --brokers 3 --faults faults.jsonl --compare
  kafkaproof run --brokers ours:1,kafka-3.9.1:2 --load
  kafkaproof run --from-counterexample runs/election-legacy-20260101-120000-1f2e

exit codes: 0 the cluster ran, 1 an acknowledged record was lost, the cluster departed from a counterexample, or
clusters that are compared differ, 2 wrong use or bad input, 3 a broker has ended by itself, or what was waited for never came
"""


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "run",
        help="run a cluster of brokers on a real ZooKeeper, recorded",
        epilog=EXAMPLES,
        description="Start a ZooKeeper and a process for each broker. Every step of a broker is a transition of the "
        "specification, made real. All of it is recorded for `kafkaproof replay`. Ctrl-C ends it.",
    )
    parser.add_argument(
        "--brokers",
        metavar="N",
        type=read_brokers,
        help="brokers, 1 to 9 (default 3); or a mixture, such as ours:1,kafka-3.9.1:2",
    )
    parser.add_argument(
        "--ids", metavar="ID,...", type=read_ids, help="the ids of the brokers, such as 1,2,7 (default: 0 to N-1)"
    )
    parser.add_argument("--partitions", metavar="N", type=int, default=2, help="partitions of the topic (default 2)")
    parser.add_argument("--replicas", metavar="N", type=int, help="replicas of each (default 3, at most the brokers)")
    parser.add_argument("--min-isr", metavar="N", type=int, default=1, help="min.insync.replicas (default 1)")
    parser.add_argument(
        "--variant",
        choices=VARIANTS,
        default="fenced",
        help=f"fenced (Kafka {FENCED.releases}, the default) or legacy ({LEGACY.releases})",
    )
    parser.add_argument(
        "--kafka",
        metavar="RELEASE",
        help="unmodified brokers of this release, such as 3.9.1, instead of ours: of KAFKA_HOME, or fetched by Maven",
    )
    parser.add_argument("--seconds", metavar="S", type=float, help="how long (default: until Ctrl-C)")
    parser.add_argument(
        "--session-timeout",
        metavar="S",
        type=float,
        default=2.0,
        help="zookeeper.session.timeout.ms, in seconds (default 2)",
    )
    parser.add_argument("--directory", metavar="DIR", type=Path, help="where all is kept (default: a new one in runs/)")
    parser.add_argument(
        "--zookeeper",
        metavar="HOST:PORT",
        help="use this one instead of starting one; topics and brokers in it are joined",
    )
    parser.add_argument(
        "--empty-logs",
        action="store_true",
        help="with --zookeeper: let brokers of ours, whose logs are empty, lead partitions that brokers of Kafka led, "
        "although the records of these are lost then",
    )
    parser.add_argument(
        "--port", metavar="PORT", type=int, help="the port of the ZooKeeper that is started (default: a free one)"
    )
    parser.add_argument(
        "--chaos",
        metavar="SEED",
        type=int,
        help="kill, pause, expire and depose at random, from this seed (default 30 seconds of it)",
    )
    parser.add_argument(
        "--unclean",
        action="store_true",
        help="let the chaos allow unclean elections: what was acknowledged may then be lost",
    )
    parser.add_argument(
        "--faults",
        metavar="FILE",
        type=Path,
        help="do what a file lists, with times, such as the recording/faults.jsonl of another cluster",
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="do it to a cluster of ours as well, and tell in what the two come to differ: what "
        "clients are answered, and what ZooKeeper holds (with --kafka and --faults)",
    )
    parser.add_argument(
        "--load",
        action="store_true",
        help="produce with acks=all meanwhile, consume as a group of two, and look in the end whether "
        "all that was acknowledged is there, and was read (fenced)",
    )
    parser.add_argument("--scenario", choices=SCENARIOS, help="a failure that Kafka once had: see docs/run.md")
    parser.add_argument(
        "--from-counterexample",
        metavar="RUN",
        type=Path,
        help="take the steps of a counterexample that check has found, one by one, for real; RUN, a "
        "run directory or a file with a trace, says how many brokers there are, and which variant "
        "they are of",
    )
    parser.add_argument("--property", metavar="P", help="which violation of RUN (default: the shortest)")
    parser.add_argument(
        "--control",
        action="store_true",
        help="take the same steps without the decisive one, the last fault or message that the "
        "violation needs: it must not come about (with --from-counterexample and --kafka)",
    )
    parser.add_argument("--json", action="store_true", help="print what happens as lines of JSON")
    parser.set_defaults(run=run)


def run(options) -> int:
    """Run a cluster to its end; returns the exit code."""
    counterexample = counterexample_of(options)
    control = control_of(counterexample) if options.control and isinstance(counterexample, Behaviour) else None
    if control:
        counterexample = control.behaviour
    size = counterexample.size if counterexample else size_of(options)
    there = look_at(options.zookeeper) if options.zookeeper else None
    if options.empty_logs and not there:
        raise UserError("--empty-logs needs --zookeeper HOST:PORT of a ZooKeeper with topics or brokers in it")
    if there:
        require_plain(options, size)
        size = joined(size, there, options.empty_logs)
    acts = read_acts(options.faults, size, options.zookeeper is None) if options.faults else []
    directory = options.directory or new_directory()
    if (directory / MANIFEST).exists():
        raise UserError(f"{directory}: there is a recording in it; give another --directory")
    signal.signal(signal.SIGTERM, _interrupt)
    watcher = Watcher(options.json)
    watcher.say(f"directory {directory}", directory=str(directory))
    if there:
        watcher.say(told_of(there, size), topics=sorted(there.topics), others=size.others)
    if options.compare:
        return compare(options, size, directory, watcher)
    try:
        lost = run_cluster(directory, size, counterexample, acts, watcher, options, control)
    except (KazooException, KazooTimeoutError) as error:
        where = options.zookeeper or directory / "zookeeper"
        raise UserError(f"{where}: ZooKeeper answers no more ({error!r}); the recording is in {directory}") from None
    replays = f"kafkaproof replay {directory}, and kafkaproof replay {directory / 'zookeeper'}"
    watcher.say(f"next: {'kafkaproof replay what its dataLogDir names' if there else replays}", ended=True)
    return LOST if lost else 0


def compare(options, size: Size, directory: Path, watcher: Watcher) -> int:
    """Do the acts of a file to a cluster of ours and to real brokers; the exit code says whether they differ."""
    ours = replace(size, release="", recorded=True)
    acts = read_acts(options.faults, ours)
    found, count = compared(acts, ours, size, directory, watcher)
    for each in found:
        watcher.say(f"differs: {each.what}: ours {each.ours}, Kafka {size.release} {each.real}", **each._asdict())
    watcher.say(f"{count} things were compared, and {len(found)} differ", compared=count, differ=len(found))
    watcher.say(
        f"next: kafkaproof replay {directory / 'ours'}, and kafkaproof replay "
        f"{directory / real_name(size) / 'zookeeper'}",
        ended=True,
    )
    return LOST if found else 0


def run_cluster(
    directory: Path,
    size: Size,
    counterexample: Counterexample | Behaviour | None,
    acts: list[Act],
    watcher: Watcher,
    options,
    control: Control | None,
) -> bool:
    """Start a cluster, do with it what is wanted, and end it; whether a record was lost, or it went otherwise."""
    lost, more = False, {"properties": counterexample.properties} if isinstance(counterexample, Behaviour) else {}
    new = MixedCluster if size.ours else KafkaCluster if size.release else Cluster
    with new(directory, size, options.zookeeper, options.port, **more) as cluster:
        try:
            if isinstance(counterexample, Behaviour):
                go_along(counterexample, cast(KafkaCluster, cluster), watcher, control)
            elif counterexample:
                follow(counterexample, cluster, watcher)
            else:
                lost = go_through(cluster, watcher, options, acts)
        except Departs as departs:
            watcher.say(f"it goes otherwise: {departs}", departs=str(departs))
            lost = True
        except KeyboardInterrupt:
            pass
        cluster.stop_all()
        watcher.look(cluster)
    return lost


def go_through(cluster: Cluster, watcher: Watcher, options, acts: list[Act]) -> bool:
    """A scenario, chaos, the acts of a file, or just time; whether a record was lost that had been acknowledged."""
    if options.scenario:
        SCENARIOS[options.scenario](cluster, watcher)
        return False
    cluster.start_all()
    if options.load or acts or options.chaos is not None:
        cluster.await_all()
    if not options.load:
        break_it(cluster, watcher, options, acts)
        return False
    with Load(cluster.bootstrap, TOPIC, cluster.size.partitions) as load:
        readers = Consumers(cluster.bootstrap, TOPIC, GROUP, MEMBERS)
        cluster.await_that(lambda: load.acknowledged, "a record is acknowledged")
        try:
            break_it(cluster, watcher, options, acts)
        except KeyboardInterrupt:
            if acts or options.chaos is not None:
                raise
            watcher.say("checking that everything acknowledged is there; press Ctrl-C again to skip this", looking=True)
        return has_lost(load, readers, watcher, cluster)


def break_it(cluster: Cluster, watcher: Watcher, options, acts: list[Act]) -> None:
    """Chaos, the acts of a file, or nothing, for some time."""
    if options.chaos is not None:
        Chaos(cluster, options.chaos, options.unclean).run(options.seconds or CHAOS_SECONDS, watcher)
    elif acts:
        carry_out(acts, cluster, watcher)
    else:
        look_on(cluster, watcher, options.seconds)


def counterexample_of(options) -> Counterexample | Behaviour | None:
    """The counterexample that is to be followed, if any; raises UserError."""
    if options.compare and not (options.kafka and options.faults):
        raise UserError("--compare needs --kafka RELEASE and --faults FILE")
    if options.compare and (options.zookeeper or options.port or options.load):
        raise UserError(
            "--compare starts two clusters with a ZooKeeper each, and a load: leave --zookeeper, --port and --load away"
        )
    if options.compare:
        number_of(options.kafka)
        if options.kafka not in FENCED.releases:
            raise UserError(
                f"--compare: our brokers that have logs are of Kafka {FENCED.releases}, and {options.kafka} is not"
            )
    if options.control and not (options.from_counterexample and options.kafka):
        raise UserError("--control needs --from-counterexample RUN and --kafka RELEASE")
    if options.from_counterexample is None:
        if options.property:
            raise UserError("--property needs --from-counterexample RUN")
        return None
    others = ("scenario", "chaos", "faults", "load", "seconds", "ids")
    given = [name for name in others if getattr(options, name) not in (None, False)]
    if given:
        raise UserError(f"--from-counterexample and --{given[0]}: give one of them")
    if options.kafka:
        number_of(options.kafka)
        return read_behaviour(options.from_counterexample, options.kafka, options.property)
    return read_counterexample(options.from_counterexample, options.property)


def follow(counterexample: Counterexample, cluster: Cluster, watcher: Watcher) -> None:
    """Drive a cluster along a counterexample; raises Departs where an answer is another one."""
    conductor = (PlaneConductor if counterexample.has_planes else Conductor)(cluster, watcher)
    conductor.take_all(*counterexample.beginning)
    for text, content in zip(counterexample.steps, counterexample.contents):
        conductor.take(text, **content)
    what = f"counterexample of {counterexample.violated}" if counterexample.violated else "path"
    watcher.say(f"the {what} has come to its end", violates=counterexample.violated)


def look_on(cluster: Cluster, watcher: Watcher, seconds: float | None) -> None:
    """Tell what happens, for some seconds or until Ctrl-C."""
    until = time.monotonic() + seconds if seconds else None
    while until is None or time.monotonic() < until:
        watcher.look(cluster)
        time.sleep(0.1)


def has_lost(load: Load, readers: Consumers, watcher: Watcher, cluster: Cluster) -> bool:
    """End the load, and read everything; whether something acknowledged is not there, or the group has not read it.

    Where unclean elections were allowed that may be so: it is told, and is no failure.
    """
    load.stop()
    may_lose = cluster.unclean_allowed
    acknowledged, read, lost = load.read_all(cluster.check, may_lose)
    if may_lose:
        readers.stop()
        watcher.say(
            f"{acknowledged:,} records were acknowledged, {read:,} were read, and {len(lost):,} were lost, as "
            "unclean elections may",
            acknowledged=acknowledged,
            read=read,
            lost=len(lost),
            unclean=True,
        )
        return False
    for p, offset, value in lost[:SHOWN]:
        watcher.say(f"LOST: {value.decode()}, acknowledged at {TOPIC}-{p} offset {offset}")
    watcher.say(
        f"{acknowledged:,} records were acknowledged, {read:,} were read, {len(lost):,} were lost",
        acknowledged=acknowledged,
        read=read,
        lost=len(lost),
    )

    def is_read() -> bool:
        cluster.check()
        return bool(lost) or load.noted.items() <= readers.read.items()

    wait_until(is_read)
    readers.stop()
    missed = len(load.noted.items() - readers.read.items())
    watcher.say(f"the group has read {len(readers.read):,}, and missed {missed:,} of them", missed=missed)
    return bool(lost or missed)


def new_directory() -> Path:
    """A new directory below runs/."""
    Path("runs").mkdir(exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=time.strftime("cluster-%Y%m%d-%H%M%S-"), dir="runs"))


def _interrupt(*_):
    raise KeyboardInterrupt
