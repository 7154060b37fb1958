"""What explains what a reassignment, a deletion or a failed log directory writes, and what does not."""

from kafkaproof.traces.evidence.shutdowns import LEAVES_WITHIN
from tests.traces.partition_log import cluster, leaderless


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
