"""Unmodified Kafka, where its jars can be had: a cluster that breaks and mends, and brokers driven along counterexamples."""

import json
from pathlib import Path

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.cluster import model as cluster
from tests.checker.test_cluster_system import LOSS
from tests.impl.test_along import FENCED, FOREIGN_DELETE, LANDS, NOBODY_STANDS, STAYS_NEW
from tests.impl.test_conductor import write_run
from tests.impl.test_reproduction import ALONE


def counterexample(directory, variant, trace):
    """A run directory with one counterexample."""
    directory.mkdir()
    (directory / "run.json").write_text("{}")
    scope = {**find("partition", variant)[0].scope, "brokers": 2}
    (directory / "result.json").write_text(
        json.dumps(
            {
                "system": "partition",
                "variant": variant,
                "scope": scope,
                "violations": [{"property": "p", "trace": trace}],
            }
        )
    )
    return directory


@pytest.mark.parametrize(
    "release, variant, trace",
    [
        ("3.9.1", "fenced", STAYS_NEW),
        pytest.param("3.9.1", "fenced", FENCED, marks=pytest.mark.real),
        pytest.param("1.1.1", "legacy", LANDS, marks=pytest.mark.real),
        pytest.param("1.1.1", "legacy", STAYS_NEW, marks=pytest.mark.real),
        pytest.param("2.8.2", "fenced", STAYS_NEW, marks=pytest.mark.real),
    ],
)
def test_a_counterexample_is_reproduced(kafka, tmp_path, capsys, release, variant, trace):
    run = counterexample(tmp_path / "run", variant, trace)
    code = main(
        [
            "run",
            "--kafka",
            kafka(release),
            "--from-counterexample",
            str(run),
            "--directory",
            str(tmp_path / "c"),
            "--json",
        ]
    )
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    assert code == 0 and any(line.get("reproduced") for line in told), told[-3:]
    assert [line["step"] for line in told if "step" in line] == [line["plan"] for line in told if "plan" in line]
    assert main(["replay", str(tmp_path / "c"), "--expect", "C4"]) == 0


BUNDLED = Path(__file__).parents[2] / "traces" / "counterexamples"


@pytest.mark.real
@pytest.mark.parametrize(
    "name",
    [
        "living-leader-forced-out",
        "shutting-down-leader-replaced",
        "late-answer-ends-deletion",
        "epoch-edited",
        "nobody-stands",
    ],
)
def test_bundled_counterexamples_are_reproduced_and_their_controls_are_not(kafka, tmp_path, kafkaproof, name):
    asked = ["run", "--kafka", kafka("3.9.1"), "--from-counterexample", BUNDLED / f"{name}.json", "--directory"]
    shown = kafkaproof(*asked, tmp_path / "seen")
    assert shown.code == 0 and "reproduced: every step was taken" in shown.out
    shown = kafkaproof(*asked, tmp_path / "not", "--control")
    assert shown.code == 0 and "the control ends without the violation" in shown.out


@pytest.mark.real
def test_what_was_sent_to_a_process_is_obeyed_by_the_next(kafka, tmp_path, kafkaproof):
    shown = kafkaproof(
        "run",
        "--kafka",
        kafka("1.1.1"),
        "--from-counterexample",
        BUNDLED / "1.1.1-former-is-obeyed.json",
        "--directory",
        tmp_path / "c",
    )
    assert shown.code == 0 and "reproduced: every step was taken" in shown.out


@pytest.mark.real
@pytest.mark.parametrize(
    "release, variant, trace, name",
    [("1.1.1", "legacy", FOREIGN_DELETE, "deletes_own"), ("3.9.1", "fenced", NOBODY_STANDS, "one_controller")],
)
def test_an_election_is_gone_along_from_before_the_brokers_start(
    kafka, tmp_path, kafkaproof, release, variant, trace, name
):
    sizes = find("election", variant)[0].scope | {"brokers": 2}
    run = write_run(tmp_path / "run", "election", variant, *trace, name=name, scope=sizes)
    shown = kafkaproof("run", "--kafka", kafka(release), "--from-counterexample", run, "--directory", tmp_path / "c")
    assert shown.code == 0 and "reproduced: every step was taken" in shown.out


@pytest.mark.real
@pytest.mark.parametrize(
    "trace, name, scope, more, wanted",
    [
        (
            LOSS.split("\n")[1:-1],
            "committed",
            "deep",
            {},
            "record-0, acknowledged with acks=all by broker 0 at offset 0, is in no log",
        ),
        (
            ALONE,
            "alone_acknowledges",
            "quick",
            {"loop": len(ALONE)},
            "record-0 is not acknowledged by broker 0, which is alone in the ISR",
        ),
    ],
    ids=["lost", "alone"],
)
def test_what_is_violated_is_seen_from_outside_and_in_the_control_it_is_not(
    kafka, tmp_path, capsys, trace, name, scope, more, wanted
):
    sizes = cluster.FENCED.scopes[scope]
    run = write_run(tmp_path / "run", "cluster", "fenced", *trace, name=name, scope=sizes, **more)
    asked = ["run", "--kafka", kafka("3.9.1"), "--from-counterexample", str(run), "--json", "--directory"]
    assert main([*asked, str(tmp_path / "seen")]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    (seen,) = [line["seen"] for line in told if line.get("reproduced")]
    assert seen == [wanted]
    assert main([*asked, str(tmp_path / "not"), "--control"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    assert any("control" in line for line in told) and not any(line.get("reproduced") for line in told)
    assert main(["replay", str(tmp_path / "seen")]) == 0


@pytest.mark.real
@pytest.mark.parametrize("name", ["3.9.1-failed-shutdown", "3.9.1-cancelled-reassignment"])
def test_what_comes_with_kafkaproof_is_reproduced_and_not_in_its_control(kafka, tmp_path, capsys, name):
    trace = Path(__file__).parents[2] / "traces" / "recordings" / name / "counterexample.json"
    asked = ["run", "--kafka", kafka("3.9.1"), "--from-counterexample", str(trace), "--json", "--directory"]
    assert main([*asked, str(tmp_path / "seen")]) == 0
    assert any(json.loads(line).get("reproduced") for line in capsys.readouterr().out.splitlines() if line[0] == "{")
    assert main([*asked, str(tmp_path / "not"), "--control"]) == 0
    assert main(["replay", str(tmp_path / "seen")]) == 0


@pytest.mark.real
@pytest.mark.parametrize("release", ["3.9.1", "2.8.2", "1.1.1"])
def test_chaos_loses_nothing_and_conforms(kafka, tmp_path, release):
    assert (
        main(
            [
                "run",
                "--kafka",
                kafka(release),
                "--chaos",
                "1",
                "--seconds",
                "60",
                "--load",
                "--directory",
                str(tmp_path / "c"),
            ]
        )
        == 0
    )
    assert main(["replay", str(tmp_path / "c"), "--expect", "C4"]) == 0


LOST_ANSWER = {
    "time": 1,
    "fault": "lose_frame",
    "broker": 0,
    "link": "zookeeper",
    "pattern": {"part": "answer", "operation": "multi", "path": ".*/events/partitions/0/state"},
}


@pytest.mark.real
@pytest.mark.parametrize(
    "session, acts",
    [
        (20, [LOST_ANSWER, {"time": 1, "fault": "kill", "broker": 1}]),
        (6, [{"time": 1, "fault": "kill", "broker": 0}]),
        (6, [LOST_ANSWER, {"time": 1, "fault": "expire", "broker": 1}, {"time": 9, "fault": "delete_controller"}]),
    ],
)
def test_our_brokers_come_to_what_real_ones_come_to(kafka, tmp_path, kafkaproof, session, acts):
    (tmp_path / "faults.jsonl").write_text("".join(json.dumps(act) + "\n" for act in acts))
    shown = kafkaproof(
        "run",
        "--kafka",
        kafka("3.9.1"),
        "--brokers",
        2,
        "--faults",
        tmp_path / "faults.jsonl",
        "--compare",
        "--session-timeout",
        session,
        "--directory",
        tmp_path / "c",
    )
    assert shown.code == 0 and "things were compared, and 0 differ" in shown.out
