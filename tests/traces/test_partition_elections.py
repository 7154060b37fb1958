"""What explains an election of a leader, and what does not: unclean ones, preferred ones, and over what others wrote."""

import pytest

from kafkaproof.traces.evidence.shutdowns import LEAVES_WITHIN
from tests.traces.partition_log import cluster, leaderless

ENABLED = {"version": 1, "config": {"unclean.leader.election.enable": "true"}}
RECOVERING = {"leader_recovery_state": 1}
FORBIDDEN = {"version": 1, "config": {"unclean.leader.election.enable": "false"}}


def test_an_unclean_election_needs_a_dead_isr():
    log = cluster(2, 3)
    log.znode("/config/topics/t", ENABLED)
    log.leave(2)
    log.state(1, 1, [1], 1)
    log.wait(LEAVES_WITHIN // 1000 + 1)
    assert log.why() is None


@pytest.mark.parametrize(
    "variant, path, content, expected",
    [
        ("legacy", None, None, None),
        ("legacy", "/config/topics/t", ENABLED, ("offline_unclean", "unclean election enabled")),
        ("legacy", "/config/brokers/<default>", ENABLED, ("offline_unclean", "unclean election enabled")),
        ("fenced", None, None, ("offline_unclean", "unclean election requested")),
        ("fenced", "/config/topics/t", ENABLED, ("offline_unclean", "unclean election enabled")),
        ("zkclient", None, None, ("offline_unclean", "controller failover")),
    ],
)
def test_what_allows_an_unclean_election(variant, path, content, expected):
    log = leaderless()
    if path:
        log.znode(path, content)
    log.state(1, 3, [3], 2)
    assert log.why(variant) == expected


def test_before_2_4_no_request_makes_an_election_unclean():
    log = cluster(2, topics=1)
    log.leave(2)
    log.state(1, -1, [2], 1)
    log.state(1, 3, [3], 2)
    assert log.why("fenced") is None


def test_what_forbids_an_unclean_election():
    for variant, expected in (("legacy", None), ("zkclient", None), ("fenced", "unclean election requested")):
        log = leaderless(FORBIDDEN)
        log.state(1, 3, [3], 2)
        assert log.why(variant) == (expected and ("offline_unclean", expected))


def test_a_leader_from_outside_the_isr_recovers_alone():
    log = leaderless()
    log.state(1, 3, [3], 2, **RECOVERING)
    assert log.why() == ("offline_unclean", "unclean election requested")
    log.leave(3)
    log.state(1, -1, [3], 3, **RECOVERING)
    log.join(3)
    log.state(1, 3, [3], 4, **RECOVERING)
    assert all(each.explanations for each in log.explained())
    log.state(1, 3, [1, 3], 4, **RECOVERING)
    assert "RECOVERING" in log.explained()[-1].text
    log.transactions.pop()
    log.state(1, 3, [1, 3], 4)
    assert log.why() == ("isr_expand", "AlterPartition")


def test_nobody_begins_to_recover_in_the_isr():
    log = leaderless()
    log.join(2)
    log.state(1, 2, [2], 2, **RECOVERING)
    assert "RECOVERING" in log.explained()[-1].text


def test_an_unclean_election_goes_by_the_order_of_the_assignment():
    log = leaderless()
    log.znode("/config/topics/t", ENABLED)
    log.state(1, 1, [1], 2)
    log.wait(LEAVES_WITHIN // 1000 + 1)
    assert log.why() is None


def test_a_broker_that_returns_leads_again():
    log = leaderless()
    log.join(2)
    log.state(1, 2, [2], 2)
    assert log.why() == ("offline", "broker start-up")


def test_the_preferred_replica_by_znode_or_by_request():
    for listed, expected in ((True, "preferred election by znode"), (False, "preferred election by request or timer")):
        log = cluster()
        log.leave(2)
        log.state(1, 3, [3, 1], 1)
        log.join(2)
        log.state(1, 3, [3, 1, 2], 1)
        if listed:
            log.znode("/admin/preferred_replica_election", {"partitions": [{"topic": "t", "partition": 0}]})
        log.state(1, 2, [3, 1, 2], 2)
        assert log.why() == ("preferred", expected)


def test_a_needless_preferred_election_is_written_in_1_1_to_2_1_only():
    log = cluster(2, 3, topics=1)
    log.znode("/admin/preferred_replica_election", {"partitions": [{"topic": "t", "partition": 0}]})
    log.state(1, 2, [2, 3], 1)
    assert log.why("zkclient") is None
    assert log.why("legacy") == log.why("fenced") == ("preferred", "preferred election by znode")
    log.znode("/brokers/topics/other", {"version": 2, "partitions": {"0": [1]}})
    assert log.why("fenced") is None


def test_a_controller_of_1_1_elects_over_what_another_wrote_behind_its_back():
    """An ended term made broker 2 leader; the controller, to which another one leads, makes it leader again."""
    for led, expected in ((3, ("preferred", "preferred election by request or timer")), (2, None)):
        log = cluster(checked=False)
        log.state(1, led, [2, 3, 1], 1)
        log.elect(3)
        log.state(1, 2, [2, 3, 1], 2, epoch=1)
        log.state(3, 2, [2, 3, 1], 3)
        assert log.why("legacy") == expected
        assert log.why("fenced") is None


def test_a_leader_that_the_controller_of_1_1_does_not_know_of_leaves_no_leader():
    """An ended term made broker 2 leader again; the controller, to which broker 3 leads, only takes broker 2 out."""
    for leader, isr, expected in ((-1, [3, 1], ("remove_from_isr", "controlled shutdown")), (-1, [2, 1], None)):
        log = cluster(checked=False)
        log.elect(3)
        log.state(3, 3, [2, 3, 1], 1)
        log.state(1, 2, [2, 3, 1], 2, epoch=1)
        log.state(3, leader, isr, 3)
        log.leave(2)
        assert log.why("legacy") == expected
        assert log.why("fenced") is None


def test_a_dead_broker_that_the_controller_of_1_1_takes_for_the_leader_is_replaced():
    """An ended term made broker 1 leader; the controller, to which broker 3 led, elects when that one dies."""
    log = cluster(checked=False)
    log.state(1, 3, [2, 3, 1], 1)
    log.elect(2)
    log.state(1, 1, [2, 3, 1], 2, epoch=1)
    log.leave(3)
    log.state(2, 2, [2, 1], 3)
    assert log.why("legacy") == ("offline", "broker failure")


def test_a_broker_that_the_controller_of_1_1_takes_for_the_leader_hands_over():
    """An ended term made broker 1 leader; the controller, to which broker 3 led, elects when that one shuts down."""
    log = cluster(checked=False)
    log.state(1, 3, [2, 3, 1], 1)
    log.elect(2)
    log.state(1, 1, [2, 3, 1], 2, epoch=1)
    log.state(2, 2, [2, 1], 3)
    log.leave(3)
    assert log.why("legacy") == ("controlled_shutdown", "controlled shutdown")
