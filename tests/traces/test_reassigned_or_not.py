"""A state that a controller's failover may have written, and a reassignment that it resumes just as well: both are kept."""

from pathlib import Path

from partition_log import PARENTS, Log

from kafkaproof.traces.explain.log.streams import explain_streams
from kafkaproof.traces.explain.partitions.ways import BY_REQUEST, FAILOVER, REASSIGNMENT
from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.snapshot import Snapshot, Znode
from kafkaproof.traces.zookeeper.transactions import Check
from tests.traces.replaying import explained, features_of, gather


def moving(*isr: int) -> Log:
    """Brokers 1, 2 and 3 with t-0 on 2, 3, 1, whose ISR this is; its controller, broker 1, begins to move it off broker 2."""
    log = Log(1, 2, 3)
    log.elect(1)
    log.znode("/config/topics/t", {"version": 1, "config": {}})
    assigned = {"version": 2, "adding_replicas": {}, "removing_replicas": {}}
    log.znode("/brokers/topics/t", {**assigned, "partitions": {"0": [2, 3, 1]}})
    log.state(1, 2, [2, 3, 1], 0)
    if isr != (2, 3, 1):
        log.state(1, 2, list(isr), 0)
    moved = {**assigned, "partitions": {"0": [3, 1, 2]}, "removing_replicas": {"0": [2]}}
    log.add(1, Check("/controller_epoch", log.epoch + 1), log.written("/brokers/topics/t", moved))
    log.state(1, 2, list(isr), 1)
    return log


def recorded(log) -> Recording:
    """A log, with the znodes that are there before."""
    return Recording(Path("written"), Snapshot(0, 0, {}, {path: Znode(b"") for path in PARENTS}), log.transactions, [])


def triggers_of(log) -> set[str]:
    """What may have brought about the last change of t-0, when handlers have been asked, too."""
    recording = recorded(log)
    gathered = gather(recording, features_of(recording, "fenced", ""), Members(recording, ""), "")
    return {each.trigger for each in explain_streams(gathered).partitions[-1].explanations}


def test_what_a_failover_or_a_resumed_reassignment_has_written_may_be_either():
    log = moving(2)
    log.leave(2)
    log.state(1, -1, [2], 2)
    log.leave(1)
    log.elect(3)
    log.state(3, -1, [2], 3)
    assert triggers_of(log) == {FAILOVER, REASSIGNMENT}


def test_what_goes_on_with_a_reassignment_is_not_an_election_that_somebody_may_have_asked_for():
    log = moving(2, 3, 1)
    log.state(1, 3, [2, 3, 1], 2)
    assert BY_REQUEST in {each.trigger for each in explained(recorded(log), "fenced")[-1].explanations}
    assert triggers_of(log) == {REASSIGNMENT}
