"""Replays recordings, whole or altered, for the tests of replay."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kafkaproof.checker.commands.main import main
from kafkaproof.traces.basics.columns import ByZxid
from kafkaproof.traces.evidence.choice import asked_for, choice_of, fitting
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.evidence.gathering import Gathering
from kafkaproof.traces.evidence.streams import Gathered
from kafkaproof.traces.explain.election.replay import Follower
from kafkaproof.traces.explain.election.result import Result
from kafkaproof.traces.explain.log.audit import Audit, audit
from kafkaproof.traces.explain.log.stream import found_of
from kafkaproof.traces.explain.log.streams import Streams, explain_streams, settle
from kafkaproof.traces.explain.partitions.explained import Explained
from kafkaproof.traces.explain.partitions.replay import explain_changes
from kafkaproof.traces.explain.topics.replay import Judgements
from kafkaproof.traces.metrics.series import Metrics, Series
from kafkaproof.traces.reading.cluster import Members, find_root
from kafkaproof.traces.reading.recording import Recording, read_recording
from kafkaproof.traces.reading.sweep import sweep
from kafkaproof.traces.report.facts import Facts, facts_of
from kafkaproof.traces.report.log import refused_by_epoch
from kafkaproof.traces.zookeeper.snapshot import Snapshot
from kafkaproof.traces.zookeeper.transactions import Transaction
from kafkaproof.traces.zookeeper.tree import Tree

BUNDLED = Path(__file__).parents[2] / "traces" / "recordings"
LEGACY = BUNDLED / "1.1.1-zombie"
FENCED = BUNDLED / "3.9.1-controller-failover"
REASSIGN = BUNDLED / "3.9.1-reassign"
FIVE_FENCED = BUNDLED / "2.8.2-five-brokers"
FIVE_LEGACY = BUNDLED / "1.1.1-five-brokers"

read = cache(read_recording)


def features_of(recording: Recording, variant: str | Features | None, root: str) -> Features:
    """What a log shows, unless a variant or a release is named, or features are given."""
    if isinstance(variant, Features):
        return variant
    named = (variant, None) if variant and variant[0].isdigit() else (None, variant)
    if asked := asked_for(*named):
        return fitting(asked, recording, root)
    return choice_of(recording, Members(recording, root), root).likely[0]


def replay(recording: Recording, features: Features, members: Members, root: str) -> Result:
    """Follow a recording held to some releases, up to its end or to the first record that does not fit."""
    follower = Follower(recording, features.variant, members, root)
    sweep(recording, root, follower)
    return follower.result


def metrics_of(recording: Recording, root: str) -> Series:
    """The metrics over a recording."""
    collected = Metrics(Members(recording, root), root)
    sweep(recording, root, collected)
    return collected.series


def gather(recording: Recording, features: Features, members: Members, root: str) -> Gathered:
    """Take a recording apart into its streams."""
    gathering = Gathering(recording, features, members, root)
    sweep(recording, root, gathering)
    return gathering.gathered


def replayed(recording: Recording, variant: str | None = None) -> Result:
    """Replay a recording, through the variant that its log shows unless another is named."""
    root = find_root(recording, None)
    members = Members(recording, root)
    return replay(recording, features_of(recording, variant, root), members, root)


class Told(NamedTuple):
    """All that a replay tells of a recording."""

    gathered: Gathered
    result: Result
    streams: Streams
    audit: Audit
    facts: Facts


def told(recording: Recording, variant: str | None = None) -> Told:
    """Replay a recording as the command does, but for metrics."""
    root = find_root(recording, None)
    members = Members(recording, root)
    features = features_of(recording, variant, root)
    result = replay(recording, features, members, root)
    gathered = gather(recording, features, members, root)
    streams = explain_streams(gathered)
    settle(gathered.common, result, streams, recording)
    facts = facts_of(gathered, streams, refused_by_epoch(result))
    return Told(gathered, result, streams, audit(recording, gathered.common, result, streams, ByZxid()), facts)


def explained(recording: Recording, variant: str | None = None) -> list[Explained]:
    """Each change of a partition's state with what may explain it, whatever handlers say of it."""
    return changes_of(recording, variant).partitions


def changes_of(recording: Recording, variant: str | None = None) -> Streams:
    """The changes of partition states with what may explain them, whatever handlers say of them."""
    root = find_root(recording, None)
    members = Members(recording, root)
    gathered = gather(recording, features_of(recording, variant, root), members, root)
    found = [found_of(evidence, explain_changes(evidence), Judgements()) for evidence in gathered.streams.values()]
    return Streams(gathered, found)


def settled(recording: Recording, variant: str | None = None) -> Result:
    """The result of a replay, with what the streams of partitions, topics and reassignments say."""
    return told(recording, variant).result


@cache
def all_of(directory: Path) -> Told:
    """All that a replay tells of a directory, once in a test run."""
    return told(read(directory))


@cache
def whole(directory: Path) -> Result:
    """Replay all of a directory, once in a test run."""
    return replayed(read(directory))


def first(directory: Path, records: int) -> list[Transaction]:
    """The first records of a directory: zxid z is at place z - 1."""
    return read(directory).transactions[:records]


def altered(transactions: Iterable[Transaction], zxid: int, change: Callable) -> Recording:
    """A recording of transactions one of which is changed, or dropped where `change` gives None."""
    changed = (change(t) if t.zxid == zxid else t for t in transactions)
    return Recording(Path("altered"), None, [t for t in changed if t is not None], [])


def with_operations(*operations, multi: bool = False, session: int | None = None) -> Callable:
    """A change of what a record does, and perhaps of whose it is."""
    return lambda t: replace(t, operations=operations, multi=multi, session=session or t.session)


def cut(recording: Recording, place: int) -> Recording:
    """The recording as it is found when its first `place` records are gone and a snapshot is left."""
    tree = Tree(recording.start)
    for transaction in recording.transactions[:place]:
        tree.apply(transaction)
    start = Snapshot(tree.zxid, tree.zxid, dict(tree.sessions), dict(tree.nodes))
    return Recording(recording.directory, start, recording.transactions[place:], [])


def run_json(capsys, *arguments) -> tuple[int, dict]:
    """Exit code and JSON of `kafkaproof replay --json`."""
    code = main(["replay", "--json", *map(str, arguments)])
    return code, json.loads(capsys.readouterr().out)
