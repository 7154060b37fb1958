"""Claims by kind and by key, and the words of remarks on them."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeVar

from kafkaproof.traces.broker_logs.claims import Claim, PartitionClaim
from kafkaproof.traces.evidence.state_changes import Change
from kafkaproof.traces.explain.facts.remarks import Remark

Kind = TypeVar("Kind", bound=Claim)
Key = TypeVar("Key")


def of_kind(claims: list[Claim], kind: type[Kind]) -> list[Kind]:
    """The claims of a kind, in their order."""
    return [claim for claim in claims if isinstance(claim, kind)]


def remark(what: str, claim: Claim, text: str, change: Change | None = None) -> Remark:
    """A remark on what a claim tells, and on the change that goes with it."""
    partition = claim.partition if isinstance(claim, PartitionClaim) else None
    return Remark(what, claim.time, partition, text, change.zxid if change else None, claim.file, claim.line)


def seconds(ms: int) -> str:
    """A duration in ms, as seconds."""
    return f"{ms / 1000:,.1f} s"


def grouped(claims: Iterable[Kind], key: Callable[[Kind], Key]) -> Iterator[tuple[Key, list[Kind]]]:
    """Claims that have the same key, in the order of time."""
    for same, group in groupby(sorted(claims, key=lambda claim: (key(claim), claim.time, claim.line)), key):
        yield same, list(group)
