"""Proofs by induction: toys, the fenced election, mutants, and what is said when a proof fails."""

import pytest
import z3

from checker.prove.cti import smallest
from checker.prove.facts import property_family, ranges_of
from checker.prove.induction import Prover, Question
from checker.prove.proof import NOT_DECIDED, NOT_INDUCTIVE, PROVED, prove
from checker.prove.relation import Relation
from checker.prove.variables import StyleError
from checker.prove.vocabulary import compiled
from checker.prove.work import Work
from spec.catalogue import find
from spec.language.domains import NOBODY, Array, Bound, Flag, Id, Number, Record
from spec.language.model import Model, Transition, always, always_step
from spec.mutants import election as election_mutants
from spec.mutants import replication as replication_mutants
from spec.properties.lemmas import LEMMAS
from tests import toys

(FENCED,) = find("election", "fenced")
(KIP320,) = find("replication", "kip320")
TWO = {**FENCED.scope, "brokers": 2}


def verdicts(model, scope=None, lemmas=(), most=400.0, only=None, searching=0.0, any_size=False):
    """The verdict on each property of a model, and the proof."""
    asked = tuple(p for p in model.properties if only in (None, p.name))
    proof = prove(model, model.scope if scope is None else scope, asked, lemmas, most, searching, any_size)
    return {v.name: v.verdict for v in proof.verdicts}, proof


def model_of(state, functions, properties, initial=None, system="toy"):
    return Model(
        system=system, variant="only", story="", state=state, initial=initial or nothing,
        transitions=tuple(map(Transition, functions)), properties=properties, scope={"brokers": 2, "steps": 2},
        largest={"brokers": 3, "steps": 9}, lanes=lambda scope: ["cluster"],
    )


def nothing(s):
    """Zeros."""
    s.done = 0


COUNTS = Record(
    done=(Number(0, Bound("steps")), "steps done"), begun=(Number(0, Bound("steps")), "steps begun"),
    odd=(Flag(), "not used"),
)


def begin(s):
    s.begun += 1
    return True


def finish(s):
    if s.done >= s.begun:
        return False
    s.done += 1
    return True


def in_order(s):
    """What is done was begun."""
    return s.done <= s.begun


def never_five(s):
    """Five is never done."""
    return s.done != 5


def none_lost(before, after):
    """Done steps stay done."""
    return before.done <= after.done


def test_a_property_holds_for_any_bound():
    model = model_of(COUNTS, (begin, finish), (always(in_order), always_step(none_lost)))
    found, proof = verdicts(model)
    assert found == dict.fromkeys(("declared ranges", "indices in range", "in_order", "none_lost"), PROVED)
    assert proof.relation.variables.endless == {"steps"} and not proof.never_enabled


def test_what_does_not_hold_for_every_bound_is_not_inductive_and_the_step_is_named():
    found, proof = verdicts(model_of(COUNTS, (begin, finish), (always(never_five),)))
    assert found["never_five"] == NOT_INDUCTIVE
    (verdict,) = [v for v in proof.verdicts if v.name == "never_five"]
    assert verdict.cti.step == "test_prove.finish()"
    assert [(l.text, l.before, l.after) for l in verdict.cti.leaves if l.text == "done"] == [("done", 4, 5)]
    assert "odd" not in {leaf.text for leaf in verdict.cti.leaves}


def test_without_work_nothing_is_decided():
    found, _ = verdicts(model_of(COUNTS, (begin, finish), (always(in_order),)), most=0)
    assert found["declared ranges"] == found["in_order"] == NOT_DECIDED


def test_an_answer_of_unknown_is_not_decided(monkeypatch):
    monkeypatch.setattr(Question, "ask", lambda self, *rest, **options: z3.unknown)
    found, _ = verdicts(model_of(COUNTS, (begin, finish), (always(in_order),)))
    assert found["in_order"] == NOT_DECIDED


def test_a_question_takes_no_more_work_than_it_may():
    places = [[z3.Bool(f"{pigeon} in {hole}") for hole in range(9)] for pigeon in range(10)]
    work, solver = Work(0.3), z3.Solver()
    solver.add(*(z3.Or(*row) for row in places), *(z3.AtMost(*column, 1) for column in zip(*places)))
    work.limit(solver, 0.1)
    assert solver.check() == z3.unknown and 0.15 < work.left() <= 0.21
    assert work.done() + work.left() == pytest.approx(0.3)


def test_what_was_kept_without_a_lost_fact_is_not_asked_again(monkeypatch):
    asked, ask = [], Question.ask
    monkeypatch.setattr(Question, "ask", lambda self, *rest: asked.append(self.action.name) or ask(self, *rest))
    model = model_of(COUNTS, (begin, finish), (always(in_order), always(never_five)))
    relation = Relation(model, model.scope, properties=model.properties)
    families = [*ranges_of(relation), property_family(relation, "in_order"), property_family(relation, "never_five")]
    prover = Prover(relation, Work(100))
    outcome = prover.prove_together(families)
    assert set(outcome.failed) == {"never_five"}
    assert "in_order" in prover.questions[1].enough(["in_order"], ["in_order"]) <= {f.name for f in outcome.proved}
    assert asked == ["test_prove.begin()", "test_prove.finish()", "test_prove.finish()"]


def start_beyond(s):
    s.done = 1


def test_the_initial_states_are_checked():
    found, proof = verdicts(model_of(COUNTS, (begin, finish), (always(in_order),), start_beyond))
    assert found["in_order"] == NOT_INDUCTIVE
    assert [v.where for v in proof.verdicts if v.name == "in_order"] == ["the initial state"]


def impossible(s):
    if s.done > s.begun:
        s.done = 0
        return True
    return False


def test_a_transition_that_is_never_enabled_is_told():
    _, proof = verdicts(model_of(COUNTS, (begin, impossible), (always(in_order),)))
    assert proof.never_enabled == ["test_prove.impossible"]


def decrease(s):
    s.done -= 1
    return True


def test_declared_ranges_are_proved_too():
    found, proof = verdicts(model_of(COUNTS, (begin, decrease), (always(in_order),)))
    assert found["declared ranges"] == NOT_INDUCTIVE and found["in_order"] == PROVED
    assert "range of done: test_prove.decrease()" in proof.verdicts[0].where


LATE = Record(
    done=(Number(0, Bound("steps")), "index"), marks=(Array(Flag(), Bound("steps")), "marked steps"),
)


def mark(s):
    s.marks[s.done] = 1
    s.done += 1
    return True


def mark_before(s):
    s.marks[s.done - 1] = 1
    return True


def marks_are_flags(s):
    return s.done >= 0


def test_an_array_that_a_bound_without_end_sizes_is_indexed_by_any_number():
    found, proof = verdicts(model_of(LATE, (mark,), (always(marks_are_flags),)))
    assert set(found.values()) == {PROVED}
    (action,) = proof.relation.actions
    assert z3.is_array(action.after["marks", "*"])


def test_an_index_out_of_range_is_named_with_its_line():
    found, proof = verdicts(model_of(LATE, (mark_before,), (always(marks_are_flags),)))
    assert found["indices in range"] == NOT_INDUCTIVE
    assert "s.marks[s.done - 1]" in proof.verdicts[1].where and "test_prove.py:" in proof.verdicts[1].where


def all_marked(s):
    for i in range(s.done):
        if s.marks[i] == 0:
            return False
    return True


def test_a_loop_to_a_number_of_the_state_goes_as_far_as_its_declared_range():
    found, _ = verdicts(model_of(LATE, (mark,), (always(all_marked),)))
    assert found["all_marked"] == PROVED


def few_marked(s):
    for i in range(4 - s.done):
        if s.marks[i] == 0:
            return False
    return True


def test_a_loop_whose_end_no_declared_range_limits_is_refused():
    with pytest.raises(StyleError, match="the end of a loop is made of leaves.*range\\(4 - s.done\\)"):
        verdicts(model_of(LATE, (mark,), (always(few_marked),)))


def test_a_bound_that_a_loop_runs_over_keeps_its_end():
    assert Relation(toys.queue(), {"room": 2}).variables.endless == frozenset()
    assert Relation(KIP320, KIP320.scope).variables.endless == {"epochs", "records"}


def test_the_fenced_election_is_proved_for_any_epochs_and_faults():
    found, proof = verdicts(FENCED, TWO, LEMMAS["election", "fenced"])
    assert set(found.values()) == {PROVED} and not proof.never_enabled
    assert proof.relation.variables.endless == {"epochs", "faults"}
    assert all(lemma.verdict == PROVED for lemma in proof.lemmas)
    needs = {v.name: v.lemmas for v in proof.verdicts}
    assert not needs["one_owner"] and len(needs["no_stale_write"]) < 6


NO_NEWER = tuple(f for f in LEMMAS["election", "fenced"] if f.__name__ in (
    "value_is_version", "read_is_no_newer", "reign_is_no_newer", "reign_has_epoch"))


def test_for_any_number_of_brokers_no_controller_writes_after_a_later_election():
    found, proof = verdicts(FENCED, lemmas=NO_NEWER, only="no_stale_write", any_size=True)
    assert set(found.values()) == {PROVED} and not proof.never_enabled
    assert {"brokers", "receivers", "epochs"} <= proof.relation.variables.endless


def test_for_any_number_of_brokers_a_write_without_the_check_is_named():
    mutant = next(m for m in election_mutants.MUTANTS if m.name == "state-unchecked")
    found, proof = verdicts(mutant.mutate(FENCED), lemmas=NO_NEWER, only="no_stale_write", any_size=True)
    assert found["no_stale_write"] == NOT_INDUCTIVE
    assert transitions_named(proof.verdicts[-1]) == "reign.write_state"


def test_kip320_keeps_what_is_committed_for_any_epochs_and_records():
    found, proof = verdicts(KIP320, {**KIP320.scope, "brokers": 2}, LEMMAS["replication", "kip320"])
    assert set(found.values()) == {PROVED} and not proof.never_enabled
    assert all(lemma.verdict == PROVED for lemma in proof.lemmas)


Holder = Id("brokers")
LOCK = Record(
    owner=(Id("brokers", nobody=True), "who owns the lock"),
    brokers=(Array(Record(holds=(Flag(), "believes that it holds it")), "brokers"), "what each believes"),
)


def nobody_owns(s):
    """Nobody owns it."""
    s.owner = NOBODY


def take(s, b: Holder):
    if s.owner != NOBODY:
        return False
    s.owner = b
    s.brokers[b].holds = 1
    return True


def release(s, b: Holder):
    if s.brokers[b].holds == 0:
        return False
    s.owner = NOBODY
    s.brokers[b].holds = 0
    return True


def one_holder(s):
    """No two hold it."""
    holders = 0
    for broker in s.brokers:
        holders += broker.holds
    return holders <= 1


def test_a_missing_lemma_is_found_and_can_be_pasted():
    model = model_of(LOCK, (take, release), (always(one_holder),), nobody_owns)
    without, _ = verdicts(model, {"brokers": 3, "steps": 1})
    assert without["one_holder"] == NOT_INDUCTIVE
    found, proof = verdicts(model, {"brokers": 3, "steps": 1}, searching=60.0)
    assert found["one_holder"] == PROVED and 1 <= len(proof.found) <= 2
    pasted = {"NOBODY": NOBODY, "Holder": Holder}
    functions = [compiled(name, text, pasted) for name, text in proof.found.items()]
    again, _ = verdicts(model, {"brokers": 3, "steps": 1}, lemmas=tuple(functions))
    assert again["one_holder"] == PROVED


OFFICE = Record(
    owner=(Id("brokers", nobody=True), "who was elected last, until it leaves"),
    term=(Number(0, Bound("steps")), "terms so far"),
    brokers=(Array(Record(
        working=(Flag(), "has begun its term"), term=(Number(0, Bound("steps")), "the term that it has begun"),
    ), "brokers"), "each broker"),
    stale=(Flag(), "somebody has worked in a term that was over"),
)


def nobody_is_elected(s):
    """Nobody."""
    s.owner = NOBODY


def elect(s, b: Id("brokers")):
    if s.owner != NOBODY:
        return False
    s.owner = b
    s.term += 1
    s.brokers[b].working = 0
    return True


def begin_term(s, b: Id("brokers")):
    if s.owner != b:
        return False
    s.brokers[b].working = 1
    s.brokers[b].term = s.term
    return True


def do_work(s, b: Id("brokers")):
    if s.owner != b or s.brokers[b].working == 0:
        return False
    if s.brokers[b].term != s.term:
        s.stale = 1
    return True


def leave(s, b: Id("brokers")):
    if s.owner != b:
        return False
    s.owner = NOBODY
    return True


def elect_at_work(s, b: Id("brokers")):
    """As `elect`, without an end of what the broker did before."""
    if s.owner != NOBODY:
        return False
    s.owner = b
    s.term += 1
    return True


def never_stale(s):
    """Nobody works in a term that is over."""
    return s.stale == 0


@pytest.mark.parametrize("first, verdict", [(elect, PROVED), (elect_at_work, NOT_INDUCTIVE)])
def test_a_lemma_of_three_literals_is_found_unless_a_mistake_makes_it_false(first, verdict):
    functions = (first, begin_term, do_work, leave)
    model = model_of(OFFICE, functions, (always(never_stale),), nobody_is_elected)
    without, _ = verdicts(model)
    found, proof = verdicts(model, searching=100.0)
    assert without["never_stale"] == NOT_INDUCTIVE and found["never_stale"] == verdict
    assert any(text.count(" or ") == 2 for text in proof.found.values()) == (verdict == PROVED)


def transitions_named(verdict):
    return verdict.where.split("(")[0]


@pytest.mark.parametrize("name, transition", [
    ("epoch-without-version", "election.register"), ("state-unchecked", "reign.write_state"),
    ("resignation-unconditional", "reign.delete_own_controller"),
])
def test_a_mutant_of_the_election_is_not_proved_and_the_transition_is_named(name, transition):
    mutant = next(m for m in election_mutants.MUTANTS if m.name == name)
    _, proof = verdicts(mutant.mutate(FENCED), TWO, LEMMAS["election", "fenced"], only=mutant.kills)
    failed = [v for v in proof.verdicts + proof.lemmas if v.verdict == NOT_INDUCTIVE]
    assert mutant.kills in {v.name for v in failed}
    assert transition in {transitions_named(v) for v in failed}


@pytest.mark.parametrize("name, target, transition", [
    ("elect-outside-isr", "leader_in_isr", "replication.elect_anyone"),
    ("expand-before-hw", "strong_isr", "replication.leader_expand_isr"),
])
def test_a_mutant_of_replication_is_not_proved_and_the_transition_is_named(name, target, transition):
    mutant, two = next(m for m in replication_mutants.MUTANTS if m.name == name), {**KIP320.scope, "brokers": 2}
    found, proof = verdicts(mutant.mutate(KIP320), two, LEMMAS["replication", "kip320"], only=target)
    assert found[target] == NOT_INDUCTIVE
    assert transition in {transitions_named(v) for v in proof.verdicts + proof.lemmas if v.verdict != PROVED}


def test_a_counterexample_to_induction_is_one():
    relation, work = Relation(FENCED, TWO), Work(200)
    families = [*ranges_of(relation), property_family(relation, "no_stale_write")]
    outcome = Prover(relation, work).prove_together(families)
    failure = outcome.failed["no_stale_write"]
    cti = smallest(relation, failure, [*outcome.proved, failure.family], work)
    assert z3.is_true(cti.model.eval(failure.action.guard, model_completion=True))
    assert z3.is_true(cti.model.eval(relation.always["no_stale_write"], model_completion=True))
    moved = relation.moved(relation.always["no_stale_write"], failure.action.after)
    assert z3.is_false(cti.model.eval(moved, model_completion=True))
    assert max(l.before for l in cti.leaves if isinstance(l.before, int)) <= 3
