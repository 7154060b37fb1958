"""What was seen along a counterexample becomes a history, whatever the end."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from kazoo.exceptions import NoNodeError

from kafkaproof.checker.pictures.history import checked
from kafkaproof.impl.harness.conducting.conductor import Departs
from kafkaproof.impl.harness.real.control import control_of
from kafkaproof.impl.harness.real.recorded import HISTORY, Recorded
from kafkaproof.spec.errors import Unfinished
from tests.checker.test_cluster_system import LOSS
from tests.impl.test_reproduction import behaviour


class Silent:
    """A watcher that prints nothing."""

    def say(self, text, **line):
        pass

    def look(self, cluster):
        pass


@pytest.fixture
def cluster(tmp_path):
    """A cluster in whose ZooKeeper there is nothing; its logs are `logs`."""

    def get(path):
        raise NoNodeError

    (tmp_path / "d" / "recording").mkdir(parents=True)
    logs = {0: [], 1: []}
    return SimpleNamespace(
        directory=tmp_path / "d",
        controller=lambda: None,
        registered=lambda: [0, 1],
        logs=logs,
        operator=SimpleNamespace(get=get),
        log_of=lambda broker, p: logs[broker],
    )


def written(cluster):
    """The history that is there now, which can be shown; nothing half-written is beside it."""
    assert [file.name for file in (cluster.directory / "recording").iterdir()] == ["history.json"]
    return checked(json.loads((cluster.directory / HISTORY).read_text()))


def take(recorded, steps):
    for number, step in enumerate(steps, 1):
        recorded.say(f"{number:3}  {step}", step=str(step))


def test_it_is_there_from_the_beginning_and_whole_after_each_step(tmp_path, cluster):
    found = behaviour(tmp_path, LOSS, "committed")
    with Recorded(Silent(), cluster, found) as recorded:
        assert written(cluster)["steps"] == [] and "has not come to its end" in written(cluster)["story"]
        for number in range(1, 4):
            recorded.say("", step=str(found.steps[number - 1]))
            assert [step["text"] for step in written(cluster)["steps"]] == [str(each) for each in found.steps[:number]]


def test_the_last_step_says_that_it_was_reproduced_and_what_was_seen(tmp_path, cluster):
    found = behaviour(tmp_path, LOSS, "committed")
    with Recorded(Silent(), cluster, found) as recorded:
        recorded.say("     besides, broker 0: getData /controller", besides={})
        take(recorded, found.steps)
        cluster.logs[0].append(b"record-0")
        recorded.say("     at the end ...", now="...")
        recorded.say("     later nothing", later="...")
        recorded.say("reproduced: it is in no log", reproduced=True, seen=[])
    history = written(cluster)
    assert "besides, broker 0: getData /controller" in history["steps"][0]["notes"]
    assert not any("besides, broker 0" in note for step in history["steps"][1:] for note in step["notes"])
    last = history["steps"][-1]
    assert last["violates"] == ["committed"] and not any("violates" in step for step in history["steps"][:-1])
    assert last["notes"] == ["done by the driver", "later nothing", "Reproduced: it is in no log."]
    assert last["state"]["logs"] == {"events-0": {"broker 0": ["record-0"], "broker 1": []}}
    assert history["steps"][-2]["state"]["logs"]["events-0"]["broker 0"] == []
    assert history["story"].endswith("Reproduced: it is in no log.")


def test_what_is_done_besides_is_told_with_its_step(tmp_path, cluster):
    found = behaviour(tmp_path, LOSS, "committed")
    with Recorded(Silent(), cluster, found) as recorded:
        take(recorded, found.steps)
    notes = [step["notes"] for step in written(cluster)["steps"]]
    assert any("broker 2 is elected first" in note for note in notes[found.stands_in - 1])
    assert any("what controller 1 reads" in note for note in notes[found.deposed[0].since - 1])


@pytest.mark.parametrize(
    "error, told",
    [
        (Departs("step 3, x: waited for y"), "It goes otherwise: step 3, x: waited for y."),
        (Unfinished("could not be forced: step 3, x"), "Could not be forced: step 3, x."),
        (KeyboardInterrupt(), "The run was interrupted."),
    ],
)
@pytest.mark.parametrize("taken", [0, 2])
def test_an_error_is_told_and_goes_on(tmp_path, cluster, error, told, taken):
    found = behaviour(tmp_path, LOSS, "committed")
    with pytest.raises(type(error)), Recorded(Silent(), cluster, found) as recorded:
        take(recorded, found.steps[:taken])
        raise error
    history = written(cluster)
    assert len(history["steps"]) == taken and history["story"].endswith(told)
    assert [told in step["notes"] for step in history["steps"]] == [False, True][:taken]


def test_a_control_says_what_it_goes_without(tmp_path, cluster):
    control = control_of(behaviour(tmp_path, LOSS, "committed"))
    with Recorded(Silent(), cluster, control.behaviour, control) as recorded:
        take(recorded, control.behaviour.steps)
        recorded.say("the control ends without the violation", control=str(control.omitted))
    history = written(cluster)
    assert history["title"].endswith("the control") and control.text in history["story"]
    assert "violates" not in history["steps"][-1]
    assert history["steps"][-1]["notes"][-1] == "The control ends without the violation."


def test_what_could_not_be_written_leaves_the_history_before_it(tmp_path, cluster, monkeypatch):
    def half(path, text, **_):
        path.write_bytes(text.encode()[:99])
        raise OSError("no space left on device")

    found = behaviour(tmp_path, LOSS, "committed")
    recorded = Recorded(Silent(), cluster, found)
    recorded.begin()
    take(recorded, found.steps[:2])
    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(OSError):
        recorded.say("", step=str(found.steps[2]))
    assert len(checked(json.loads((cluster.directory / HISTORY).read_text()))["steps"]) == 2
