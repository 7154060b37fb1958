"""Logs of other clusters: begun in the middle, edited by hand, of Kafka up to 1.0, too uncertain to decide."""

import json
from pathlib import Path

import pytest

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.traces.evidence.features import RANGES
from kafkaproof.traces.explain.election import possibilities
from kafkaproof.traces.reading.cluster import Members, find_root
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.snapshot import Snapshot
from kafkaproof.traces.zookeeper.transactions import (
    CloseSession,
    Create,
    CreateSession,
    Delete,
    Failure,
    SetData,
    Transaction,
)
from tests.traces.replaying import FENCED, altered, cut, features_of, first, read, replay, replayed, with_operations

DRIVER = 0x1000012C9B10000
STATE = "/brokers/topics/t/partitions/0/state"


def log(*steps: tuple) -> Recording:
    """A recording of records (session, operation)."""
    transactions = [
        Transaction(zxid, session, 0 if isinstance(operation, CloseSession) else zxid, 1000 * zxid, (operation,))
        for zxid, (session, operation) in enumerate(steps, 1)
    ]
    return Recording(Path("made"), None, transactions, [])


def create(path: str, data: bytes = b"", ephemeral: bool = False) -> Create:
    return Create(path, data, ephemeral, -1)


def state(leader: int, leader_epoch: int, epoch: int) -> bytes:
    found = {"version": 1, "leader": leader, "leader_epoch": leader_epoch, "controller_epoch": epoch, "isr": [1, 2]}
    return json.dumps(found).encode()


def controller(broker: int) -> Create:
    return create("/controller", b'{"version":1,"brokerid":%d,"timestamp":"1"}' % broker, ephemeral=True)


REGISTRATION = b'{"version":1,"host":"h","port":9092,"jmx_port":-1,"timestamp":"1"}'
OLD_CLUSTER = (
    (1, CreateSession(3000)),
    (2, CreateSession(3000)),
    *((1, create(path)) for path in ("/brokers", "/brokers/ids", "/brokers/topics")),
    (1, controller(1)),
    (1, Failure(-101)),
    (1, create("/controller_epoch", b"1")),
    *((broker, create(f"/brokers/ids/{broker}", REGISTRATION, ephemeral=True)) for broker in (1, 2)),
    (1, create("/brokers/topics/t", b'{"version":1,"partitions":{"0":[1,2]}}')),
    (1, create("/brokers/topics/t/partitions")),
    (1, create("/brokers/topics/t/partitions/0")),
    (1, create(STATE, state(1, 0, 1))),
    (1, CloseSession(None)),
    (2, controller(2)),
    (2, SetData("/controller_epoch", b"2", 1)),
    (3, CreateSession(3000)),
    (3, SetData(STATE, state(2, 1, 1), 1)),
    (3, create("/brokers/ids/1", REGISTRATION, ephemeral=True)),
)


def test_a_write_that_is_retried_in_a_new_session_up_to_1_0():
    recording = log(*OLD_CLUSTER)
    assert features_of(recording, None, "").variant == "zkclient"
    result = replayed(recording)
    assert result.divergence is None
    violation = result.violations.found["C4"]
    assert (violation.zxid, violation.count, violation.leader_changes) == (0x13, 1, 1)
    assert replayed(recording, "legacy").divergence[0] == 6


NEW_SESSION = 0x77


def continued(*records: tuple) -> Recording:
    """The first 0x58 records of the fenced cluster, all brokers up, and more: (session, cxid, operation ...)."""
    before = first(FENCED, 0x58)
    more = [
        Transaction(zxid, session, cxid, 0, tuple(operations), len(operations) > 1)
        for zxid, (session, cxid, *operations) in enumerate(records, 0x59)
    ]
    return Recording(Path("made"), None, before + more, [])


def registration(broker: int, cversion: int) -> tuple:
    """The operations that register a broker in a new session."""
    path = f"/brokers/ids/{broker}"
    return NEW_SESSION, 2, Create(path, None, True, cversion), SetData(path, REGISTRATION, 1)


def test_a_registration_deleted_by_hand_frees_the_id():
    opened, registered = (NEW_SESSION, 0, CreateSession(3000)), registration(2, 4)
    deleted = (DRIVER, 1, Delete("/brokers/ids/2"))
    assert replayed(continued(deleted, opened, registered)).divergence is None
    assert replayed(continued(opened, registered)).divergence[0] == 0x5A


@pytest.mark.parametrize("broker, owns", [(2, ["/brokers/ids/2"]), (1, ["/brokers/ids/1", "/controller"])])
def test_a_broker_restarts_before_its_old_session_expires(broker, owns):
    opened, registered = (NEW_SESSION, 0, CreateSession(3000)), registration(broker, 4)
    expired = (DRIVER + broker, 0, CloseSession(tuple(owns)))
    result = replayed(continued(opened, expired, registered))
    assert result.divergence is None
    assert [step.candidate.name for step in result.steps[-3:]] == ["start", "expire_orphan", "register_broker"]


def test_two_clusters_on_one_zookeeper():
    other = (
        (9, CreateSession(3000)),
        (9, create("/other")),
        (9, create("/other/controller_epoch", b"7")),
        (9, create("/other/controller", b'{"brokerid":1}', ephemeral=True)),
    )
    both = log(*OLD_CLUSTER, *other)
    with pytest.raises(UserError, match="several clusters: /, /other; choose one with --chroot"):
        find_root(both, None)
    with pytest.raises(
        UserError, match="--chroot /elsewhere: no Kafka cluster is there in this log; there is /, /other"
    ):
        find_root(both, "/elsewhere")
    members = Members(both, "")
    assert members.broker_of == {1: 1, 2: 2, 3: 1}
    result = replay(both, RANGES[0], members, find_root(both, "/"))
    assert (result.divergence, result.skipped["tools: other znodes"]) == (None, 3)
    assert Members(both, "/other").broker_of == {9: 1}


def test_an_epoch_edited_by_hand_is_a_step_of_one_variant_only():
    recording = altered(first(FENCED, 0xF6), 0xF6, with_operations(SetData("/controller_epoch", b"5", 6)))
    result = replayed(recording, "fenced")
    assert result.divergence[0] == 0xF6 and "fenced has no such step" in result.divergence[1]
    assert replayed(recording, "fenced-edited").divergence is None


def test_records_that_a_snapshot_may_hold_already_are_left_to_it():
    recording = read(FENCED)
    later = cut(recording, 0xA0).start
    start = Snapshot(later.zxid - 8, later.zxid, later.sessions, later.nodes)
    result = replayed(Recording(FENCED, start, recording.transactions[0xA0 - 8 :], []))
    assert (result.divergence, result.skipped["written while the snapshot was taken"]) == (None, 8)
    assert result.explained + result.skipped.total() == result.records


def test_too_many_possibilities_leave_it_undecided(monkeypatch):
    monkeypatch.setattr(possibilities, "LIMIT", 10)
    result = replayed(read(FENCED))
    assert "more than 10 possible states of broker" in result.undecided
    assert result.divergence is None


@pytest.mark.parametrize("place", range(0x2D, 0x170, 0x15))
def test_every_beginning_is_one_that_the_cluster_may_be_in(place):
    recording = cut(read(FENCED), place)
    short = Recording(FENCED, recording.start, recording.transactions[:80], [])
    assert replayed(short, "fenced").divergence is None
