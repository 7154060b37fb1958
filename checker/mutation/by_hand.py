"""Mistakes made by hand: every one must be noticed. ``python -m kafkaproof.checker.mutation.by_hand FILE`` writes the table."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.async_isr import mutants as async_isr
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.cluster import mutants as cluster
from kafkaproof.spec.consumer.mutants import consumer
from kafkaproof.spec.consumer.mutants import events as consumer_events
from kafkaproof.spec.consumer.mutants import liveness as consumer_liveness
from kafkaproof.spec.election.mutants import election, rolling
from kafkaproof.spec.election.mutants import events as election_events
from kafkaproof.spec.election.mutants import liveness as election_liveness
from kafkaproof.spec.group.mutants import events as group_events
from kafkaproof.spec.group.mutants import group, liveness
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.mutants.mutant import Mutant
from kafkaproof.spec.partition.mutants import creation as partition_creation
from kafkaproof.spec.partition.mutants import deletion as partition_deletion
from kafkaproof.spec.partition.mutants import elections as partition_elections
from kafkaproof.spec.partition.mutants import liveness as partition_liveness
from kafkaproof.spec.partition.mutants import partition
from kafkaproof.spec.partition.mutants import reassignment as partition_reassignment
from kafkaproof.spec.partition.mutants import steps as partition_steps
from kafkaproof.spec.replica.mutants import liveness as replica_liveness
from kafkaproof.spec.replica.mutants import replica
from kafkaproof.spec.replica.mutants import steps as replica_steps
from kafkaproof.spec.replication.mutants import replication
from kafkaproof.spec.replication.mutants import steps as replication_steps
from kafkaproof.spec.requests.mutants import events as requests_events
from kafkaproof.spec.requests.mutants import liveness as requests_liveness
from kafkaproof.spec.requests.mutants import requests
from kafkaproof.spec.topics.mutants import liveness as topics_liveness
from kafkaproof.spec.topics.mutants import steps as topics_steps
from kafkaproof.spec.topics.mutants import topics
from kafkaproof.spec.topics.mutants import writes as topics_writes

HEADER = """# Mutants

Each row is a deliberate mistake, and what exploration says of the model that makes it: the property that it
breaks with the length of the shortest counterexample in states, or, for mistakes that break none, the counts
by which it is told from the model (independent checkers found the same). Made by `make mutants`. Single changes
that are drawn by a seed are on [another page](mutants-random.md).

| system/variant | mistake | scope | killed by | shortest | distinct states | verdict |
| --- | --- | --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: `length` of the counterexample of the property that kills it, and counts.

    `length` is in states, and for a lasso also tells of its loop; empty where nothing is violated.
    """

    mutant: Mutant
    scope: Scope
    length: str
    distinct: int
    noticed: bool


def judge(model: Model, mutant: Mutant) -> list[Verdict]:
    """Explore a mutant of `model`: at each scope with counts, or at its own until the property breaks."""
    if not mutant.counts:
        explored = explore_here(mutant.mutate(model), mutant.scope, keep_going=False, only=mutant.kills)
        trace = explored.traces.get(mutant.kills)
        return [Verdict(mutant, mutant.scope, trace.extent if trace else "", explored.outcome.distinct, bool(trace))]
    return [_counted(model, mutant, dict(zip(model.scope, at)), row) for at, row in mutant.counts.items()]


def _counted(model, mutant, scope, row):
    explored = explore_here(mutant.mutate(model), scope)
    weak, strong = explored.length("weak_isr"), explored.length("strong_isr")
    outcome = explored.outcome
    noticed = (outcome.distinct, outcome.depth, weak, strong) == row
    return Verdict(mutant, scope, str(weak or strong or ""), outcome.distinct, noticed)


def catalogue() -> list[tuple[Model, Mutant]]:
    """Every mutant with the model that it is a mutant of."""
    mutants = {
        ("replication", "kip320"): replication.MUTANTS + replication_steps.MUTANTS,
        ("async-isr", "maximal-isr"): async_isr.MUTANTS,
        ("election", "fenced"): election.MUTANTS + election_events.MUTANTS + election_liveness.ELECTION,
        ("election", "fenced-standing"): election_liveness.STANDING,
        ("election", "rolling"): rolling.MUTANTS,
        ("partition", "fenced"): partition.MUTANTS + partition_steps.MUTANTS + partition_liveness.FENCED,
        ("partition", "creating"): partition_creation.MUTANTS,
        ("partition", "deleting"): partition_deletion.MUTANTS,
        ("partition", "reassigning"): partition_reassignment.MUTANTS,
        ("partition", "legacy"): partition_elections.LEGACY_MUTANTS + partition_liveness.LEGACY,
        ("requests", "current"): requests.MUTANTS + requests_events.MUTANTS + requests_liveness.REQUESTS,
        ("topics", "kip455"): (topics.MUTANTS + topics_writes.MUTANTS + topics_steps.MUTANTS + topics_liveness.KIP455),
        ("topics", "two-phase"): topics.TWO_PHASE_MUTANTS + topics_liveness.TWO_PHASE,
        ("replica", "current"): replica.MUTANTS + replica_steps.MUTANTS + replica_liveness.REPLICA,
        ("replica", "fenced"): replica.FENCED_MUTANTS,
        ("group", "current"): group.MUTANTS + group_events.MUTANTS + liveness.GROUP,
        ("group", "static"): group.STATIC_MUTANTS,
        ("group", "classic"): group.CLASSIC_MUTANTS,
        ("group", "limited"): group.LIMITED_MUTANTS,
        ("group", "transactional"): group.TRANSACTIONAL_MUTANTS,
        ("consumer", "orderly"): consumer.MUTANTS + consumer_events.MUTANTS + consumer_liveness.CONSUMER,
        ("cluster", "fenced"): cluster.MUTANTS,
    }
    return [(find(*model)[0], mutant) for model, listed in mutants.items() for mutant in listed]


def main(arguments: list[str]) -> int:
    """Judge every mutant and write the table; 1 when one is not noticed."""
    lines, survivors = [], 0
    for model, mutant in catalogue():
        for verdict in judge(model, mutant):
            survivors += not verdict.noticed
            line = _row(model, verdict)
            print(line, flush=True)
            lines.append(line)
    Path(arguments[0]).write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} explorations, {survivors} mistakes not noticed")
    return 1 if survivors else 0


def _row(model, verdict):
    scope = ", ".join(f"{name} {value}" for name, value in verdict.scope.items())
    verdict_text = "noticed" if verdict.noticed else "**NOT NOTICED**"
    killer = verdict.mutant.kills if verdict.length else "its counts"
    cells = (
        f"{model.system}/{model.variant}",
        verdict.mutant.text,
        scope,
        killer,
        verdict.length,
        f"{verdict.distinct:,}",
        verdict_text,
    )
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
