"""A sweep tells its listeners of each record once: of those that only set a partition's state, that they do."""

from pathlib import Path

import pytest

from kafkaproof.traces.evidence.gathering import Gathering
from kafkaproof.traces.explain.election.replay import Follower
from kafkaproof.traces.metrics.series import Metrics
from kafkaproof.traces.reading import sweep as sweeping
from kafkaproof.traces.reading.cluster import Members, find_root
from kafkaproof.traces.reading.recording import Recording, read_recording
from kafkaproof.traces.reading.sweep import Listener, sweep
from kafkaproof.traces.zookeeper.snapshot import Snapshot, Znode
from kafkaproof.traces.zookeeper.transactions import Check, CloseSession, Create, Delete, Failure, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState
from tests.traces.replaying import features_of

STATE, EPOCH = "/brokers/topics/t/partitions/4/state", "/controller_epoch"
CONTENT = b'{"controller_epoch":%d,"leader":%d,"version":1,"leader_epoch":%d,"isr":[1,2]}'
OLD, NEW = CONTENT % (1, 1, 5), CONTENT % (1, 2, 6)
BEFORE, AFTER = PartitionState(1, 5, 1, (1, 2)), PartitionState(2, 6, 1, (1, 2))
SET = SetData(STATE, NEW, 1)
RECORDINGS = Path("traces/recordings")


class Told(Listener):
    """Notes what it is told of."""

    def __init__(self):
        self.heard = []

    def before(self, transaction):
        self.heard.append("before")

    def after(self, transaction, contradictions):
        self.heard.append("after")

    def state_written(self, write, contradictions):
        self.heard.append((write, contradictions))

    def states_written(self, writes):
        self.heard += [(writes.write(row), ()) for row in range(len(writes))]


def told_of(root: str, *records: tuple, nodes=(STATE, EPOCH), owner: int = 0) -> list:
    """What a listener hears of records, each of some operations."""
    znodes = {path: Znode(OLD) for path in ("/", *(root + node for node in nodes))}
    znodes |= {root + STATE: Znode(OLD, ephemeral_owner=owner)} if STATE in nodes else {}
    log = [Transaction(2 + place, 7, 0, 0, record, len(record) > 1) for place, record in enumerate(records)]
    listener = Told()
    sweep(Recording(Path("log"), Snapshot(1, 1, {}, znodes), log, []), root, listener)
    return listener.heard


@pytest.mark.parametrize("root", ["", "/kafka"])
@pytest.mark.parametrize("checked", [False, True])
def test_a_record_that_only_sets_a_state_is_told_as_that(root, checked):
    record = (*[Check(root + EPOCH, 1)] * checked, SetData(root + STATE, NEW, 1))
    [(write, contradictions)] = told_of(root, record)
    assert write.transaction == Transaction(2, 7, 0, 0, record, checked) and contradictions == ()
    assert (write.path, write.partition, write.place.kind) == (STATE, ("t", 4), "state")
    assert (write.state, write.known, write.data, write.checked) == (AFTER, BEFORE, NEW, checked)


@pytest.mark.parametrize(
    "operations",
    [
        (),
        (SET, SET),
        (Check(STATE, 1), SET),
        (Check(EPOCH, 1), Delete(STATE)),
        (Check(EPOCH, 1), Failure(-103)),
        (Failure(-103), SET),
        (Check(EPOCH, 1), SET, SET),
        (SetData(EPOCH, NEW, 1),),
        (Create(STATE, b"", False, 1),),
        (SetData(f"/elsewhere{STATE}", NEW, 1),),
    ],
)
def test_every_other_record_is_told_before_and_after(operations):
    assert told_of("", operations) == ["before", "after"]


def test_a_multi_of_one_operation_is_not_what_it_would_be_alone():
    listener, start = Told(), Snapshot(1, 1, {}, {path: Znode(OLD) for path in ("/", STATE)})
    sweep(Recording(Path("log"), start, [Transaction(2, 7, 0, 0, (SET,), True)], []), "", listener)
    assert listener.heard == ["before", "after"]


def written(*versions: int) -> list[tuple]:
    """Records that set the state to these versions."""
    return [(SetData(STATE, NEW, version),) for version in versions]


@pytest.mark.parametrize("few", [1, 100])
def test_a_contradiction_is_told_with_its_record_alone(monkeypatch, few):
    monkeypatch.setattr(sweeping, "_FEW", few)
    heard = told_of("", *written(1, 2, 3, 7, 8))
    wrong = f"zxid 0x5, session 0x7: setData {STATE} to version 7, but it is at version 3"
    assert [contradictions for _, contradictions in heard] == [(), (), (), (wrong,), ()]
    assert [write.known for write, _ in heard] == [BEFORE, AFTER, AFTER, AFTER, AFTER]


@pytest.mark.parametrize("few", [1, 100])
@pytest.mark.parametrize(
    "between, wrong",
    [
        ((Delete(STATE),), "but it does not exist"),
        ((CloseSession(None),), "but it does not exist"),
        ((SET, SetData(STATE, NEW, 9)), "but it is at version 9"),
    ],
)
def test_what_other_records_do_to_a_state_is_known(monkeypatch, few, between, wrong):
    monkeypatch.setattr(sweeping, "_FEW", few)
    heard = told_of("", *written(1, 2), between, *written(3), owner=7)
    write, [contradiction] = heard[-1]
    assert contradiction.endswith(wrong) and (write.known == AFTER) == ("9" in wrong)


@pytest.mark.parametrize("few", [1, 100])
def test_a_check_of_another_epoch_and_what_is_no_state_are_told_one_by_one(monkeypatch, few):
    monkeypatch.setattr(sweeping, "_FEW", few)
    heard = told_of("", *written(1), (Check(EPOCH, 5), SetData(STATE, b"no state", 2)), *written(3, 4))
    assert [write.known for write, _ in heard] == [BEFORE, AFTER, None, AFTER]
    assert [len(contradictions) for _, contradictions in heard] == [0, 1, 0, 0]


@pytest.mark.parametrize(
    "name", ["1.1.1-zombie", "2.8.2-five-brokers", "3.9.1-reassign", "run-legacy-split-brain/zookeeper"]
)
def test_records_in_a_row_are_followed_as_they_would_be_one_by_one(monkeypatch, name):
    recording = read_recording(RECORDINGS / name)
    root = find_root(recording, None)
    members = Members(recording, root)
    features = features_of(recording, None, root)
    found = []
    for few in (1, 3, 1 << 20):
        monkeypatch.setattr(sweeping, "_FEW", few)
        gathering = Gathering(recording, features, members, root)
        follower = Follower(recording, features.variant, members, root)
        metrics = Metrics(members, root)
        sweep(recording, root, gathering, follower, metrics)
        result, gathered = follower.result, gathering.gathered
        found.append(
            (
                list(result.accounts.pairs),
                list(result.steps.made.pairs),
                result.violations.found,
                {name: list(stream.writes) for name, stream in gathered.streams.items()},
                gathered.common.inputs.last_time,
                vars(gathered.common.census),
                list(metrics.series.changes),
                list(metrics.series.counted),
            )
        )
    assert found[0] == found[1] == found[2] and len(found[0][0]) == len(recording.transactions)
