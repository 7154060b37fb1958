"""What explains a change of a partition state, and what does not: logs written by hand."""

import pytest

from kafkaproof.traces.evidence.shutdowns import LEAVES_WITHIN
from tests.traces.partition_log import Log, cluster

FORBIDDEN = {"version": 1, "config": {"unclean.leader.election.enable": "false"}}


def test_a_new_partition_has_all_online_replicas():
    log = Log(1, 2)
    log.elect(1)
    log.topic(3, 2, 1)
    log.state(1, 2, [2, 1], 0)
    assert log.why() == ("new_topic", "topic creation")


def test_a_new_controller_finishes_a_creation():
    log = Log(1, 2, 3)
    log.elect(1)
    log.topic(2, 3, 1)
    log.elect(3)
    log.state(3, 2, [2, 3, 1], 0)
    assert log.why() == ("new_topic", "controller failover")


def test_a_partition_waits_for_its_first_replica():
    log = Log(1)
    log.elect(1)
    log.topic(2, 3)
    log.join(3)
    log.state(1, 3, [3], 0)
    assert log.why() == ("new_topic", "broker start-up")


def test_a_dead_leader_is_replaced_in_the_order_of_the_assignment():
    for leader, expected in ((3, ("offline", "broker failure")), (1, None)):
        log = cluster()
        log.leave(2)
        log.state(1, leader, [3, 1], 1)
        assert log.why() == expected


def test_an_isr_cannot_gain_a_broker_by_an_election():
    log = cluster(2, 3)
    log.leave(2)
    log.state(1, 3, [3, 1], 1)
    assert log.why() is None


def test_a_dead_follower_is_removed_and_a_live_one_is_not():
    log = cluster()
    log.leave(3)
    log.state(1, 2, [2, 1], 1)
    assert log.why() == ("remove_from_isr", "broker failure")
    log = cluster()
    log.leave(3)
    log.state(1, 2, [2, 3], 1)
    log.wait(LEAVES_WITHIN // 1000 + 1)
    assert log.why() is None


def test_a_new_controller_removes_who_died_before():
    log = cluster()
    log.leave(3)
    log.elect(2)
    log.state(2, 2, [2, 1], 1)
    assert log.why() == ("remove_from_isr", "controller failover")


def test_the_view_only_moves_forward():
    log = cluster()
    log.leave(3)
    log.state(1, 2, [2, 1], 1)
    log.leave(2)
    log.state(1, -1, [1], 2)
    assert [bool(each.explanations) for each in log.explained()] == [True, True, True]
    log = cluster()
    log.leave(3)
    log.join(3)
    log.leave(2)
    log.state(1, 3, [3, 1], 1)
    log.state(1, 3, [1], 2)
    log.wait(LEAVES_WITHIN // 1000 + 1)
    assert [bool(each.explanations) for each in log.explained()] == [True, True, False]


def test_a_leader_that_shuts_down_hands_over():
    log = cluster()
    log.state(1, 3, [3, 1], 1)
    log.leave(2)
    assert log.why() == ("controlled_shutdown", "controlled shutdown")


def test_nobody_shuts_down_who_stays_or_is_elected_again():
    log = cluster()
    log.state(1, 3, [3, 1], 1)
    log.wait(LEAVES_WITHIN // 1000 + 1)
    log.leave(2)
    assert log.why() is None
    log = cluster()
    log.state(1, 3, [3, 1], 1)
    log.state(3, 3, [3, 1, 2], 1, 1)
    log.state(1, 2, [3, 1, 2], 2)
    log.leave(2)
    assert log.explained()[1].explanations == ()


def test_from_3_3_on_no_broker_is_let_in_that_is_gone():
    log = cluster()
    log.leave(3)
    log.state(1, 2, [2, 1], 1)
    log.state(1, 2, [2, 1, 3], 1)
    assert log.why("3.2") == ("isr_expand", "AlterPartition")
    assert log.why("3.3") is None
    assert "spec/partition/isr.py" in log.explained("3.3")[-1].text
    log.transactions.pop()
    log.join(3)
    log.state(1, 2, [2, 1, 3], 1)
    assert log.why("3.3") == ("isr_expand", "AlterPartition")


def test_a_later_controller_lets_in_who_asked_an_earlier_one_for_a_shutdown():
    log = cluster()
    log.state(1, 2, [2, 1], 1)
    log.state(1, 2, [2, 1, 3], 1)
    log.leave(3)
    assert log.explained("3.3")[-2].explanations[0][:2] == ("remove_from_isr", "controlled shutdown")
    assert log.why("3.3") is None
    log.transactions[-2:] = []
    log.elect(2)
    log.state(2, 2, [2, 1, 3], 1)
    log.leave(3)
    assert log.why("3.3") == ("isr_expand", "AlterPartition")


def test_who_is_not_controller_writes_no_isr_for_a_leader():
    log = cluster()
    log.state(2, 2, [2, 3], 0)
    assert "neither leader nor controller" in log.explained()[-1].text


def test_nobody_writes_in_an_epoch_that_is_yet_to_be_won():
    log = cluster()
    log.leave(3)
    log.state(1, 2, [2, 1], 1, epoch=2)
    log.elect(1)
    assert "who did not win it" in log.explained()[-1].text


def test_the_last_member_leaves_an_isr_up_to_1_0_only():
    log = cluster(2, checked=False)
    log.leave(2)
    log.state(1, -1, [], 1)
    assert log.why("zkclient") == ("remove_from_isr", "broker failure")
    assert log.why("legacy") is None
    log = cluster(2, checked=False)
    log.znode("/config/topics/t", FORBIDDEN)
    log.leave(2)
    log.state(1, -1, [], 1)
    assert log.why("zkclient") == ("remove_from_isr", "broker failure")


def test_a_topic_that_is_created_again_has_a_new_assignment():
    log = cluster()
    log.elect(3)
    log.znode("/brokers/topics/t/partitions/0/state")
    log.znode("/brokers/topics/t")
    log.topic(3, 1)
    log.state(3, 3, [3, 1], 0)
    assert log.why() == ("new_topic", "topic creation")
    log = cluster()
    log.znode("/brokers/topics/t/partitions/0/state")
    log.znode("/brokers/topics/t")
    log.topic(3, 1)
    log.state(1, 2, [2, 3, 1], 0)
    assert log.why() is None


@pytest.mark.parametrize(
    "content", [{"leader": 2}, {"leader": 2, "leader_epoch": 1, "controller_epoch": 1, "isr": [[2]]}]
)
def test_what_is_no_partition_state_is_unexplained(content):
    log = cluster()
    log.znode("/brokers/topics/t/partitions/0/state", content)
    assert log.explained()[-1].text == "what is written is no partition state"


@pytest.mark.parametrize(
    "content",
    [
        {"partitions": 1},
        {"partitions": [1, {"partition": []}, {"topic": []}]},
        {"partitions": [{"topic": "t", "partition": 0, "replicas": "1,2"}]},
    ],
)
def test_senseless_znodes_explain_nothing(content):
    log = Log(1, 2, 3)
    for path in ("/admin/reassign_partitions", "/admin/preferred_replica_election", "/config/brokers/<default>"):
        log.znode(path, content)
    log.znode("/brokers/topics/t", content)
    log.znode("/config/topics/t", {"config": [1]})
    log.elect(1)
    log.state(1, 2, [2], 0)
    log.leave(2)
    log.state(1, 3, [3], 1)
    assert [each.explanations for each in log.explained()] == [(), ()]


def test_a_reassignment_of_a_topic_that_is_not_there_explains_no_creation():
    log = Log(1, 2)
    log.elect(1)
    log.znode("/admin/reassign_partitions", {"partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2]}]})
    log.state(1, 1, [1, 2], 0)
    assert log.why() is None
