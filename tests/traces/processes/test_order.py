"""Where steps stand whose place the recording does not tell outright."""

from dataclasses import replace
from pathlib import Path

import pytest

from kafkaproof.spec.language.steps import parse_step
from kafkaproof.spec.running.processes import ELECTION, PARTITION
from kafkaproof.traces.processes.recorded.lines import Line
from kafkaproof.traces.processes.recorded.order import AT, BEHIND, Place, in_order
from kafkaproof.traces.processes.recorded.reading import Cluster
from kafkaproof.traces.processes.recorded.zookeeper_log import Logged
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.transactions import (
    CloseSession,
    Create,
    CreateSession,
    Delete,
    Failure,
    SetData,
    Transaction,
)

SESSION, OTHER = 7, 8


def transaction(zxid, session, operation):
    """One of one operation."""
    return Transaction(zxid=zxid, time=0, session=session, cxid=0, operations=(operation,))


def create(path, data=b""):
    """A creation of a znode."""
    return Create(path, data, False, 0)


def line(n, part, text, zxid):
    """A step that asks nothing."""
    return Line("0.1", 0, zxid, n, session=SESSION, n=n, part=part, step=parse_step(text))


def recorded(lines, *transactions):
    """A cluster of one process."""
    sizes = {"brokers": 1, "replicas": 1, "partitions": 1, "min_isr": 1}
    return Cluster(
        Path("none"), "fenced", "events", sizes, -1, [lines], Recording(Path("none"), None, [*transactions], [])
    )


@pytest.mark.parametrize(
    "knew, wanted",
    [
        (2, ["session.start(b=0)", "rebalance.rebalance(b=0)", "faults.stop(b=0)"]),
        (4, ["session.start(b=0)", "closeSession", "rebalance.rebalance(b=0)", "faults.stop(b=0)"]),
    ],
)
def test_the_last_step_closes_the_session_unless_that_was_over_before(knew, wanted):
    cluster = recorded(
        [
            line(1, ELECTION, "session.start(b=0)", 0),
            line(2, PARTITION, "rebalance.rebalance(b=0)", knew),
            line(3, ELECTION, "faults.stop(b=0)", knew),
        ],
        transaction(1, SESSION, CreateSession(1000)),
        transaction(2, OTHER, CreateSession(1000)),
        transaction(3, SESSION, CloseSession(())),
        transaction(4, OTHER, create("/there")),
    )
    found = [
        str(each.line.step) if each.line else each.transaction.form().split()[0]
        for each in in_order(cluster)
        if each.line or each.closes is not None
    ]
    assert found == wanted


def test_whose_notifications_are_there():
    event = "/log_dir_event_notification/log_dir_event_{}"
    cluster = recorded(
        [],
        *(
            transaction(zxid, OTHER, operation)
            for zxid, operation in enumerate(
                (
                    create(event.format(0), b'{"broker":0}'),
                    create(event.format(1), b'{"broker":2}'),
                    create(event.format(2), b'{"broker":2}'),
                    Delete(event.format(0)),
                    Delete(event.format(1)),
                ),
                1,
            )
        ),
    )
    logged = Logged(cluster)
    assert [logged.notifying(zxid) for zxid in range(6)] == [0, 0b001, 0b101, 0b101, 0b100, 0b100]


def test_of_which_partition_a_notification_is_there():
    event, content = (
        "/isr_change_notification/isr_change_{}",
        '{{"version":1,"partitions":[{{"topic":"{}","partition":{}}}]}}',
    )
    topic = recorded([]).topic
    cluster = recorded(
        [],
        *(
            transaction(zxid, OTHER, operation)
            for zxid, operation in enumerate(
                (
                    create(event.format(0), content.format(topic, 0).encode()),
                    create(event.format(1), content.format(topic, 0).encode()),
                    create(event.format(2), content.format("gone", 0).encode()),
                    Delete(event.format(0)),
                    Delete(event.format(1)),
                ),
                1,
            )
        ),
    )
    logged = Logged(cluster)
    assert [logged.has_isr_change(zxid, 0) for zxid in range(6)] == [False, True, True, True, True, False]
    assert not logged.has_isr_change(4, 1)


def test_a_notification_comes_with_the_state_that_its_leader_has_written():
    topic = recorded([]).topic
    state = SetData(f"/brokers/topics/{topic}/partitions/0/state", b"{}", 1)
    told = f'{{"version":1,"partitions":[{{"topic":"{topic}","partition":0}}]}}'.encode()
    logged = Logged(
        recorded(
            [],
            transaction(1, SESSION, state),
            transaction(2, OTHER, state),
            transaction(3, OTHER, create("/x")),
            transaction(4, OTHER, create("/isr_change_notification/isr_change_0", told)),
        )
    )
    assert [logged.has_isr_change(zxid, 0) for zxid in range(5)] == [False, False, True, True, True]


@pytest.mark.parametrize(
    "text, path",
    [
        ("log_dirs.notify(b=0) -> OK", "/log_dir_event_notification/log_dir_event_{}"),
        ("leader_zk.change_isr(b=0, p=0, isr=1) -> OK", "/brokers/topics/events/partitions/0/state"),
    ],
)
def test_what_landed_of_a_request_that_was_made_again_is_its_own(text, path):
    event = create(path.format(0)) if "notify" in text else SetData(path, b"{}", 1)
    started = line(1, ELECTION, "session.start(b=0)", 0)
    step = replace(line(2, PARTITION, text, 5), attempts=2, asked=1, zxids=(5,), at=(5, True))
    cluster = recorded(
        [started, step],
        transaction(1, SESSION, CreateSession(1000)),
        transaction(2, OTHER, event),
        transaction(3, SESSION, event),
        transaction(4, SESSION, create("/brokers/ids/9")),
        transaction(5, SESSION, event),
    )
    found = {each.transaction.zxid: each for each in in_order(cluster) if each.transaction}
    assert found[3].landed == step and found[3].stray is None
    assert found[4].stray == 0 and found[2].landed is found[2].stray is None and 5 not in found


def lost(n, p, zxid):
    """A step that wrote a partition's state, whose answer was lost."""
    return line(n, PARTITION, f"control.alter_partition(b=0, p={p}, sender=0, isr=1) -> LOST", zxid)


def written(zxid, p):
    """A transaction that writes a partition's state."""
    return transaction(zxid, SESSION, SetData(f"/brokers/topics/events/partitions/{p}/state", b"{}", 1))


@pytest.mark.parametrize(
    "lines, partition, wanted",
    [
        ([lost(1, 0, 1), lost(2, 1, 1)], 1, [Place(1, BEHIND), Place(2, AT)]),
        ([lost(1, 1, 1), lost(2, 0, 1)], 1, [Place(2, AT), Place(2, BEHIND)]),
        (
            [
                lost(1, 1, 1),
                replace(line(2, PARTITION, "control.write_leader(b=0, p=0) -> OK", 1), zxids=(2,), at=(2, True)),
                lost(3, 1, 2),
            ],
            0,
            [Place(1, BEHIND), Place(2, AT), Place(2, BEHIND)],
        ),
    ],
)
def test_what_was_lost_is_at_the_write_of_its_partition_and_before_what_came_later(lines, partition, wanted):
    cluster = recorded(lines, transaction(1, SESSION, CreateSession(1000)), written(2, partition))
    cluster = replace(cluster, sizes=cluster.sizes | {"partitions": 2})
    assert [
        each.place for each in sorted(in_order(cluster), key=lambda each: each.line.n if each.line else 0) if each.line
    ] == wanted


STARTED = line(1, ELECTION, "session.start(b=0)", 0)


def registering(n, answer, knew, asked, **more):
    """A step of a candidate that knew of the zxid `asked` when it asked, and of `knew` when it had the answer, or none."""
    return replace(line(n, ELECTION, f"election.register(b=0) -> {answer}", knew), asked=asked, **more)


def refused(zxid):
    """A transaction of the candidate that ZooKeeper refused."""
    return Transaction(zxid, SESSION, 0, 0, (Failure(-110), Failure(-2)), True)


@pytest.mark.parametrize(
    "lost, transactions, wanted",
    [
        ([(1, 1), (1, 1)], [2], [Place(2, AT), Place(2, BEHIND)]),
        ([(2, 1), (2, 2)], [2], [Place(2, AT), Place(2, BEHIND)]),
        ([(1, 1), (1, 1)], [2, refused(3)], [Place(2, AT), Place(2, BEHIND)]),
        ([(2, 1), (2, 2)], [2, refused(3)], [Place(2, AT), Place(2, BEHIND)]),
    ],
    ids=["the second never arrived", "its watch fired before", "the second was refused", "both"],
)
def test_a_registration_whose_answers_were_lost_is_where_it_landed(lost, transactions, wanted):
    """The watch on /controller may tell the candidate of its own registration before it gives the answer up."""
    lines = [registering(n, "LOST", *each) for n, each in enumerate(lost, 2)]
    found = in_order(
        recorded(
            [STARTED, *lines, registering(4, "NODEEXISTS", 4, lost[-1][0], zxids=(4,), at=(4, True))],
            transaction(1, SESSION, CreateSession(1000)),
            *(transaction(2, SESSION, create("/controller")) if each == 2 else each for each in transactions),
            refused(4),
        )
    )
    assert [each.place for each in found if each.line] == [Place(1, AT), *wanted, Place(4, AT)]
    assert [each for each in found if each.transaction and each.stray is not None] == []


def test_no_more_refusals_are_lost_than_answers():
    lines = [STARTED, registering(2, "LOST", 1, 1)]
    found = in_order(recorded(lines, transaction(1, SESSION, CreateSession(1000)), refused(2), refused(3)))
    assert [each.transaction.zxid for each in found if each.stray is not None] == [3]


@pytest.mark.parametrize("operation, session", [(Delete("/controller"), OTHER), (CloseSession(()), OTHER)])
def test_a_change_of_the_controller_is_heard_behind_it_where_zookeeper_does_not_say_when_it_was(operation, session):
    reads = replace(line(1, ELECTION, "election.maybe_resign(b=0) -> OK", 3), at=(3, False), arms=True)
    hears = replace(line(2, ELECTION, "election.handle_change(b=0)", 3), heard=2)
    cluster = recorded(
        [reads, hears],
        transaction(1, OTHER, CreateSession(1000)),
        transaction(2, OTHER, create("/controller")),
        transaction(3, OTHER, create("/there")),
        transaction(4, OTHER, create("/else")),
        transaction(5, session, operation),
    )
    assert [each.place for each in in_order(cluster) if each.line] == [Place(3, BEHIND), Place(5, BEHIND)]
