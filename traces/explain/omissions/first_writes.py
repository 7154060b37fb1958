"""What a new controller writes first to a state that was there before it, and what it then goes on with."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.terms import TermKey
from kafkaproof.traces.explain.omissions.expected_writes import Debt, Debts
from kafkaproof.traces.explain.omissions.judge import Judge
from kafkaproof.traces.explain.partitions.strategies import Elected


class Missing(NamedTuple):
    """A state that the controller of a term has not written, as the record of `zxid` shows."""

    zxid: int
    text: str
    partition: Partition
    term_key: TermKey


def skipped(evidence: Evidence, debts: Debts) -> list[Missing]:
    """Where a controller wrote another state than the first one that it had to write when its term began."""
    terms, judge, found = evidence.common.terms.by_start, Judge(evidence, {}), []
    begun: dict[tuple, list[Debt]] = defaultdict(list)
    for debt in debts.rows if evidence.common.is_certain else ():
        if debt.gone != NOBODY and debt.reason < terms[debt.term].start and debt.until < terms[debt.term].end:
            begun[debt.partition, debt.term].append(debt)
    for (partition, number), own in begun.items():
        written, zxid = _written(evidence, partition, terms[number].key, own[0].until), own[0].until
        if written is None:
            continue
        firsts = {first for debt in own for first in judge.writes(debt, terms[number], zxid)}
        allowed = {first for first in firsts if first is not None}
        if len(allowed) < len(firsts):
            continue
        if written in allowed:
            _go_on(evidence, debts, own[0], written)
        else:
            found.append(Missing(zxid, _text(partition, terms[number].epoch, allowed), partition, terms[number].key))
    return found


def _go_on(evidence: Evidence, debts: Debts, debt: Debt, written: Elected) -> None:
    """Note that a controller that has taken a leader out is to elect another one in the same handler."""
    versions, changes = evidence.changes.versions, evidence.changes
    if written.leader == NOBODY:
        rows = changes.versions_of(debt.partition)
        until = int(versions.until[rows[versions.since[rows] == debt.until][-1]])
        debts.rows.append(debt.term, debt.until, until, NOBODY, debt.reason, False, True, debt.until, debt.partition)


def _written(evidence: Evidence, partition: tuple[str, int], term_key: TermKey, zxid: int) -> Elected | None:
    """What a controller wrote to a partition's state by a record, None if it did not."""
    changes = evidence.changes
    rows = changes.of(partition)
    place = np.searchsorted(changes.zxids[rows], zxid)
    if place == len(rows) or changes.zxids[rows[place]] != zxid:
        return None
    change = changes[int(rows[place])]
    if change.after is None or change.term_key != term_key or change.after.leader_epoch == change.before.leader_epoch:
        return None
    return Elected(change.after.leader, frozenset(change.after.isr))


def _text(partition: tuple[str, int], epoch: int, allowed: set[Elected]) -> str:
    first = " or ".join(sorted(f"leader {each.leader}, ISR {sorted(each.isr)}" for each in allowed))
    return (
        f"the controller of epoch {epoch} had to write another state of {'{}-{}'.format(*partition)} before, when "
        f"its term began, {first}: that record is missing"
    )
