"""What explains a change of a partition state, and what does not: logs written by hand."""

import pytest

from kafkaproof.traces.evidence.shutdowns import LEAVES_WITHIN
from tests.traces.partition_log import Log, cluster

ENABLED = {"version": 1, "config": {"unclean.leader.election.enable": "true"}}
RECOVERING = {"leader_recovery_state": 1}
FORBIDDEN = {"version": 1, "config": {"unclean.leader.election.enable": "false"}}


def leaderless(config: dict | None = None) -> Log:
    """The ISR of t-0 was [2] alone, and broker 2 is dead: no leader. Brokers 1 and 3 live."""
    log = cluster(2)
    if config:
        log.znode("/config/topics/t", config)
    log.leave(2)
    log.state(1, -1, [2], 1)
    return log


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


def test_a_reassignment_of_2_4():
    log = cluster()
    log.join(4)
    log.topic(4, 3, 2, 1, adding=(4,), removing=(2, 1))
    log.state(1, 2, [2, 3, 1], 1)
    assert log.why() == ("epoch_bump", "reassignment")
    log.state(1, 2, [2, 3, 1, 4], 1)
    assert log.why() == ("isr_expand", "AlterPartition")
    log.state(1, 4, [2, 3, 1, 4], 2)
    assert log.why() == ("reassign", "reassignment")
    log.state(1, 4, [3, 1, 4], 3)
    assert log.why() == ("remove_from_isr", "reassignment")
    log.state(1, 4, [3, 4], 4)
    log.topic(4, 3)
    log.state(1, 4, [4, 3], 5)
    assert log.why() is None


def test_a_reassignment_goes_by_the_order_of_its_target():
    log = cluster()
    log.topic(1, 3, 2, removing=(2,))
    log.state(1, 3, [2, 3, 1], 1)
    log.wait(LEAVES_WITHIN // 1000 + 1)
    assert log.why() is None


def test_a_reassignment_up_to_2_3():
    log = cluster(checked=False)
    log.join(4)
    wanted = {"topic": "t", "partition": 0, "replicas": [4, 3]}
    log.znode("/admin/reassign_partitions", {"partitions": [wanted]})
    log.topic(4, 3, 2, 1)
    log.state(1, 2, [2, 3, 1], 1)
    assert log.why("legacy") == ("epoch_bump", "reassignment")
    log.state(2, 2, [2, 3, 1, 4], 1)
    assert log.why("legacy") == ("isr_expand", "leader's own write")
    log.state(1, 4, [2, 3, 1, 4], 2)
    assert log.why("legacy") == ("reassign", "reassignment")
    log.state(1, 4, [3, 1, 4], 3)
    assert log.why("legacy") == ("remove_from_isr", "reassignment")
    log.state(1, 4, [1, 4], 4)
    log.wait(LEAVES_WITHIN // 1000 + 1)
    assert log.why("legacy") is None


def test_an_epoch_is_not_raised_for_nothing():
    log = cluster()
    log.state(1, 2, [2, 3, 1], 1)
    log.wait(LEAVES_WITHIN // 1000 + 1)
    assert log.why() is None


def test_a_deletion_takes_replica_by_replica():
    log = cluster()
    log.znode("/admin/delete_topics/t", {})
    for epoch, (leader, isr) in enumerate([(2, [2, 1]), (-1, [1]), (-1, [1])], start=1):
        log.state(1, leader, isr, epoch)
        assert log.why() == ("remove_from_isr", "topic deletion")


def test_a_topic_that_is_being_deleted_gets_no_leader():
    log = leaderless()
    log.znode("/admin/delete_topics/t", {})
    log.elect(3)
    log.join(2)
    log.state(3, 2, [2], 2)
    assert log.why() is None


def test_a_failed_log_directory_takes_a_replica_offline():
    for told, expected in ((True, ("remove_from_isr", "log directory failure")), (False, None)):
        log = cluster()
        if told:
            log.znode("/log_dir_event_notification/log_dir_event_0000000000", {"broker": 3}, 3)
        log.state(1, 2, [2, 1], 1)
        log.wait(LEAVES_WITHIN // 1000 + 1)
        assert log.why() == expected


def test_a_failed_log_directory_of_a_leader():
    for told, expected in ((True, ("offline", "log directory failure")), (False, None)):
        log = cluster()
        if told:
            log.znode("/log_dir_event_notification/log_dir_event_0000000000", {"broker": 2}, 2)
        log.state(1, 3, [3, 1], 1)
        log.wait(LEAVES_WITHIN // 1000 + 1)
        assert log.why() == expected


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
