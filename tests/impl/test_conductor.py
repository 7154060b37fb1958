"""A running cluster is driven along counterexamples of the checker, lost requests included."""

import json

import pytest

from kafkaproof.impl.harness.conducting.counterexample import read_counterexample

STANDING = ["session.start(b=0) -> OK", "session.register_broker(b=0) -> OK", "election.maybe_resign(b=0) -> NONODE"]
FOUNDING = [
    "election.look_for_controller(b=0) -> NONODE",
    "election.learn_epoch(b=0) -> NONODE",
    "election.found_epoch(b=0, delivery=0) -> OK",
]
LOOKING = [*STANDING, "legacy.look_for_controller(b=0) -> NONODE"]
RULING = ["failover.elect(b=1) -> OK", "failover.load_brokers(b=1) -> OK", "failover.load_state(b=1, p=0) -> NONODE"]
SCOPES = {
    "election": {"brokers": 2, "epochs": 3, "faults": 2, "receivers": 1},
    "partition": {"brokers": 2, "replicas": 2, "partitions": 1, "epochs": 2, "leader_epochs": 3, "faults": 2},
}


def write_run(directory, system, variant, *steps, name="no_stale_write", scope=None, **more):
    """A run directory with one counterexample."""
    directory.mkdir()
    result = {
        "system": system,
        "variant": variant,
        "scope": dict(scope or SCOPES.get(system, {})),
        "violations": [{"property": name, "trace": list(steps), **more}],
    }
    (directory / "run.json").write_text("{}")
    (directory / "result.json").write_text(json.dumps(result))
    return directory


def test_the_counterexample_that_check_finds_is_driven_to_its_end(kafkaproof, tmp_path):
    kafkaproof(
        "check",
        "election",
        "--variant",
        "legacy",
        "--scope",
        "quick",
        "--property",
        "no_stale_write",
        "--master",
        "local[2]",
        "--run-dir",
        "run",
    )
    ran = kafkaproof("run", "--json", "--from-counterexample", "run", "--directory", "c")
    told = [json.loads(line) for line in ran.out.splitlines()]
    found = json.loads((tmp_path / "run" / "result.json").read_text())["violations"][0]["trace"]
    assert [line["step"] for line in told if "step" in line] == [text.replace(", delivery=0", "") for text in found]
    assert ran.code == 0 and any(line.get("violates") == "no_stale_write" for line in told)
    report = kafkaproof("replay", "--json", "c").json
    assert report["verdict"] == "conforms" and "C4" in {each["id"] for each in report["violations"]}


def test_one_of_partition_with_an_expiry_and_a_new_session(kafkaproof, tmp_path):
    run = write_run(
        tmp_path / "run",
        "partition",
        "legacy",
        *RULING,
        "machines.create_first_state(b=1, p=0, delivery=0) -> OK",
        "replica.leader_and_isr(b=0, epoch=1, p=0)",
        "faults.expire_session(b=0)",
        "brokers.broker_change(b=1) -> OK",
        "failover.reopen(b=0)",
        "brokers.broker_failure(b=1)",
        "leader_zk.change_isr(b=0, p=0, isr=1) -> OK",
        "machines.read_for_election(b=1, p=0) -> OK",
        "leader_zk.change_isr(b=0, p=0, isr=3) -> OK",
        "machines.read_for_removal(b=1, p=0, r=0) -> OK",
        "machines.write_removal(b=1, p=0, r=0, delivery=0) -> OK",
    )
    assert kafkaproof("run", "--from-counterexample", run, "--directory", "c").code == 0
    report = kafkaproof("replay", "--json", "c").json
    assert report["verdict"] == "conforms"
    assert [each["id"] for each in report["violations"]] == ["leaderless_for_a_reason"]


def test_requests_are_lost_on_the_wire_applied_or_not(kafkaproof, tmp_path):
    run = write_run(
        tmp_path / "run",
        "election",
        "fenced",
        *STANDING,
        *FOUNDING,
        "election.register(b=0, delivery=2) -> LOST",
        "election.register(b=0, delivery=1) -> LOST",
        "election.register(b=0, delivery=0) -> NODEEXISTS",
        "election.confirm_controller(b=0) -> MINE",
        "election.confirm_epoch(b=0) -> OK",
        "active_controller.clean(b=0, delivery=0) -> OK",
    )
    ran = kafkaproof("run", "--json", "--from-counterexample", run, "--directory", "c")
    assert ran.code == 0, ran
    told = [json.loads(line) for line in ran.out.splitlines()]
    seen = [line.get("step") or line["now"] for line in told if "step" in line or line.get("what") == "controller"]
    assert seen[6:9] == ["election.register(b=0) -> LOST"] * 2 + [{"broker": 0, "epoch": 1}]
    report = kafkaproof("replay", "--json", "c").json
    assert (report["verdict"], report["violations"]) == ("conforms", [])


def test_a_cluster_that_answers_otherwise_departs(kafkaproof, tmp_path):
    run = write_run(tmp_path / "run", "election", "legacy", *LOOKING[:3], "legacy.look_for_controller(b=0) -> OK")
    ran = kafkaproof("run", "--from-counterexample", run, "--directory", "c")
    assert ran.code == 1 and "legacy.look_for_controller(b=0) -> OK: the answer is NONODE" in ran.out


REFUSED = [
    ("election", "zkclient", [], "election, variant zkclient, does not run step by step"),
    ("group", "fenced", [], "group, variant fenced, does not run step by step"),
    ("election", "legacy", ["a tale"], "step 1, a tale: not a step of election"),
    ("election", "legacy", ["session.start(c=0)"], "step 1, session.start(c=0): not a step of election"),
    ("election", "legacy", ["session.start(b=2)"], "step 1, session.start(b=2): not a step of election"),
    ("election", "legacy", ["session.register_broker(b=0)"], "it is not enabled"),
    (
        "election",
        "legacy",
        [*LOOKING, "active_controller.send(b=0, to=0)"],
        "step 5, active_controller.send(b=0, to=0), cannot be driven: ",
    ),
    ("election", "legacy", [*LOOKING, "legacy.clean(b=0, delivery=0)"], "it stands for the work of a controller"),
    (
        "partition",
        "legacy",
        [
            *RULING,
            "machines.create_first_state(b=1, p=0, delivery=0)",
            "faults.crash(b=0)",
            "faults.expire_orphan(b=0)",
            "faults.restart(b=0)",
            "replica.leader_and_isr(b=0, epoch=1, p=0)",
        ],
        "step 8, replica.leader_and_isr(b=0, epoch=1, p=0), cannot be driven: the request would have to reach the next "
        "process of broker 0",
    ),
    (
        "partition",
        "legacy",
        [
            *RULING,
            "faults.crash(b=0)",
            "machines.create_first_state(b=1, p=0, delivery=0)",
            "faults.expire_orphan(b=0)",
            "faults.restart(b=0)",
            "replica.leader_and_isr(b=0, epoch=1, p=0)",
        ],
        "step 8, replica.leader_and_isr(b=0, epoch=1, p=0), cannot be driven: the request would have to reach the next "
        "process of broker 0",
    ),
]


@pytest.mark.parametrize("system, variant, steps, wanted", REFUSED)
def test_what_cannot_be_driven_is_refused_before_anything_starts(kafkaproof, tmp_path, system, variant, steps, wanted):
    run = write_run(tmp_path / "run", system, variant, *steps)
    assert wanted in kafkaproof("run", "--from-counterexample", run, "--directory", "c").complaint
    assert not (tmp_path / "c").exists()


def test_a_step_whose_module_had_another_name_is_driven_as_it_is_called_today(tmp_path):
    run = write_run(tmp_path / "run", "election", "legacy", "former.start(b=0) -> OK", *STANDING[1:])
    assert list(read_counterexample(run).steps) == STANDING


def test_a_scope_that_is_none(kafkaproof, tmp_path):
    run = write_run(tmp_path / "run", "election", "legacy", *STANDING)
    result = json.loads((run / "result.json").read_text())
    for scope in ({}, {"brokers": 2}, result["scope"] | {"brokers": 0}, result["scope"] | {"brokers": 99}):
        (run / "result.json").write_text(json.dumps(result | {"scope": scope}))
        complaint = kafkaproof("run", "--from-counterexample", run, "--directory", "c").complaint
        assert "is no scope of election" in complaint


def test_a_run_without_a_counterexample(kafkaproof, tmp_path):
    def complain(*more):
        return kafkaproof("run", "--from-counterexample", *more, "--directory", "c").complaint

    assert "not a run directory" in complain(tmp_path)
    run = write_run(tmp_path / "run", "partition", "legacy", *RULING, loop=2)
    assert "no counterexample of any property in it that comes to an end" in complain(run)
    assert "no counterexample of mine" in complain(run, "--property", "mine")
    assert "--from-counterexample and --chaos" in complain(run, "--chaos", 1)
    (run / "result.json").write_text("[]")
    assert "not the result of a run" in complain(run)
    (run / "result.json").unlink()
    assert "the run has not ended" in complain(run)
    assert "--property needs --from-counterexample" in kafkaproof("run", "--property", "p").complaint
