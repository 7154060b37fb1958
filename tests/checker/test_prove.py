"""Proofs by induction, of toys: what is asked, and what is said when a proof fails."""

import pytest
import z3

from kafkaproof.checker.prove.cti import smallest
from kafkaproof.checker.prove.facts import property_family, ranges_of
from kafkaproof.checker.prove.formulas import StyleError
from kafkaproof.checker.prove.induction import Prover
from kafkaproof.checker.prove.proof import NOT_DECIDED, NOT_INDUCTIVE, PROVED
from kafkaproof.checker.prove.question import Question
from kafkaproof.checker.prove.relation import Relation
from kafkaproof.checker.prove.work import Work
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.domains import Array, Bound, Flag, Id, Number, Record
from kafkaproof.spec.language.model import always, always_step
from tests import toys
from tests.checker.proving import model_of, verdicts

(FENCED,) = find("election", "fenced")
(KIP320,) = find("replication", "kip320")
TWO = {**FENCED.scope, "brokers": 2}

COUNTS = Record(
    done=(Number(0, Bound("steps")), "steps done"),
    begun=(Number(0, Bound("steps")), "steps begun"),
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
    monkeypatch.setattr(
        Question, "ask", lambda self, *rest, **most: asked.append(self.action.name) or ask(self, *rest, **most)
    )
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


def nothing_odd(s):
    """Nothing is odd, and nothing done that was not begun."""
    return s.odd == 0 and s.done <= s.begun


def test_of_a_property_of_several_parts_the_one_that_fails_at_first_is_told():
    _, proof = verdicts(model_of(COUNTS, (begin, finish), (always(nothing_odd),), start_beyond))
    (verdict,) = (v for v in proof.verdicts if v.name == "nothing_odd")
    assert sorted((leaf.text, leaf.before, leaf.after) for leaf in verdict.cti.leaves) == [
        ("begun", 0, 0),
        ("done", 1, 1),
    ]


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


LATE = Record(done=(Number(0, Bound("steps")), "index"), marks=(Array(Flag(), Bound("steps")), "marked steps"))


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


def mark_one_of_three(s):
    s.marks[s.done if s.marks[s.done] else min(s.done, 5)] = 1
    return True


def test_facts_are_used_at_each_term_that_an_index_is_chosen_from():
    (action,) = (relation := Relation(model_of(LATE, (mark_one_of_three,), ()), {"brokers": 2, "steps": 2})).actions
    assert set(map(str, relation.indices(action.after["marks", "*"]))) == {"done", "5"}


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


def none_is_two(s):
    for i in range(4 - s.done):
        if s.marks[i] == 2:
            return False
    return True


def test_a_loop_to_a_difference_goes_as_far_as_the_least_of_what_is_taken_away():
    found, proof = verdicts(model_of(LATE, (mark,), (always(none_is_two),)))
    assert found["none_is_two"] == PROVED and proof.relation.variables.endless == {"steps"}


def as_many_are_no_two(s):
    count = 0
    for i in range(len(s.marks)):
        count += s.marks[i]
    for i in range(count):
        if s.marks[i] == 2:
            return False
    return True


def test_a_loop_whose_end_no_declared_range_limits_is_refused():
    with pytest.raises(StyleError, match="the ends of a loop are made of leaves.*range\\(count\\)"):
        verdicts(model_of(LATE, (mark,), (always(as_many_are_no_two),)))


def test_a_bound_that_a_loop_runs_over_keeps_its_end():
    assert Relation(toys.queue(), {"room": 2}).variables.endless == frozenset()
    assert Relation(KIP320, KIP320.scope).variables.endless == {"epochs", "records"}


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


def test_a_property_that_counts_ids_without_end_is_not_decided():
    broker = Id("brokers")
    state = Record(done=(Number(0, Bound("steps")), "steps done"), up=(Array(Flag(), "brokers"), "who is up"))

    def few(s):
        count = 0
        for up in s.up:
            count += up
        return count <= 1

    def start(s, b: broker):
        if s.up[b]:
            return False
        s.done += 1
        return True

    model = model_of(state, [start], (always(few),))
    found, proof = verdicts(model, any_size=True)
    assert found["few"] == NOT_DECIDED and proof.verdicts[-1].where == "it counts what has no end"
    assert verdicts(model)[0]["few"] == PROVED
