"""Counterexamples of the composed cluster are driven in running brokers, logs and all, and violated there as well."""

import json

import pytest

from kafkaproof.impl.harness.conducting.counterexample import read_counterexample
from kafkaproof.impl.harness.conducting.replica_messages import batch_of
from kafkaproof.spec.cluster.model import FENCED
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.protocol.batches import read_header
from tests.checker.test_cluster_system import LOSS, ZOMBIE_TELLS_AN_OLD_ISR
from tests.impl.test_conductor import write_run

DEEP = FENCED.scopes["deep"]
STEPS = LOSS.split("\n")[1:-1]
LOGGED = [
    "data_plane.produce(b=0, p=0, acks=0) -> OK",
    "data_plane.serve_fetch(b=0, p=0, follower=1) -> OK",
    "data_plane.receive_answer(b=1, p=0)",
]
LED = [*STEPS[:5], "control.leader_and_isr(b=1, epoch=1, p=0)"]
"""Broker 0 leads, and broker 1 follows."""
TOLD = "cache.update_metadata("
"""What brokers are told besides: who is alive, so that they follow."""


def run_of(tmp_path, *steps):
    """A run directory of the composed cluster, at the scope `deep`."""
    return write_run(tmp_path / "run", "cluster", "fenced", *steps, name="isr_complete", scope=DEEP)


@pytest.mark.parametrize(
    "trace, violated",
    [(LOSS, {"committed", "isr_complete"}), (ZOMBIE_TELLS_AN_OLD_ISR, {"isr_complete"})],
    ids=["loss", "old-isr"],
)
def test_a_zombie_has_a_new_process_lead_with_an_isr_of_the_past(kafkaproof, tmp_path, trace, violated):
    steps = trace.split("\n")[1:-1]
    ran = kafkaproof("run", "--json", "--from-counterexample", run_of(tmp_path, *steps), "--directory", "c")
    told = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 0 and any(line.get("violates") == "isr_complete" for line in told), ran
    taken = [line["step"].split(" ->")[0] for line in told if "step" in line][4:]
    own = [step for step in taken if not step.startswith(TOLD)]
    assert own == [step.split(" ->")[0].replace(", delivery=0", "") for step in steps]
    report = kafkaproof("replay", "--json", "c").json
    assert report["verdict"] == "conforms", report["first_divergence"]
    assert {each["id"] for each in report["violations"]} == violated


def test_a_leader_is_refused_its_own_write_and_waits(kafkaproof, tmp_path):
    """The way to the lasso of `alone_acknowledges`: the answer is lost on the wire, and asked for again."""
    asked = [
        f"control.alter_partition(b=1, p=0, sender=0, isr=1, delivery={delivery}) -> {answer}"
        for delivery, answer in ((1, "LOST"), (0, "BADVERSION"))
    ]
    steps = [*LED, "data_plane.shrink_isr(b=0, p=0, follower=1)", *asked, LOGGED[0].replace("acks=0", "acks=1")]
    assert kafkaproof("run", "--from-counterexample", run_of(tmp_path, *steps), "--directory", "c").code == 0
    report = kafkaproof("replay", "--json", "c").json
    assert (report["verdict"], report["violations"]) == ("conforms", [])


def test_followers_fetch_and_find_their_checkpoint(kafkaproof, tmp_path):
    fetched = ["data_plane.serve_fetch(b=0, p=0, follower=1) -> OK", "data_plane.receive_answer(b=1, p=0)"]
    again = ["faults.crash(b=1)", "faults.expire_orphan(b=1)", "faults.restart(b=1, hw=1)"]
    run = run_of(tmp_path, *LED, *LOGGED, *fetched, *fetched, *again)
    assert kafkaproof("run", "--from-counterexample", run, "--directory", "c").code == 0
    found = json.loads((tmp_path / "c" / "recording" / "broker-1.2.jsonl").read_text().splitlines()[0])["found"]
    assert (found[0]["length"], found[0]["hw"]) == (1, 1)
    report = kafkaproof("replay", "--json", "c").json
    assert (report["verdict"], report["violations"]) == ("conforms", [])


@pytest.mark.parametrize(
    "steps, wanted",
    [
        (
            ["faults.queue_deletion()"],
            "step 1, faults.queue_deletion(), cannot be driven: brokers that create and delete "
            "topics, and reassign partitions, have no such step",
        ),
        (["faults.fail_log_dir(b=0, p=0)"], "no controller has told broker 0 of the replica whose log directory fails"),
        (["faults.ask_for_election(kind=1)"], "elections that an administrator asks for by a request are not served"),
    ],
)
def test_what_has_no_equivalent_is_refused_before_anything_starts(kafkaproof, tmp_path, steps, wanted):
    assert wanted in kafkaproof("run", "--from-counterexample", run_of(tmp_path, *steps), "--directory", "c").complaint
    assert not (tmp_path / "c").exists()


def test_each_step_is_told_what_its_message_says(tmp_path):
    found = read_counterexample(run_of(tmp_path, *STEPS))
    assert [step for step in found.steps if not step.startswith(TOLD)] == STEPS
    read = list(zip(found.steps, found.contents))
    told = [content for step, content in read if step == "control.leader_and_isr(b=0, epoch=1, p=0)"]
    assert told == [{"leader": 0, "leader_epoch": 0, "isr": isr} for isr in ([0, 1], [0])]
    contents = dict(read)
    assert contents["control.alter_partition(b=1, p=0, sender=0, isr=1, delivery=0) -> OK"] == {
        "isr": 1,
        "leader_epoch": 0,
    }
    assert contents["data_plane.serve_fetch(b=0, p=0, follower=1) -> OK"]["fields"]["offset"] == 0


def test_an_answer_names_the_batch_that_stands_for_the_record(tmp_path):
    answer = read_counterexample(run_of(tmp_path, *LED, *LOGGED)).contents[-1]["fields"]
    assert answer["id"] == read_header(batch_of(0, 0)).crc != read_header(batch_of(1, 0)).crc


def test_a_checkpoint_that_no_process_wrote(tmp_path):
    """With two records committed, one that knows of the first alone."""
    fetched = [LOGGED[1], LOGGED[2]]
    steps = [*LED, LOGGED[0], LOGGED[0], *fetched * 4, "faults.crash(b=1)", "faults.expire_orphan(b=1)"]
    run = write_run(
        tmp_path / "run",
        "cluster",
        "fenced",
        *steps,
        "faults.restart(b=1, hw=1)",
        scope=DEEP | {"log": 2, "records": 2},
    )
    with pytest.raises(UserError, match="the checkpoint that it finds would have to be neither its last one, 2, nor"):
        read_counterexample(run)
