"""Records migrations of a real cluster from ZooKeeper to KRaft: both logs, and what was done.

    python -m kafkaproof.impl.harness.real.migrating STORY DIRECTORY

Kafka's documentation says how one goes back at each stage; `lost` leaves /migration behind, as it must not be.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kafkaproof.impl.harness.real.quorum import (
    BROKERS,
    CONTROLLERS,
    KRAFT_MODE,
    METADATA,
    MIGRATION_MODE,
    ZOOKEEPER_MODE,
    MigratingCluster,
)
from kafkaproof.spec.errors import UserError

RELEASE, OTHERS = "3.9.1", 4
HEARD = 5
"""How long it takes in seconds until brokers have heard of a controller."""
FIRST = ["kept", *(f"other-{number}" for number in range(OTHERS))]
"""The topics before the migration."""


def begin(cluster: MigratingCluster) -> None:
    """Brokers in ZooKeeper mode, with topics that are created and deleted."""
    for broker in BROKERS:
        cluster.start_broker(broker, ZOOKEEPER_MODE)
    cluster.create("kept", 2)
    cluster.create("gone", 1)
    for number in range(OTHERS):
        cluster.create(f"other-{number}", 1)
    cluster.configure("kept", retention_ms="86400000")
    cluster.delete("gone")
    cluster.await_topics(FIRST)
    cluster.await_in_sync()


def enter_migration(cluster: MigratingCluster) -> None:
    """The quorum is provisioned, and brokers enter migration mode one by one."""
    cluster.provision()
    for broker in BROKERS:
        cluster.restart_broker(broker, MIGRATION_MODE)


def fail_over_in_the_copy(cluster: MigratingCluster) -> None:
    """As `enter_migration`, but the active controller is killed while it copies; another one copies again."""
    cluster.provision()
    *others, last = BROKERS
    for broker in others:
        cluster.restart_broker(broker, MIGRATION_MODE)
    active = cluster.await_driving("WAIT_FOR_BROKERS")
    cluster.stop(last)
    cluster.start_broker(last, MIGRATION_MODE, waits=False)
    cluster.kill_in_copy(active)
    cluster.await_started(last)
    cluster.await_driving("DUAL_WRITE")
    cluster.start_controller(active)


def fail_over(cluster: MigratingCluster) -> None:
    """The active controller is killed while both stores are written."""
    active = cluster.active("DUAL_WRITE")
    before = frozenset(cluster.driving())
    cluster.kill(active)
    cluster.await_driving("DUAL_WRITE", before)
    cluster.start_controller(active)


def finalised(cluster: MigratingCluster) -> None:
    """A migration to its end, with a failover in the copy and one in dual-write mode."""
    begin(cluster)
    fail_over_in_the_copy(cluster)
    cluster.create("both", 1)
    cluster.create("brief", 1)
    cluster.await_topics([*FIRST, "both", "brief"])
    cluster.configure("both", retention_ms="3600000")
    fail_over(cluster)
    cluster.delete("brief")
    cluster.await_topics([*FIRST, "both"])
    for broker in BROKERS:
        cluster.await_in_sync()
        cluster.restart_broker(broker, KRAFT_MODE)
    cluster.create("late", 1)
    cluster.await_topics([*FIRST, "both", "late"])
    cluster.migrates = False
    for controller in CONTROLLERS:
        cluster.stop(controller)
        cluster.start_controller(controller)
    cluster.create("after", 1)
    time.sleep(3)


def go_back(cluster: MigratingCluster) -> None:
    """From migration mode: the quorum goes, /controller is deleted, brokers leave migration mode."""
    cluster.deprovision()
    cluster.remove("/controller")


def rolled_back(cluster: MigratingCluster) -> None:
    """A migration that goes back, as documented, after a broker was in KRaft mode."""
    begin(cluster)
    enter_migration(cluster)
    cluster.await_driving("DUAL_WRITE")
    cluster.create("both", 1)
    cluster.await_topics([*FIRST, "both"])
    cluster.restart_broker(BROKERS[0], KRAFT_MODE)
    cluster.create("late", 1)
    cluster.await_topics([*FIRST, "both", "late"])
    cluster.restart_broker(BROKERS[0], MIGRATION_MODE)
    cluster.stop(BROKERS[0])
    cluster.forget_metadata(BROKERS[0])
    cluster.start_broker(BROKERS[0], MIGRATION_MODE)
    go_back(cluster)
    cluster.remove("/migration")
    leave_migration(cluster)
    cluster.create("again", 1)
    cluster.delete("both")
    cluster.await_topics([*FIRST, "again", "late"])


def leave_migration(cluster: MigratingCluster) -> None:
    """Brokers are restarted one by one in ZooKeeper mode, when they have heard of the controller.

    Before that a broker that is stopped waits five minutes for an answer of the quorum, which is gone.
    """
    cluster.await_controller()
    time.sleep(HEARD)
    for broker in BROKERS:
        cluster.restart_broker(broker, ZOOKEEPER_MODE)
    cluster.await_controller()


def lost(cluster: MigratingCluster) -> None:
    """A rollback that leaves /migration behind, and a second try with new controllers: everything is deleted."""
    begin(cluster)
    enter_migration(cluster)
    cluster.await_driving("DUAL_WRITE")
    cluster.create("both", 1)
    cluster.await_topics([*FIRST, "both"])
    go_back(cluster)
    leave_migration(cluster)
    cluster.create("again", 1)
    cluster.await_topics([*FIRST, "again", "both"])
    before = frozenset(cluster.driving())
    enter_migration(cluster)
    active = cluster.await_driving("SYNC_KRAFT_TO_ZK", before)
    time.sleep(5)
    cluster.note(
        f"ZooKeeper has the topics {cluster.topics()}: the epoch of the new quorum is below that in /migration"
    )
    cluster.kill(active)
    cluster.await_driving("DUAL_WRITE", before)
    cluster.note(f"ZooKeeper has the topics {cluster.topics()}")
    cluster.start_controller(active)


STORIES: dict[str, Callable[[MigratingCluster], None]] = {
    "finalised": finalised,
    "rolled-back": rolled_back,
    "lost": lost,
}


def record(
    story: Callable[[Any], object],
    release: str,
    directory: Path,
    place: Path,
    kind: type[MigratingCluster] = MigratingCluster,
) -> None:
    """Let a story happen to a cluster in `place`, and keep both logs and the transcript in `directory`."""
    with kind(place, release) as cluster:
        try:
            story(cluster)
        finally:
            cluster.transcript += ["", *(f"{time} {node} {state}" for time, node, state in cluster.driving())]
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "transcript.txt").write_text("\n".join(cluster.transcript) + "\n")
    keep(place, directory)


def keep(place: Path, directory: Path) -> None:
    """Copy ZooKeeper's log without its padding, and the metadata logs of all controllers of each quorum, compressed."""
    logs = directory / "zookeeper" / "version-2"
    logs.mkdir(parents=True)
    for file in sorted((place / "zookeeper" / "version-2").glob("log.*")):
        (logs / file.name).write_bytes(file.read_bytes().rstrip(b"\0"))
    for controller in CONTROLLERS:
        for number, data in enumerate(sorted(place.glob(f"node-{controller}/data-*")), 1):
            kept = directory / "metadata" / f"quorum-{number}" / str(controller) / METADATA
            kept.mkdir(parents=True)
            for file in sorted((data / METADATA).iterdir()):
                if file.suffix in (".log", ".checkpoint"):
                    (kept / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))


def main(arguments: list[str] | None = None) -> int:
    """Record the story that is named."""
    return record_one(arguments, str(__doc__), STORIES, MigratingCluster)


def record_one(
    arguments: list[str] | None,
    description: str,
    stories: Mapping[str, Callable[[Any], object]],
    kind: type[MigratingCluster],
) -> int:
    """Record that one of some stories which the arguments name."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("story", choices=stories)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--release", default=RELEASE, help=f"of Kafka, 3.6 to 3.9 (default: {RELEASE})")
    parser.add_argument("--place", type=Path, help="where the cluster has its files (default: a temporary directory)")
    options = parser.parse_args(arguments)
    try:
        if options.place:
            record(stories[options.story], options.release, options.directory, options.place, kind)
        else:
            with tempfile.TemporaryDirectory() as place:
                record(stories[options.story], options.release, options.directory, Path(place), kind)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
