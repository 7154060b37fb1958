"""``kafkaproof refine``: what it prints, exit codes, wrong use."""

import json

import pytest

QUICK = ("refine", "replica", "--scope", "quick")
WITHOUT = (*QUICK, "--without", "leader_shrink_isr_unseen")


def test_it_tells_that_every_behaviour_is_followed_and_what_had_to_be_added(kafkaproof):
    answer = kafkaproof(*QUICK)
    assert answer.code == 0
    assert "replica/current" in answer.out and "refines replication/kip320" in answer.out
    assert "2,618" in answer.out and "follower_fetch_nothing" in answer.out


def test_it_shows_the_step_that_none_follows_and_why(kafkaproof):
    answer = kafkaproof(*WITHOUT)
    assert answer.code == 1 and "DIVERGES from replication/kip320" in answer.out
    *_, last, reason = answer.out.strip().splitlines()
    assert last.strip() == "controller.alter_partition(sender=0) -> OK"
    assert reason == "since this cannot hold: equal are zk.leader, zk.leader_epoch, zk.isr, clients.next_record."


def test_a_divergence_as_json_is_a_trace_that_can_be_shown(kafkaproof, tmp_path):
    answer = kafkaproof(*WITHOUT, "--json")
    found = answer.json
    assert answer.code == 1 and found["verdict"] == "diverges" and found["without"] == ["leader_shrink_isr_unseen"]
    assert [step["step"] for step in found["abstract"]["added"]] == ["follower_fetch_nothing"]
    (tmp_path / "found.json").write_text(json.dumps(found))
    assert "controller.alter_partition" in kafkaproof("show", "found.json", "--text").out


def test_a_limit_is_an_answer_that_is_not_finished(kafkaproof):
    answer = kafkaproof("refine", "replica", "--variant", "fenced", "--max-states", 100, "--json")
    assert answer.code == 3 and answer.json["verdict"] == "incomplete" and answer.json["variant"] == "fenced"
    assert answer.json["states"] >= 100 and "trace" not in answer.json


def test_the_offsets_log_of_groups_is_followed_by_their_contract(kafkaproof):
    answer = kafkaproof("refine", "group", "--brokers", 2, "--epochs", 1, "--records", 1, "--faults", 0, "--json")
    assert answer.code == 0 and answer.json["states"] == 3_490
    assert (answer.json["system"], answer.json["abstract"]["system"]) == ("replica", "offsets-log")


def test_an_election_in_steps_is_followed_by_one_in_one_step(kafkaproof):
    answer = kafkaproof("refine", "electing", "--json")
    assert answer.code == 0 and answer.json["states"] == 8_244
    assert (answer.json["variant"], answer.json["abstract"]["variant"]) == ("electing-fenced", "fenced")


def test_what_the_abstract_model_loses_is_told(kafkaproof):
    answer = kafkaproof(*QUICK, "--epochs", 2, "--unclean", 1)
    assert answer.code == 0 and "violates strong_isr, in 8 states" in answer.out


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["election"], "election has no abstract model; those that have one are replica, electing, group"),
        (["replica", "--variant", "nothing"], "replica has no variant 'nothing'"),
        (["replica", "--without", "elect_unclean"], "no such step is added at this scope; added are leader_shrink"),
        (["replica", "--partitions", "2"], "replica has no bound 'partitions'"),
    ],
)
def test_wrong_use_is_told_in_a_line(kafkaproof, arguments, complaint):
    assert complaint in kafkaproof("refine", *arguments).complaint
