"""What led to a divergence, or to a violation, is a history that can be drawn: ten steps, recorded and allowed."""

import json

import pytest

from kafkaproof.checker.pictures.history import checked
from kafkaproof.checker.pictures.text import to_text
from kafkaproof.traces.processes.recorded.reading import read_cluster
from kafkaproof.traces.processes.replay import replay
from kafkaproof.traces.report.process_history import STEPS, history_of
from tests.traces.processes.recordings import FAILOVER, SPLIT_BRAIN, Copy, steps


def drawn(directory, variant=None):
    """The history, whole and as text, and the result."""
    cluster = read_cluster(directory)
    result = replay(cluster, variant)
    history = history_of(cluster, result)
    return history and checked(history), result


def test_what_conforms_has_no_history():
    assert drawn(FAILOVER)[0] is None


@pytest.fixture
def copy(tmp_path):
    return Copy(FAILOVER, tmp_path / "copy")


def test_the_steps_up_to_a_divergence(copy):
    process, step = steps(FAILOVER)[60]
    copy.change(process, step["n"], state="0" * 16)
    history, result = drawn(copy.directory)
    assert len(history["steps"]) == STEPS and history["steps"][-1]["violates"] == ["conformance"]
    assert history["steps"][-1]["text"] == result.divergence[0] and step["step"] in result.divergence[0]
    assert any(result.divergence[1] in note for note in history["steps"][-1]["notes"])
    assert not any("violates" in each or "notes" in each for each in history["steps"][:-1])
    assert "VIOLATED at step 10: conformance" in to_text(history)


def test_what_was_allowed_where_a_step_is_not_enabled(copy):
    process, step = next((p, s) for p, s in steps(FAILOVER) if "look_for_controller" in s["step"])
    copy.change(process, step["n"], step=step["step"].replace("look_for_controller", "learn_epoch"))
    history, result = drawn(copy.directory)
    assert "not enabled" in result.divergence[1]
    (allowed,) = [note for note in history["steps"][-1]["notes"] if note.startswith("Enabled")]
    assert f"election.look_for_controller(b={process[0]})" in allowed


def test_the_steps_up_to_a_violation():
    history, result = drawn(SPLIT_BRAIN)
    first = next(iter(result.violations.values()))
    assert history["steps"][-1]["text"] == first.first and history["steps"][-1]["violates"] == [first.id]
    assert history["property"] == {"name": first.id, "text": first.text}
    arrows = [arrow for step in history["steps"] for arrow in step["arrows"]]
    assert "request" in {arrow["kind"] for arrow in arrows}


def test_the_command_writes_it(kafkaproof, tmp_path):
    answer = kafkaproof("replay", SPLIT_BRAIN, "--variant", "legacy-checked", "--history", "refused.json")
    assert answer.code == 1 and "kafkaproof show refused.json" in answer.err
    history = json.loads((tmp_path / "refused.json").read_text())
    assert any("FENCED" in note for note in history["steps"][-1]["notes"])
    shown = kafkaproof("show", "refused.json", "--text")
    assert shown.code == 0 and "What does not fit" in shown.out
