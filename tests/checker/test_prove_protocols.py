"""Proofs of the fenced election and of KIP-320, for any epochs, and that of their mutants some transition is named."""

from dataclasses import replace

import pytest

from kafkaproof.checker.prove.formulas import StyleError
from kafkaproof.checker.prove.proof import NOT_INDUCTIVE, PROVED, prove
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.election.mutants import election as election_mutants
from kafkaproof.spec.language.model import Transition, always, always_step
from kafkaproof.spec.proofs import PROOFS
from kafkaproof.spec.replication.mutants import replication as replication_mutants
from tests.checker.proving import verdicts

(FENCED,) = find("election", "fenced")
(KIP320,) = find("replication", "kip320")
TWO = {**FENCED.scope, "brokers": 2}


def test_the_fenced_election_is_proved_for_any_epochs_and_faults():
    found, proof = verdicts(FENCED, TWO, PROOFS["election", "fenced"].lemmas)
    assert set(found.values()) == {PROVED} and not proof.never_enabled
    assert proof.relation.variables.endless == {"epochs", "faults"}
    assert all(lemma.verdict == PROVED for lemma in proof.lemmas)
    needs = {v.name: v.lemmas for v in proof.verdicts}
    assert not needs["one_owner"] and len(needs["no_stale_write"]) < 6


@pytest.mark.parametrize("variant, of_a_term", [("fenced-edited", PROVED), ("fenced-lagging", NOT_INDUCTIVE)])
def test_with_an_edited_epoch_all_is_proved_and_with_stale_reads_all_but_what_is_false(variant, of_a_term):
    (model,) = find("election", variant)
    found, proof = verdicts(model, TWO, PROOFS["election", variant].lemmas)
    assert found.pop("own_epoch") == of_a_term and set(found.values()) == {PROVED}
    assert all(lemma.verdict == PROVED for lemma in proof.lemmas)


NO_NEWER = tuple(
    f
    for f in PROOFS["election", "fenced"].lemmas
    if f.__name__ in ("value_is_version", "read_is_no_newer", "term_is_no_newer", "term_has_epoch")
)


def test_for_any_number_of_brokers_no_controller_writes_after_a_later_election():
    found, proof = verdicts(FENCED, lemmas=NO_NEWER, only="no_stale_write", any_size=True)
    assert set(found.values()) == {PROVED} and not proof.never_enabled
    assert {"brokers", "receivers", "epochs"} <= proof.relation.variables.endless


def test_for_any_number_of_brokers_a_counterexample_shows_brokers_at_ids_and_requests_at_epochs():
    found, proof = verdicts(FENCED, any_size=True)
    shown = {verdict.name: verdict.cti.leaves for verdict in proof.verdicts if verdict.verdict == NOT_INDUCTIVE}
    assert found["applied_never_fall"] == NOT_INDUCTIVE and shown["applied_never_fall"]
    for leaf in (leaf for leaves in shown.values() for leaf in leaves):
        choices = proof.relation.variables.domains[leaf.path]
        assert not hasattr(choices, "names") or {leaf.before, leaf.after} <= set(choices.names), leaf.text


def test_for_any_number_of_brokers_a_write_without_the_check_is_named():
    mutant = next(m for m in election_mutants.MUTANTS if m.name == "state-unchecked")
    found, proof = verdicts(mutant.mutate(FENCED), lemmas=NO_NEWER, only="no_stale_write", any_size=True)
    assert found["no_stale_write"] == NOT_INDUCTIVE
    assert transitions_named(proof.verdicts[-1]) == "active_controller.write_state"


def test_kip320_keeps_what_is_committed_for_any_epochs_and_records():
    found, proof = verdicts(KIP320, {**KIP320.scope, "brokers": 2}, PROOFS["replication", "kip320"].lemmas)
    assert set(found.values()) == {PROVED} and not proof.never_enabled
    assert all(lemma.verdict == PROVED for lemma in proof.lemmas)


def transitions_named(verdict):
    return verdict.where.split("(")[0]


@pytest.mark.parametrize(
    "name, transition",
    [
        ("epoch-without-version", "election.register"),
        ("state-unchecked", "active_controller.write_state"),
        ("resignation-unconditional", "active_controller.delete_own_controller"),
    ],
)
def test_a_mutant_of_the_election_is_not_proved_and_the_transition_is_named(name, transition):
    mutant = next(m for m in election_mutants.MUTANTS if m.name == name)
    _, proof = verdicts(mutant.mutate(FENCED), TWO, PROOFS["election", "fenced"].lemmas, only=mutant.kills)
    failed = [v for v in proof.verdicts + proof.lemmas if v.verdict == NOT_INDUCTIVE]
    assert mutant.kills in {v.name for v in failed}
    assert transition in {transitions_named(v) for v in failed}


@pytest.mark.parametrize(
    "name, target, transition",
    [
        ("elect-outside-isr", "leader_in_isr", "replication.elect_anyone"),
        ("expand-before-hw", "strong_isr", "replication.leader_expand_isr"),
    ],
)
def test_a_mutant_of_replication_is_not_proved_and_the_transition_is_named(name, target, transition):
    mutant, two = next(m for m in replication_mutants.MUTANTS if m.name == name), {**KIP320.scope, "brokers": 2}
    found, proof = verdicts(mutant.mutate(KIP320), two, PROOFS["replication", "kip320"].lemmas, only=target)
    assert found[target] == NOT_INDUCTIVE
    assert transition in {transitions_named(v) for v in proof.verdicts + proof.lemmas if v.verdict != PROVED}


def is_counted(s):
    for b in range(1, len(s.brokers)):
        if s.brokers[b].epoch > 9:
            return False
    return True


def test_what_needs_a_number_of_brokers_is_named_with_its_line():
    with pytest.raises(StyleError, match=r"give --brokers instead: len\(s.brokers\), .*test_prove_protocols.py:\d+"):
        prove(FENCED, TWO, (always(is_counted),), (), 10.0, any_size=True)


def never(s):
    """A step that is not taken.

    Guards:  never.
    Effects: none.
    Kafka:   none.
    """
    return False


def is_counted_by_steps(before, after):
    return len(after.brokers) > 1


def test_so_is_what_needs_it_in_a_property_of_steps_where_no_step_is_taken():
    still = replace(FENCED, transitions=(Transition(never),))
    with pytest.raises(StyleError, match=r"give --brokers instead: len\(after.brokers\), "):
        prove(still, TWO, (always_step(is_counted_by_steps),), (), 10.0, any_size=True)
