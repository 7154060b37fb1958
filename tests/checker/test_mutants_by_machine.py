"""Changes made by machine: each kind as text, that they run, that they are told apart, and that the lists are true."""

import ast
from dataclasses import replace

import pytest

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.mutation import by_machine
from kafkaproof.checker.mutation.by_machine import judged, main, others_asked, reason_of, variants
from kafkaproof.checker.mutation.changes import changes, mutated
from kafkaproof.checker.mutation.kinds import Domains, codes
from kafkaproof.checker.mutation.page import Judged, Page, line, row
from kafkaproof.checker.mutation.sample import drawn, possible, texts
from kafkaproof.checker.mutation.verdicts import (
    COUNTS,
    NEVER_TAKEN,
    NOTICED,
    SILENT,
    STILLBORN,
    UNREACHED,
    Verdict,
    judge,
    originals,
)
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.election import broker_state
from kafkaproof.spec.language.domains import Array, Choice, Flag, Id, Number, Record
from kafkaproof.spec.language.model import Model, Transition, always, sometimes
from kafkaproof.spec.unnoticed import listed, systems

RED, GREEN, BLUE = Choice("RED", "GREEN", "BLUE")
Player = Id("players")
STATE = Record(
    players=(
        Array(
            Record(
                colour=(Number(0, 2), "what a player holds"),
                other=(Number(0, 2), "what it held before"),
                ready=(Flag(), "whether it is ready"),
            ),
            "players",
        ),
        "players",
    ),
    turns=(Number(0, 3), "turns taken"),
)


def note(player, colour):
    """A player holds a colour, and remembers the one before."""
    player.other = player.colour
    player.colour = colour


def choose(s, b: Player, to: Player):
    """Player `b` takes a colour.

    Guards:  it is ready, and its turn has come.
    Effects: it holds the colour; it is not ready any more.
    Kafka:   none.
    """
    player = s.players[b]
    if not player.ready or s.turns >= 3:
        return False

    if player.colour == RED:
        note(player, GREEN)
    else:
        s.players[to].colour = BLUE
    s.turns += 1
    return True


def dream(s, b: Player):
    """What never happens.

    Guards:  never.
    Effects: a dream.
    Kafka:   none.
    """
    if s.turns < 0:
        return False

    if s.turns > 5:
        s.players[b].colour = RED
    s.players[b].ready = 1
    return True


def rest(s, b: Player):
    """A player in green is ready.

    Guards:  its colour is green.
    Effects: it is ready.
    Kafka:   none.
    """
    if s.players[b].colour != GREEN:
        return False

    s.players[b].ready = 1
    return True


def all_start(s):
    """All are ready."""
    for player in s.players:
        player.ready = 1


def never_three_turns_in_red(s):
    """After three turns somebody holds another colour."""
    return s.turns < 3 or s.players[0].colour != RED or s.players[1].colour != RED


def three_turns(s):
    """All turns are taken."""
    return s.turns == 3


MODEL = Model(
    "toy",
    "colours",
    "Players take colours.",
    STATE,
    all_start,
    (Transition(choose), Transition(rest), Transition(dream)),
    (always(never_three_turns_in_red), sometimes(three_turns)),
    {"players": 2},
    {"players": 2},
    lambda scope: [],
    others={"quick": {"players": 2}},
)
DOMAINS = Domains.of(MODEL)
OF_CHOOSE = {change.text: change for change in changes(choose, DOMAINS)}
OF_NOTE = {change.text: change for change in changes(note, DOMAINS)}
GUARD = "if not player.ready or s.turns >= 3: return False"
CHOICE = "if player.colour == RED: ... else ..."


@pytest.mark.parametrize(
    "kind, text",
    [
        ("guard dropped", f"{GUARD} -> nothing"),
        ("condition negated", f"{GUARD} -> if not (not player.ready or s.turns >= 3): return False"),
        ("condition dropped", f"{GUARD} -> if s.turns >= 3: return False"),
        ("condition dropped", f"{GUARD} -> if not player.ready: return False"),
        ("comparison", f"{GUARD} -> if not player.ready or s.turns > 3: return False"),
        ("comparison", f"{CHOICE} -> if player.colour != RED: ... else ..."),
        ("constant", f"{GUARD} -> if not player.ready or s.turns >= 4: return False"),
        ("constant", f"{GUARD} -> if not player.ready or s.turns >= 2: return False"),
        ("constant", f"{CHOICE} -> if player.colour == BLUE: ... else ..."),
        ("else dropped", f"{CHOICE} -> if player.colour == RED: note(player, GREEN)"),
        ("call dropped", "note(player, GREEN) -> nothing"),
        ("field", "s.players[to].colour = BLUE -> s.players[to].other = BLUE"),
        ("argument", "s.players[to].colour = BLUE -> s.players[b].colour = BLUE"),
        ("argument", "player = s.players[b] -> player = s.players[to]"),
        ("assignment dropped", "s.turns += 1 -> nothing"),
    ],
)
def test_kinds_of_changes(kind, text):
    assert OF_CHOOSE[text].kind == kind


def test_no_change_is_listed_twice_and_none_changes_nothing():
    for change in (*OF_CHOOSE.values(), *OF_NOTE.values()):
        before, after = change.text.split(" -> ")
        assert before != after
    found = possible(MODEL)
    assert len({(change.of, change.text) for change in found}) == len(found)


def test_what_a_transition_answers_is_not_changed():
    assert not any("return True ->" in text or "return True" in text.split(" -> ")[1] for text in OF_CHOOSE)


def test_arguments_of_one_domain_change_places():
    swapped = {change.text for change in possible(find("group", "current")[0]) if change.kind == "arguments swapped"}
    assert swapped
    for text in swapped:
        before, after = text.split(" -> ")
        assert sorted(before) == sorted(after)


def test_codes_are_those_of_one_enumeration_by_whatever_name_they_go():
    known = codes("kafkaproof.spec.election.session")["EXPIRED_SESSION"]
    assert known == {
        "DOWN": broker_state.DOWN,
        "OPEN": broker_state.OPEN,
        "EXPIRED_SESSION": broker_state.EXPIRED_SESSION,
    }


def run(change):
    """What `choose` by player 0 for player 1 makes of the first state in a changed model, None where it refuses."""
    model = mutated(MODEL, change)
    execution = Execution(model, model.scope)
    return execution.after(execution.initial_states()[0], model.transitions[0], (0, 1))


def test_a_changed_function_runs_changed_and_its_original_does_not():
    assert run(OF_CHOOSE["s.turns += 1 -> nothing"]).turns == 0
    assert run(OF_CHOOSE[f"{GUARD} -> if not (not player.ready or s.turns >= 3): return False"]) is None
    assert run(OF_CHOOSE["s.turns += 1 -> s.turns += 2"]).turns == 2


def test_what_is_called_is_changed_wherever_it_is_called():
    assert run(OF_NOTE["player.colour = colour -> player.other = colour"]).players[0].other == GREEN


def test_a_code_comes_along_that_the_module_has_not_imported():
    model = find("election", "fenced")[0]
    change = next(
        c
        for c in possible(model)
        if c.of.endswith("active_controller.load") and "= IDLE -> broker.doing = RAISING" in c.text
    )
    assert any("RAISING" in f.__globals__ for f in (t.function for t in mutated(model, change).transitions))


@pytest.fixture(scope="module")
def toy():
    return originals(MODEL)


@pytest.mark.parametrize(
    "of, text, kind, by",
    [
        (choose, "note(player, GREEN) -> nothing", NOTICED, "never_three_turns_in_red"),
        (choose, "s.turns += 1 -> nothing", NOTICED, "goal three_turns"),
        (choose, f"{GUARD} -> nothing", NOTICED, "range"),
        (choose, "note(player, GREEN) -> note(player, BLUE)", NEVER_TAKEN, "test_mutants_by_machine.rest"),
        (note, "player.other = player.colour -> nothing", SILENT, ""),
        (choose, "s.players[to].colour = BLUE -> s.players[to].other = BLUE", COUNTS, "distinct"),
        (dream, "s.players[b].colour = RED -> nothing", UNREACHED, ""),
        (dream, "s.players[b].ready = 1 -> nothing", SILENT, ""),
    ],
)
def test_verdicts(toy, of, text, kind, by):
    verdict = judge(toy, next(c for c in changes(of, DOMAINS) if c.text == text))
    assert verdict.kind == kind
    assert verdict.by.startswith(by)


def test_what_is_never_taken_is_named_and_counts_as_noticed(toy):
    change = OF_CHOOSE["note(player, GREEN) -> note(player, BLUE)"]
    one = Judged(change, judge(toy, change), NEVER_TAKEN, "")
    assert line(one).endswith("`: never taken (test_mutants_by_machine.rest) at quick")
    assert row(MODEL, 1, [one]).endswith("| 0 | 1 | 0 | 0 | 100 % |")


def start_noted(s):
    """All hold red, as they note, and are ready."""
    for player in s.players:
        note(player, RED)
        player.ready = 1


def test_a_change_of_what_initial_states_call_is_judged():
    """A probe of what is reached stands there, too, and puts the initial state itself out of its range."""
    found = originals(replace(MODEL, initial=start_noted))
    change = OF_NOTE["player.other = player.colour -> nothing"]
    assert judge(found, change).kind == SILENT


def test_what_breaks_the_rules_is_stillborn(toy):
    of_record = OF_CHOOSE["player = s.players[b] -> player = s.players[to]"]
    change = replace(of_record, old=of_record.statement.value, new=ast.parse("s.turns", mode="eval").body)
    assert change.text == "player = s.players[b] -> player = s.turns"
    assert judge(toy, change).kind == STILLBORN


def test_a_seed_draws_the_same_and_another_seed_others():
    model = find("election", "fenced")[0]
    first, again, others = ([c.text for c in drawn(model, 30, seed)] for seed in (1, 1, 2))
    assert first == again != others


def test_a_slice_is_changed_only_where_it_has_text_of_its_own():
    model, other = variants()["partition/deleting"]
    changed = drawn(model, 20, 1, other)
    assert len(changed) == 20
    assert not {change.function.__code__ for change in changed} & texts(other)


def test_every_transition_gets_its_turn():
    model = find("election", "fenced")[0]
    changed = [mutated(model, change) for change in drawn(model, len(model.transitions), 1)]
    assert all(
        any(after.function is not before.function for after, before in zip(m.transitions, model.transitions))
        for m in changed
    )
    assert len({(c.of, c.text) for c in drawn(MODEL, 10_000, 1)}) == len(possible(MODEL))


def test_a_few_changes_of_a_system_are_judged():
    model = find("async-isr", "maximal-isr")[0]
    found = list(judged(model, drawn(model, 5, 1)))
    assert len(found) == 5
    assert sum(one.kind == NOTICED for one in found) >= 3
    assert row(model, 1, found).startswith("| async-isr/maximal-isr | 1 | 5 | ")


def test_what_a_composed_model_does_not_notice_is_asked_of_the_parts_that_have_the_text(monkeypatch):
    whole = replace(MODEL, properties=(), parts=(("async-isr", "maximal-isr"), ("toy", "part")))
    monkeypatch.setattr(by_machine, "find", lambda *part: [MODEL] if part[0] == "toy" else find(*part))
    change = next(c for c in changes(choose, DOMAINS) if "turns" in judge(originals(MODEL), c).by)
    (alone,) = judged(replace(whole, parts=()), [change])
    (found,) = judged(whole, [change])
    assert alone.kind != NOTICED
    assert (found.kind, found.verdict.scope) == (NOTICED, f"quick of {MODEL.name}")


def test_what_a_slice_does_not_notice_is_asked_of_the_system_whose_steps_it_takes():
    asked = {model.name: model for model in others_asked("partition/electing-fenced")}
    assert asked.keys() == {"election/fenced"}
    assert texts(asked.values()) & texts([find("partition", "electing-fenced")[0]])
    assert "partition/altering" in [model.name for model in others_asked("partition/reassigning")]


def test_a_reason_is_that_of_the_change_or_of_its_statement():
    change = OF_CHOOSE["s.turns += 1 -> nothing"]
    assert reason_of(change, {(change.of, change.text): "One."}) == "One."
    assert reason_of(change, {(change.of, "s.turns += 1 -> anything"): "All."}) == "All."
    assert reason_of(change, {(change.of, "s.turns += 1 -> s.turns += 2"): "Another."}) == ""


def test_a_page_keeps_the_rows_that_are_not_made_anew(tmp_path, capsys):
    """Those of other systems, and of the same with another seed."""
    of_choose = Judged(OF_CHOOSE["s.turns += 1 -> nothing"], Verdict(NOTICED, "goal three_turns", "quick"), NOTICED, "")
    page, file = Page(), tmp_path / "page.md"
    page.put(MODEL, 2, [of_choose])
    page.put(find("async-isr", "maximal-isr")[0], 1, [of_choose])
    file.write_text(page.text(), encoding="utf-8")
    assert Page.read(file).text() == page.text()
    assert main(["--variant", "async-isr/maximal-isr", "--per", "2", "--seed", "1", "--output", str(file)]) == 0
    again, printed = file.read_text(encoding="utf-8"), capsys.readouterr().out
    assert page.rows["toy/colours | 2"] in again and again.count(line(of_choose)) == 1
    assert "| async-isr/maximal-isr | 1 | 2 | " in again and page.rows["async-isr/maximal-isr | 1"] not in again
    assert again.count("\n- spec/async_isr/async_isr.py:") == printed.count("- spec/async_isr/async_isr.py:") == 2


@pytest.mark.parametrize("system", systems())
def test_what_is_listed_is_a_change_that_can_be_made(system):
    models = [(model, other) for model, other in variants().values() if model.system == system]
    changes_made = [change for model, other in models for change in possible(model, other)]
    known = {(change.of, text) for change in changes_made for text in (change.text, change.to_anything)}
    equivalent, unnoticed = listed(system)
    assert not equivalent.keys() & unnoticed.keys()
    assert {**equivalent, **unnoticed}.keys() <= known
    assert all(reason.endswith(".") for reason in (*equivalent.values(), *unnoticed.values()))
