"""Metrics do not depend on how many records that set states are told at a time."""

import json
from pathlib import Path
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from kafkaproof.traces.reading import records as logged
from kafkaproof.traces.reading import sweep as sweeping
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.snapshot import Snapshot, Znode
from kafkaproof.traces.zookeeper.transactions import Create, Delete, Operation, SetData, Transaction
from tests.traces.partition_log import PARENTS
from tests.traces.replaying import metrics_of

STATES = [f"/brokers/topics/{topic}/partitions/{number}/state" for topic, number in ("t0", "t1", "u0", "v0")]
BEGUN = {
    "/brokers/topics/t": {"partitions": {"0": [1, 2, 3], "1": [2, 3, 1]}},
    "/brokers/ids/1": {},
    **{
        path: {"version": 1, "leader": 1, "leader_epoch": 0, "controller_epoch": 1, "isr": [1, 2, 3]}
        for path in STATES[1:]
    },
}
TOGGLED = {  # what is created by turns with being deleted
    **{f"/brokers/ids/{broker}": {} for broker in (1, 2, 3)},
    "/brokers/topics/u": {"partitions": {"0": [2, 1]}, "adding_replicas": {"0": [2]}},
    "/admin/delete_topics/t": {},
    "/admin/reassign_partitions": {"partitions": [{"topic": "t", "partition": 1, "replicas": [1]}]},
    "/config/topics/t": {"config": {"min.insync.replicas": "2"}},
    "/config/brokers/<default>": {"config": {"min.insync.replicas": "1"}},
    **{
        path: {"version": 1, "leader": 2, "leader_epoch": 0, "controller_epoch": 1, "isr": [1, 2]}
        for path in STATES[:2]
    },
}
written = st.tuples(
    st.sampled_from(STATES),
    st.integers(-1, 3),
    st.lists(st.integers(1, 3), max_size=4),
    st.integers(0, 1),
    st.integers(1, 2),
)
logs = st.lists(st.one_of(st.sampled_from(list(TOGGLED)), written, written, written), max_size=60)


def recording(log: list) -> Recording:
    """A log in which znodes of TOGGLED appear and go, and states are `written`: path, leader, ISR, by how much the
    leader epoch rises, controller epoch."""
    nodes = {**{path: Znode(b"") for path in PARENTS}, **{path: Znode(encoded(data)) for path, data in BEGUN.items()}}
    there, versions, epochs = set(BEGUN), dict.fromkeys(STATES, 0), dict.fromkeys(STATES, 0)
    operations: list[Operation] = []
    for event in log:
        if isinstance(event, str):
            there ^= {event}
            versions[event] = 0
            operations.append(Create(event, encoded(TOGGLED[event]), False, -1) if event in there else Delete(event))
        else:
            path, leader, isr, raised, epoch = event
            versions[path] += 1
            epochs[path] += raised
            state = {
                "version": 1,
                "leader": leader,
                "leader_epoch": epochs[path],
                "controller_epoch": epoch,
                "isr": isr,
            }
            operations.append(SetData(path, encoded(state), versions[path]))
    transactions = [Transaction(zxid, 1, 1, 1_000 * zxid, (each,), False) for zxid, each in enumerate(operations, 1)]
    return Recording(Path("log"), Snapshot(0, 0, {}, nodes), transactions, [])


def encoded(data: dict) -> bytes:
    return json.dumps(data).encode()


def told(log: Recording, few: int, many: int) -> tuple:
    """All that metrics tell of a log whose states are told at most `many` at a time, and one by one below `few`."""
    with patch.object(sweeping, "_FEW", few), patch.object(logged, "_MANY", many):
        series = metrics_of(log, "")
    courses = {name: (each.initial, list(each.samples), list(each.values)) for name, each in series.courses.items()}
    return (
        series.initial,
        series.began,
        series.ended,
        courses,
        list(series.moments),
        list(series.counted),
        dict(series.unclean_by_epoch),
    )


@example([(STATES[1], 1, [1], 0, 1), STATES[0], (STATES[0], 2, [1], 0, 1), (STATES[0], 3, [1], 0, 1)], 1, 1)
@given(logs, st.integers(1, 4), st.integers(4, 40))
def test_states_that_are_told_many_at_a_time_have_the_metrics_that_they_have_one_by_one(log, few, many):
    log = recording(log)
    assert told(log, few, many) == told(log, len(log.transactions) + 1, 20_000)
