"""Every bundled scenario happens as it says; one that says anything else fails, and bad input is told with its line."""

import json
import re
from pathlib import Path

import pytest

from kafkaproof.checker.commands.scenario import bundled
from kafkaproof.checker.runs.counterexample import executed
from kafkaproof.checker.scenarios.parse import read_scenario
from kafkaproof.checker.scenarios.play import play
from kafkaproof.spec.catalogue import find

DOCS = Path(__file__).parents[2] / "docs" / "scenarios.md"
SCENARIOS = {scenario.name: scenario for scenario in bundled()}
PARTS = {
    f"{scenario.name} in {part.variant} ({number})": (scenario, part)
    for scenario in SCENARIOS.values()
    for number, part in enumerate(scenario.parts, start=1)
}
HEAD = "title A test\nsystem partition\nscope quick\nvariant legacy\n"
TO_STALE_WRITE = """failover.elect(b=0) -> OK
failover.load_brokers(b=0) -> OK
failover.load_state(b=0, p=0) -> NONODE
faults.delete_controller()
failover.elect(b=1) -> OK
machines.create_first_state(b=0, p=0, delivery=0) -> OK
"""


@pytest.fixture
def write(tmp_path):
    """Write a scenario's text and return its path."""

    def written(text: str) -> Path:
        path = tmp_path / "mine.scenario"
        path.write_text(text)
        return path

    return written


@pytest.mark.parametrize("name", PARTS)
def test_a_bundled_scenario_happens_as_it_says(name):
    scenario, part = PARTS[name]
    told = play(scenario, part)
    assert told.failure is None
    assert len(told.moments) == told.trace.states == len(told.metrics)
    again = executed(told.trace.model, told.trace.scope, [str(step) for step, _, _ in told.trace.steps])
    assert [state for _, _, state in again.steps] == [state for _, _, state in told.trace.steps]


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_a_bundled_scenario_tells_something(scenario):
    assert scenario.title and scenario.story
    for part in scenario.parts:
        kinds = {line.kind for line in part.lines}
        assert (
            "step" in kinds and kinds - {"step"} or any(" -> FENCED" in l.text or "STALE" in l.text for l in part.lines)
        )


def violated(scenario):
    return {(part.variant, line.text) for part in scenario.parts for line in part.lines if line.kind == "violates"}


def test_what_a_scenario_breaks_is_recorded_for_its_variant():
    for scenario in SCENARIOS.values():
        for variant, name in violated(scenario):
            recorded = find(scenario.system, variant)[0].expected.values()
            assert any(name in lengths for lengths in recorded), f"{scenario.name}: {name} in {variant}"


def test_the_page_of_scenarios_lists_them_all():
    listed = re.findall(
        r"^\| `([\w-]+)` \|", DOCS.read_text(encoding="utf-8").partition("## Writing one")[0], re.MULTILINE
    )
    assert sorted(listed) == sorted(SCENARIOS)


def test_a_violation_that_is_not_announced_is_a_failure(write):
    scenario = read_scenario(write(HEAD + TO_STALE_WRITE))
    told = play(scenario, scenario.parts[0])
    assert told.failure.endswith(
        "mine.scenario:10: the step before violates no_stale_write: say violates no_stale_write"
    )
    assert len(told.trace.steps) == 6


@pytest.mark.parametrize(
    ("lines", "failure"),
    [
        ("violates no_stale_write\nexpect active_controllers = 1", "12: expected active_controllers = 1, but it is 2"),
        (
            "violates no_stale_write\nexpect zk.partitions[0].isr = [0]",
            "12: expected zk.partitions[0].isr = [0], but it is [0, 1]",
        ),
        ("violates no_stale_write\nexpect zk.controller = nobody", "12: expected zk.controller = nobody, but it is 1"),
        (
            "violates no_stale_write\nexpect brokers[*].controller.doing = IDLE",
            "12: expected brokers[*].controller.doing = IDLE",
        ),
        ("violates C5\n", "11: no property 'C5'; there are "),
        ("violates context_is_zookeeper", "11: context_is_zookeeper is not violated here"),
        ("violates no_stale_write\nreaches leaderless", "12: leaderless is not reached here"),
        (
            "violates no_stale_write\nrefused faults.restart(b=0)\nrefused rebalance.rebalance(b=0)",
            "13: rebalance.rebalance(b=0) is possible here",
        ),
        (
            "violates no_stale_write\nmachines.write_leader(b=0, p=0, delivery=0)",
            "12: machines.write_leader(b=0, p=0, delivery=0) is not possible here: ",
        ),
        (
            "violates no_stale_write\nfailover.resign(b=0) -> NONODE",
            "12: failover.resign(b=0) -> NONODE: the answer is OK",
        ),
        (
            "violates no_stale_write\nfaults.crash(b=0)",
            "12: faults.crash(b=0) goes beyond the scope: give it a larger faults",
        ),
    ],
)
def test_what_is_not_as_a_scenario_says_is_told_with_its_line(kafkaproof, write, lines, failure):
    answer = kafkaproof("scenario", write(HEAD + TO_STALE_WRITE + lines))
    assert f"mine.scenario:{failure}" in answer.err and len(answer.err.splitlines()) == 1
    assert answer.code == (2 if "no property" in failure else 1)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "1: no part; one begins with: variant NAME"),
        ("# only\n# a story", "2: no part; one begins with: variant NAME"),
        ("title", "1: title needs something after it"),
        ("variant legacy", "1: no system before the first variant"),
        ("failover.elect(b=0)", "1: 'failover.elect(b=0)' before the first part"),
        ("system nosuch\nvariant legacy", "2: no system 'nosuch'; there are "),
        ("system partition\nvariant nosuch", "2: partition has no variant 'nosuch'; there are "),
        ("system partition\nscope nosuch\nvariant legacy", "3: partition has no scope 'nosuch'; it has "),
        ("system partition\nscope brokers=two\nvariant legacy", "2: brokers=two: a size reads like brokers=2"),
        ("system partition\nscope brokers=9\nvariant legacy", "3: partition: brokers goes from 1 to 5, not 9"),
        ("system partition\nscope ids=1\nvariant legacy", "3: partition has no bound 'ids'; it has "),
        (HEAD + "title again", "5: title stands before the first variant"),
        (HEAD + "broker 0 is elected", "5: not a step: 'broker 0 is elected'; a step reads like "),
        (HEAD + "failover.elect(b=x)", "5: not a step: 'failover.elect(b=x)'"),
        (HEAD + "refused elect", "5: not a step: 'elect'"),
        (HEAD + "failover.nosuch(b=0)", "5: partition/legacy has no transition failover.nosuch"),
        (HEAD + "failover.elect(c=0)", "5: failover.elect(c=0): the arguments are b"),
        (HEAD + "failover.elect(b=7)", "5: failover.elect(b=7): b is out of its range in this scope"),
        (HEAD + "expect much", "5: 'much' is not an expectation; one reads like active_controllers = 2"),
        (
            HEAD + "expect nosuch = 1",
            "5: no field nosuch; the state has zk, brokers, network; metrics are active_controllers, ",
        ),
        (HEAD + "expect zk.controller = x", "5: "),
        (HEAD + "expect active_controllers = many", "5: active_controllers is a number, not many"),
        (HEAD + "reaches nosuch", "5: no goal 'nosuch'; there are two_controllers, "),
        (HEAD + "violates two_controllers", "5: no property 'two_controllers'; there are "),
    ],
)
def test_bad_input_is_one_line_with_file_and_number(kafkaproof, write, text, complaint):
    assert f"mine.scenario:{complaint}" in kafkaproof("scenario", write(text)).complaint


def test_what_is_no_text_and_what_is_not_there_are_refused(kafkaproof, tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert "binary: not UTF-8 text" in kafkaproof("scenario", "binary").complaint
    assert "no scenario and no file 'nosuch'; there are bounced-broker, " in kafkaproof("scenario", "nosuch").complaint


def test_comments_tell_the_story(write):
    scenario = read_scenario(
        write(
            "# What it is.\ntitle A\n# More.\nsystem partition\n# Of the part.\nvariant legacy\n\n"
            "# Before.\nfailover.elect(b=0) -> OK   # beside\n# Of the expectation.\nexpect brokers = 3\n"
        )
    )
    (part,) = scenario.parts
    assert (scenario.story, part.story) == ("What it is. More.", "Of the part.")
    assert [line.story for line in part.lines] == ["Before. beside", "Of the expectation."]
    told = play(scenario, part)
    assert [moment.story for moment in told.moments] == ["", "Before. beside"]
    assert told.moments[1].notes == ["Of the expectation.", "as expected: brokers = 3"]


def test_a_part_may_have_a_scope_of_its_own(write):
    scenario = read_scenario(
        write("system partition\nscope quick faults=2\nvariant legacy\nvariant fenced\nscope faults=3\n")
    )
    assert [(part.scope, part.sizes) for part in scenario.parts] == [("quick", {"faults": 2}), ("quick", {"faults": 3})]


def test_a_scenario_is_told_as_text_with_a_table_of_metrics(kafkaproof):
    answer = kafkaproof("scenario", "zombie-controller")
    assert answer.code == 0 and answer.err == ""
    for told in (
        "# An operator deletes /controller by hand.",
        "   4  faults.delete_controller()",
        "** violates no_stale_write **",
        "as expected: active_controllers = 2",
        "active_controllers 1 -> 2",
        "reaches two_controllers: ",
        "partition/legacy (",
        "they part at step 6: ",
    ):
        assert told in answer.out
    rows = {
        line.split()[0]: line.split()[1:] for line in answer.out.splitlines() if line.startswith("active_controllers ")
    }
    assert rows == {"active_controllers": ["0", "1", "1", "1", "2", "1"]}, (
        "of the second part: the first has another last row"
    )


def test_a_scenario_as_json_is_a_trace_that_show_draws(kafkaproof, tmp_path):
    data = kafkaproof("scenario", "zombie-controller", "--json").json
    assert data["format"] == 1 and data["scenario"]["name"] == "zombie-controller"
    legacy, fenced = data["parts"]
    assert (legacy["variant"], legacy["failure"], legacy["moments"][5]["violates"]) == (
        "legacy",
        None,
        ["no_stale_write"],
    )
    assert [step["metrics"]["active_controllers"] for step in fenced["moments"]] == [1, 1, 1, 1, 2, 1]
    assert fenced["moments"][5]["step"].endswith("-> FENCED") and fenced["initial"]["active_controllers"] == 0
    (tmp_path / "legacy.json").write_text(json.dumps(legacy))
    shown = kafkaproof("show", "legacy.json", "--metrics")
    assert shown.code == 0 and "active_controllers" in shown.out and not list(tmp_path.glob("*.html"))


def test_pictures_have_the_story_and_the_strip_of_metrics(kafkaproof, tmp_path):
    assert kafkaproof("scenario", "zombie-controller", "--output", "both.html").code == 0
    page = (tmp_path / "both.html").read_text()
    assert page.count("metrics over the steps") == 2 and "An operator deletes /controller by hand." in page
    assert kafkaproof("scenario", "zombie-controller", "--svg", "one.svg", "--variant", "legacy").code == 0
    assert 'class="strip"' in (tmp_path / "one.svg").read_text()
    assert kafkaproof("scenario", "zombie-controller", "--svg", "two.svg").code == 0
    assert (tmp_path / "two.svg").read_text().count('class="strip"') == 2
    assert (
        "has no part of variant 'x'; it has legacy, fenced"
        in kafkaproof("scenario", "zombie-controller", "--variant", "x").complaint
    )


def test_the_list_names_every_scenario_and_what_breaks(kafkaproof):
    answer = kafkaproof("scenario", "--json")
    entries = {entry["name"]: entry for entry in answer.json["scenarios"]}
    assert entries.keys() == SCENARIOS.keys()
    assert entries["zombie-controller"]["parts"] == [
        {"variant": "legacy", "violates": ["no_stale_write"]},
        {"variant": "fenced", "violates": []},
    ]
    assert "zombie-controller" in kafkaproof("scenario").out
