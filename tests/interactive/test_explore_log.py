"""`explore` opens the log of a real ZooKeeper at its divergence: a state of the model that replay has judged by."""

import io

import pytest
from served import asked, served

from kafkaproof.checker.interactive.opened import opened_in
from kafkaproof.checker.interactive.session import Session
from tests.pictures.picture_browser import BROWSER
from tests.traces.replaying import BUNDLED
from tests.traces.tamperings import KINDS
from tests.traces.tamperings.apply import write
from tests.traces.test_tamperings import SMALLEST_FIRST, known

in_a_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome is installed")
PARTITION, ELECTION = "partition/fenced", "election/fenced"
OPENED = {
    "leader_that_is_no_replica": (PARTITION, "machines.write_leader(b=2, p=0, delivery=0) -> OK"),
    "election_left_out": ("partition/kip841", "machines.write_leader(b=2, p=0, delivery=0) -> OK"),
    "leaderless_with_the_dead_in_the_isr": (PARTITION, "machines.write_removal(b=3, p=0, r=0, delivery=0) -> OK"),
    "first_state_with_another_leader": ("topics/kip455", "machines.create_first_state(b=2, p=0, delivery=0) -> OK"),
    "isr_of_brokers_not_assigned": (PARTITION, "isr.alter_partition(b=3, p=0, sender=2, isr=4, delivery=0) -> OK"),
    "isr_of_an_unknown_broker": (PARTITION, "isr.alter_partition(b=3, p=0, sender=1, isr=2, delivery=0) -> OK"),
    "write_of_a_tool": (PARTITION, "rebalance.rebalance(b=3)"),
    "epoch_not_raised": ("partition/altering", "reassignment.check_reassignment(b=0, p=0) -> OK"),
    "topic_id_changed": ("partition/altering", "reassignment.check_reassignment(b=0, p=0) -> OK"),
    "epoch_jumps": (ELECTION, "election.register(b=0, delivery=0) -> OK"),
    "session_opened_again": (ELECTION, "session.start(b=0) -> OK"),
    "marker_before_states": ("partition/phases-checked", "deletion.delete_state(b=0, p=0, delivery=0) -> OK"),
    "marker_left": ("partition/phases-checked", "deletion.delete_marker(b=0, delivery=0) -> OK"),
    "another_request_taken_out": ("partition/phases-checked", "lists.delete_listed(b=0, p=0, delivery=0) -> OK"),
}
"""For a kind of tampering the model whose state it opens at, and a step that is possible there."""
ASSUMED = {"led_if_possible", "isr_assigned", "configured", "id_with_assignment"}
"""Properties that a state which the log shows, or one that replay tries, need not have."""


@pytest.fixture
def tampered(tmp_path):
    """Where a log is that is tampered with in some way."""

    def written(name):
        for directory in SMALLEST_FIRST:
            scene, found, _ = known(directory)
            if name in found:
                write(scene, found[name][0], tmp_path)
                return tmp_path
        raise AssertionError(KINDS[name])

    return written


@pytest.mark.parametrize("name", OPENED)
def test_it_opens_at_a_state_of_the_model_that_judged_the_record(tampered, name):
    model, step = OPENED[name]
    opened = opened_in(tampered(name), None)
    assert opened.model.name == model and " diverges from " in opened.told[0]
    session = Session(opened.model, opened.scope, opened)
    for number, path in enumerate(opened.paths[:3]):
        seen = session.look(session.trace(number, path))
        possible = [each["text"] for group in seen["possible"] for each in group["steps"]]
        assert number or step in possible
        assert all(session.why(session.trace(number, path).last, t["transition"]) for t in seen["impossible"][:3])
        assert {each["name"] for each in seen["properties"] if each["mark"] == "bad"} <= ASSUMED


def test_what_the_log_leaves_open_is_said_and_each_of_it_can_be_opened(tampered, kafkaproof, monkeypatch):
    def explored(*more, lines=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        return kafkaproof("explore", directory, "--text", *more)

    directory = tampered("leader_that_is_no_replica")
    told = explored(lines="command\nback\ncommand\nstart\ncommand\nwhy isr.alter_partition\n")
    assert "This is partition r2-1 before that, as replay judges it." in told.out
    assert "leader epoch 0 stands for 3" in told.out and "; here 0 is broker 3, 1 is broker 1\n" in told.out
    assert (
        "9 states are possible; --initial N opens another than the first:\n" in told.out
        and "  and 1 more\n" in told.out
    )
    assert "  0: broker failure (3), live [1, 2], replicas [3, 1];" in told.out
    assert f"kafkaproof explore {directory}\n" in told.out and f"{directory} --steps " in told.out
    assert f"kafkaproof explore {directory} --step 0\n" in told.out and "isr.py:" in told.out
    other = explored("--initial", "1", lines="command\n")
    assert f"kafkaproof explore {directory} --initial 1\n" in other.out
    assert "no initial state 99; they are 0 to 8" in explored("--initial", "99").complaint
    assert "has its own scope" in explored("--brokers", "3").complaint


@in_a_browser
def test_on_the_page_another_of_the_possible_states_is_chosen(tampered, tmp_path):
    opened = opened_in(tampered("leader_that_is_no_replica"), None)
    with served(Session(opened.model, opened.scope, opened), opened.paths[0]) as server:
        script = """
            const first = [place.initial, place.steps.length], list = document.getElementById("choice");
            list.value = 6; list.dispatchEvent(new Event("change")); await until(() => place.initial === 6);
            return { first, length: list.options.length, second: [place.initial, place.steps.length],
                     buttons: texts(".bar button:not([hidden])"), start: texts("#path button")[0],
                     lane: texts("#possible .lane")[0], command: texts("#command")[0] };"""
        found = asked(BROWSER, tmp_path / "profile", server, script)
    assert found["first"] == [0, 3] and found["length"] == len(opened.labels) == 9
    assert found["second"] == [6, len(opened.paths[6])] and found["start"] == "0  where it opens"
    assert "Save as trace" not in found["buttons"] and found["lane"] == "broker 2"
    assert found["command"].endswith(" --initial 6")


def test_it_opens_before_the_first_violation_of_a_log(kafkaproof, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    told = kafkaproof("explore", BUNDLED / "1.1.1-zombie", "--text").out
    assert (
        "violates C4 first at 0x9b." in told
        and "  0: broker 1, which wrote the record, is controller of epoch 1\n" in told
    )
    assert "legacy.clean(b=0, delivery=0) -> OK  ** violates no_stale_write **" in told


def test_epochs_that_are_large_get_other_names(monkeypatch):
    monkeypatch.setattr("kafkaproof.traces.opened.election._MOST_EPOCHS", 0)
    opened = opened_in(BUNDLED / "1.1.1-zombie", None)
    assert any(each["text"] for each in _possible(opened)) and opened.model.name == "election/legacy"


def _possible(opened):
    session = Session(opened.model, opened.scope, opened)
    return [each for group in session.look(session.trace(0, ()))["possible"] for each in group["steps"]]


@pytest.mark.parametrize(
    ("name", "variant", "told"),
    [
        ("3.9.1-reassign", None, "conforms: there is no divergence or violation to open it at"),
        ("3.9.1-reassign", "nonsense", "--variant nonsense: "),
    ],
)
def test_a_log_without_such_a_place_is_told_in_one_line(kafkaproof, name, variant, told):
    answer = kafkaproof("explore", BUNDLED / name, *(["--variant", variant] if variant else []), "--text")
    assert answer.code == 2 and told in answer.complaint and "\n" not in answer.complaint
