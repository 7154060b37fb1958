"""Failures that Kafka once had, brought about in running brokers on a real ZooKeeper: what replay says of each."""

import json

import pytest

FAILURES = {
    "foreign-delete": ({"C7"}, "legacy.delete_any_controller(b=0) -> OK", "FENCED"),
    "zombie-epoch": ({"C5", "owner_is_newest"}, "legacy.raise_epoch(b=0) -> OK", "BADVERSION"),
    "never-led": ({"C4", "C5", "C8", "C12", "C17"}, "machines.create_first_state(b=0, p=0) -> OK", "FENCED"),
    "stale-zkversion": ({"C4", "C5", "C8"}, "machines.write_leader(b=1, p=0) -> OK", "FENCED"),
}
"""What each violates, the step that should not have been, and its answer had it been checked."""


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_violates_what_it_should_and_its_fix_refuses_the_step(kafkaproof, name):
    violated, step, answer = FAILURES[name]
    ran = kafkaproof("run", "--json", "--brokers", 2, "--variant", "legacy", "--scenario", name, "--directory", "c")
    told = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 0 and any(line.get("landed") for line in told), ran
    assert any(line.get("step") == step for line in told)
    answered = kafkaproof("replay", "--json", "c")
    assert (answered.code, answered.json["verdict"]) == (1, "conforms"), answered.json
    assert {each["id"] for each in answered.json["violations"]} == violated
    mended = kafkaproof("replay", "--json", "c", "--variant", "legacy-checked").json
    assert mended["verdict"] == "diverges"
    assert mended["first_divergence"]["step"].endswith(step)
    assert mended["first_divergence"]["reason"].endswith(f"ZooKeeper answers {answer}")


@pytest.mark.parametrize("name", FAILURES)
def test_later_versions_have_no_such_steps(kafkaproof, name):
    assert "needs --variant legacy" in kafkaproof("run", "--scenario", name, "--directory", "c").complaint
