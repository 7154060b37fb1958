"""What long work says of itself while it goes on."""

import io

import pytest

from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.explore import progress
from kafkaproof.checker.explore.progress import Progress
from kafkaproof.checker.model.selection import properties_of
from kafkaproof.checker.prove.bmc import violations_within
from kafkaproof.checker.prove.proof import prove
from kafkaproof.spec.catalogue import find


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def notes():
    return []


def test_a_proof_tells_its_stages_and_all_steps_of_z3(notes):
    (model,) = find("election", "fenced")
    at = {**model.scope, "brokers": 2}
    prove(model, at, properties_of(model, at, ("epoch_bound",)), (), 100.0, 30.0, note=notes.append)
    stages = [
        "reading the actions",
        "action 1 of ",
        "sampling reachable states",
        "looking for lemmas for epoch_bound",
        "which lemmas ",
    ]
    first = [next(i for i, note in enumerate(notes) if note.startswith(stage)) for stage in stages]
    assert first == sorted(first) and all(note.endswith(" million steps of z3") for note in notes)
    steps = [int(note.split("  ")[-1].split()[0]) for note in notes]
    assert steps == sorted(steps) and steps[-1] >= 1


def test_bounded_model_checking_tells_how_many_states(notes):
    (model,) = find("replication", "truncate-to-hw")
    at = {**model.scope, "log": 1, "records": 1, "epochs": 1}
    violations_within(model, at, properties_of(model, at, ("strong_isr",)), 6, 100.0, note=notes.append)
    told = [note.split("  ")[0] for note in notes]
    assert [each for each in told if each.endswith("strong_isr")] == [
        f"{counted(n, 'state')}, strong_isr" for n in range(1, 7)
    ]
    assert set(told) <= {
        f"{counted(n, 'state')}, {what}" for n in range(1, 8) for what in ("strong_isr", "values in range")
    }


def test_a_live_line_is_cut_to_the_terminal_and_cleared(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    stream = Terminal()
    shown = Progress("election/fenced", stream)
    shown.note("action 57 of 72, active_controller.send(b=0, to=0)")
    shown.close()
    assert stream.getvalue() == "\r\x1b[2Kelection/fenced  action 57 of\r\x1b[2K"


def test_elsewhere_a_line_is_written_when_it_is_due(monkeypatch):
    stream = io.StringIO()
    Progress("election/fenced", stream).note("reading the actions")
    monkeypatch.setattr(progress, "PLAIN_EVERY", 0)
    Progress("election/fenced", stream).note("action 1 of 72")
    assert stream.getvalue() == "election/fenced  action 1 of 72\n"
