"""The ISR whose changes travel: counted by a second model, written from the words alone, with sets of messages."""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.prove.proof import NOT_INDUCTIVE, PROVED, prove
from kafkaproof.spec.async_isr.model import MAXIMAL_ISR, SHRUNK_ISR, scope
from kafkaproof.spec.async_isr.mutants import MAXIMAL_ISR as MISTAKES
from kafkaproof.spec.async_isr.properties import SAFETY
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.proofs import PROOFS

NIL = -1
LONG = 600


def successors(state, brokers, log, versions, keeps_pending=False):
    """Every successor, once for each choice, of ((isr, version), leader, requests, updates) within the bounds.

    The leader is (isr, version, pending ISR, pending version, offsets); a message is (isr, version).
    """
    (isr, version), (known, at, pending, asked, offsets), requests, updates = state
    counted = known | pending
    hw = min(offsets[r] for r in counted)

    def written(new):
        message = (new, version + 1)
        return message, (known, at, pending, asked, offsets), requests, updates | {message}

    def requested(new):
        return (isr, version), (known, at, pending | new, at, offsets), requests | {(new, at)}, updates

    def grown(r):
        longer = tuple(offset + (i == r) for i, offset in enumerate(offsets))
        return (isr, version), (known, at, pending, asked, longer), requests, updates

    if version < versions:
        yield from (written(isr - {r}) for r in isr - {0})
        yield from (written(new) for new, on in requests if on == version)
    yield from (requested(known - {r}) for r in known - {0})
    yield from (requested(known | {r}) for r in range(brokers) if r not in known and offsets[r] >= hw)
    for new, on in updates:
        if on > at:
            left = (pending, asked) if keeps_pending else (frozenset(), NIL)
            yield (isr, version), (new, on, *left, offsets), requests, updates
    if offsets[0] < log:
        yield grown(0)
    yield from (grown(r) for r in range(1, brokers) if offsets[r] < offsets[0])


def counted(brokers, log, versions, **mistake):
    """Distinct states, successors with the initial state, depth, and whether the high watermark is valid in all."""
    everyone = frozenset(range(brokers))
    first = (everyone, 0), (everyone, 0, frozenset(), NIL, (0,) * brokers), frozenset(), frozenset()
    seen, level, generated, depth, valid = {first}, [first], 1, 0, True
    while level:
        depth, following = depth + 1, []
        for state in level:
            (isr, _), (known, _, pending, _, offsets), _, _ = state
            valid &= all(offsets[r] >= min(offsets[m] for m in known | pending) for r in isr)
            for after in successors(state, brokers, log, versions, **mistake):
                generated += 1
                if after not in seen:
                    seen.add(after)
                    following.append(after)
        level = following
    return len(seen), generated, depth, valid


@pytest.mark.parametrize(
    "at", [scope(log=2, versions=2), scope(brokers=3, log=2), scope(brokers=3, versions=3)], ids=str
)
def test_the_second_model_counts_the_same(at):
    found = explore_here(MAXIMAL_ISR, at)
    outcome = found.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth, not found.traces) == counted(**at)
    assert outcome.reached == {p.name for p in MAXIMAL_ISR.properties_at(at) if p.kind == "sometimes"}


def test_a_request_that_counts_for_ever_keeps_the_high_watermark_valid_and_misses_a_goal():
    mutant = next(m for m in MISTAKES if m.name == "pending-kept")
    at = scope(brokers=3, versions=3)
    found = explore_here(mutant.mutate(MAXIMAL_ISR), at)
    outcome, valid = found.outcome, "valid_high_watermark" not in found.traces
    assert (outcome.distinct, outcome.generated, outcome.depth, valid) == counted(**at, keeps_pending=True)
    assert set(found.traces) == {mutant.kills}
    assert outcome.generated != counted(**at)[1] and "waits_no_more" not in outcome.reached


@pytest.mark.parametrize("at", list(SHRUNK_ISR.expected)[:3], ids=str)
def test_counting_the_proposed_isr_alone_is_caught(at):
    traces = explore_here(SHRUNK_ISR, at).traces
    assert {name: trace.states for name, trace in traces.items()} == SHRUNK_ISR.expected[at]


def test_the_exhibit_is_the_one_of_replica():
    """The same steps as of `replica/shrunk-isr`: a proposal to remove a follower, and a record."""
    trace = explore_here(SHRUNK_ISR, scope(versions=1)).traces["valid_high_watermark"]
    assert [str(step) for step, _, _ in trace.steps] == [
        "async_isr.leader_request_shrink(replica=1)",
        "async_isr.leader_write()",
    ]
    (model,) = find("replica", "shrunk-isr")
    assert model.expectation(model.scopes["quick"])["isr_complete"] == trace.states


def test_it_is_proved_for_any_number_of_records_and_versions():
    proof = prove(MAXIMAL_ISR, scope(brokers=3, versions=1), SAFETY, PROOFS["async-isr", "maximal-isr"].lemmas, LONG)
    assert {verdict.verdict for verdict in (*proof.verdicts, *proof.lemmas)} == {PROVED}
    assert proof.relation.variables.endless == {"log", "versions"} and not proof.never_enabled


def test_no_proof_of_the_draft():
    at = scope(versions=1)
    proof = prove(SHRUNK_ISR, at, SHRUNK_ISR.properties_at(at), PROOFS["async-isr", "maximal-isr"].lemmas, LONG)
    verdicts = {verdict.name: verdict.verdict for verdict in proof.verdicts}
    assert verdicts["valid_high_watermark"] == NOT_INDUCTIVE
