"""What is planned, and concluded, where real brokers are driven along a counterexample of the data plane."""

import json
from pathlib import Path

import pytest

from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size, wait_until
from kafkaproof.impl.harness.real.behaviour import read_behaviour
from kafkaproof.impl.harness.real.control import control_of
from kafkaproof.impl.harness.real.moves import DEEDS, FRAMES, INSIDE, PROPOSALS, how
from kafkaproof.impl.harness.real.outside import error_in, isr_proposed, told_in
from kafkaproof.impl.harness.real.records import ALL, GONE, Clients, Produced, log_of, values_in
from kafkaproof.impl.harness.real.verdict import Seen, incomplete, leaderless, lost, unread, waits
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.cluster.model import FENCED
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.partition.reassignment.properties import isr_assigned
from tests.checker.test_cluster_system import LOSS, ZOMBIE_TELLS_AN_OLD_ISR
from tests.impl.test_conductor import write_run

RECORDINGS = Path(__file__).parents[2] / "traces" / "recordings"
DEEP = FENCED.scopes["deep"]
ALONE = [
    "failover.elect(b=0) -> OK",
    "failover.load_brokers(b=0) -> OK",
    "failover.load_state(b=0, p=0) -> NONODE",
    "control.create_first_state(b=0, p=0, delivery=0) -> OK",
    "control.leader_and_isr(b=0, epoch=1, p=0)",
    "control.leader_and_isr(b=1, epoch=1, p=0)",
    "data_plane.shrink_isr(b=0, p=0, follower=1)",
    "control.alter_partition(b=0, p=0, sender=0, isr=1, delivery=1) -> LOST",
    "control.alter_partition(b=0, p=0, sender=0, isr=1, delivery=0) -> BADVERSION",
]
"""A leader alone in the ISR acknowledges nothing, for ever; nothing more happens."""


def behaviour(tmp_path, trace, name, *more):
    steps = [*trace.split("\n")[1:-1], *more]
    return read_behaviour(write_run(tmp_path / "run", "cluster", "fenced", *steps, name=name, scope=DEEP), "3.9.1")


def test_a_zombie_is_told_of_brokers_before_it_is_deposed_and_does_not_find_out(tmp_path):
    found = behaviour(tmp_path, LOSS, "committed")
    names = [step.name for step in found.steps]
    (zombie,) = found.deposed
    assert zombie.broker == 1
    assert (names[zombie.since - 1], names[zombie.lists - 1]) == ("delete_controller", "broker_change")
    assert zombie.until > len(names), "it never finds out"
    assert names[found.stands_in - 1] == "restart" and found.spare == 2 and found.size.brokers == 3


def test_leader_and_isr_is_known_by_what_it_tells(tmp_path):
    found = behaviour(tmp_path, LOSS, "committed")
    told = [found.told(n) for n, step in enumerate(found.steps, 1) if step.name == "leader_and_isr"]
    assert told[-1] == {"leader": 0, "leader_epoch": 0, "isr": [0]}, "the zombie's"
    assert told[-2] == {"leader": 1, "leader_epoch": 1, "isr": [1]}


@pytest.mark.parametrize(
    "trace, name, skipped",
    [(LOSS, "committed", ["produce"]), (ZOMBIE_TELLS_AN_OLD_ISR, "isr_complete", [])],
    ids=["loss", "old-isr"],
)
def test_a_control_goes_without_the_message_of_the_zombie(tmp_path, trace, name, skipped):
    whole = behaviour(tmp_path, trace, name)
    found = control_of(whole)
    assert str(found.omitted) == "control.leader_and_isr(b=0, epoch=1, p=0)"
    assert [step.name for step in found.skipped] == skipped
    assert [*found.behaviour.steps, found.omitted, *found.skipped] == whole.steps


def test_a_control_of_liveness_loses_no_answer(tmp_path):
    run = write_run(
        tmp_path / "run",
        "cluster",
        "fenced",
        *ALONE,
        name="alone_acknowledges",
        scope=FENCED.scopes["quick"],
        loop=len(ALONE),
    )
    found = control_of(read_behaviour(run, "3.9.1"))
    assert (str(found.omitted), [str(step) for step in found.skipped]) == (ALONE[7], [ALONE[8]])
    assert found.behaviour.steps[-1].answer == "OK"


def test_a_lasso_that_goes_round_is_refused(tmp_path):
    run = write_run(
        tmp_path / "run",
        "cluster",
        "fenced",
        *ALONE,
        name="alone_acknowledges",
        scope=FENCED.scopes["quick"],
        loop=len(ALONE) - 1,
    )
    with pytest.raises(UserError, match="no counterexample of any property in it that comes to an end"):
        read_behaviour(run, "3.9.1")


def test_a_shutdown_that_never_succeeds_goes_round_once_and_in_its_control_the_isr_stays(tmp_path):
    found = read_behaviour(RECORDINGS / "3.9.1-failed-shutdown" / "counterexample.json", "3.9.1")
    run = write_run(
        tmp_path / "run", "partition", "fenced", *map(str, found.steps), name=found.violated, scope=found.scope, loop=9
    )
    assert [str(step) for step in read_behaviour(run, "3.9.1").steps] == [str(step) for step in found.steps]
    control = control_of(found)
    assert control.omitted.name == "alter_partition" and control.behaviour.states[-1].zk.partitions[0].isr == 0b11


def test_a_cancelled_reassignment_leaves_nobody_in_the_isr_whose_controller_stays():
    found = read_behaviour(RECORDINGS / "3.9.1-cancelled-reassignment" / "counterexample.json", "3.9.1")
    assert not isr_assigned(found.states[-1]) and found.assignments == [[0]]
    control = control_of(found)
    assert str(control.omitted) == "faults.delete_controller()"
    assert [step.name for step in control.skipped] == ["elect", "load_context", "alter_partition"]


def test_a_partition_without_a_leader_is_told_when_brokers_have_left():
    led, unled = (Seen(0, {"leader": leader, "isr": isr}, {}, {}) for leader, isr in ((1, [0, 1]), (-1, [0])))
    assert leaderless(led, unled, None) == ["nobody leads events-0, whose ISR is [0]"]
    assert leaderless(unled, led, None) == []


def test_a_control_of_what_is_not_asked_is_refused(tmp_path):
    with pytest.raises(UserError, match="--control: cluster asks nothing of states or steps that is called surprise"):
        control_of(behaviour(tmp_path, LOSS, "surprise"))


def test_who_is_elected_after_a_process_that_began_while_nobody_ruled_cannot_be_forced(tmp_path):
    with pytest.raises(UserError, match=r"step 31, failover.elect\(b=0\) -> OK: cannot be forced, since in step 22"):
        behaviour(tmp_path, LOSS, "committed", "failover.elect(b=0) -> OK")


def test_of_every_step_of_the_data_plane_it_is_known_what_it_is_outside():
    known = {*FRAMES, *PROPOSALS, *DEEDS, *INSIDE}
    names = {
        t.name.split(".")[1]
        for t in find("cluster", "fenced")[0].transitions
        if t.name.startswith(("data_plane.", "control."))
    }
    assert names <= known, names - known


def test_the_plan_says_which_proposal_is_awaited(tmp_path):
    shrinks = next(step for step in behaviour(tmp_path, LOSS, "committed").steps if step.name == "shrink_isr")
    assert how(shrinks) == "awaited: AlterPartition 0 of broker 0"


@pytest.mark.parametrize(
    "said",
    [
        {
            "topic_states": [
                {
                    "topic_name": TOPIC,
                    "partition_states": [{"partition_index": 0, "leader": 1, "leader_epoch": 3, "isr": (2, 1)}],
                }
            ]
        },
        {
            "partition_states": [
                {"topic_name": TOPIC, "partition_index": 0, "leader": 1, "leader_epoch": 3, "isr": [1, 2]}
            ]
        },
    ],
)
def test_what_leader_and_isr_tells_in_each_of_its_forms(said):
    assert told_in(said, 0) == {"leader": 1, "isr": [1, 2], "leader_epoch": 3}


@pytest.mark.parametrize(
    "partition", [{"new_isr": [1, 0]}, {"new_isr_with_epochs": [{"broker_id": 1}, {"broker_id": 0}]}]
)
def test_which_isr_is_proposed_in_each_form(partition):
    assert isr_proposed({"topics": [{"partitions": [partition]}]}) == [0, 1]


def test_an_error_is_found_at_any_depth_of_an_answer_and_not_in_its_request():
    answer = {"error_code": 0, "responses": [{"partitions": [{"error_code": 74}]}], "request": {"error_code": 6}}
    assert error_in(answer) == "FENCED_LEADER_EPOCH"
    assert error_in({"error_code": 0, "request": {"error_code": 6}}) == "OK"


@pytest.fixture
def clients():
    """A producer whose first record was acknowledged by broker 0, and whose second was not."""
    made = Clients(TOPIC, {})
    made.produced = [Produced(b"kept", 0, ALL, 0, DONE, 0), Produced(b"open", 0, ALL, 0, GONE)]
    made.read = [b"kept"]
    return made


def seen(leader, isr, **logs):
    found = {int(name[1:]): log for name, log in logs.items()}
    return Seen(0, {"leader": leader, "isr": isr, "leader_epoch": 1}, {leader: found[leader]}, found)


def test_a_record_is_lost_that_was_acknowledged_and_nobody_can_read(clients):
    whole, empty = seen(0, [0, 1], b0=[b"kept"], b1=[b"kept"]), seen(1, [0, 1], b0=[], b1=[])
    assert lost(whole, whole, clients) == unread(whole, whole, clients) == []
    assert lost(whole, empty, clients) == ["kept, acknowledged with acks=all by broker 0 at offset 0, is in no log"]
    assert unread(whole, empty, clients) == ["kept, which a consumer has read, is in no log"]
    assert "is in the log of broker 0 alone" in lost(whole, seen(1, [1], b0=[b"kept"], b1=[]), clients)[0]


def test_a_member_of_the_isr_lacks_what_was_committed(clients):
    assert incomplete(seen(0, [0], b0=[b"kept"], b1=[]), None, clients) == []
    assert incomplete(seen(0, [0, 1], b0=[b"kept"], b1=[]), None, clients) == [
        "kept, committed by broker 0, is not in the log of broker 1, which is in the ISR"
    ]


def test_a_leader_alone_in_the_isr_acknowledges_nothing(clients):
    alone = seen(0, [0], b0=[b"kept"], b1=[])
    assert waits(alone, alone, clients) == ["open is not acknowledged by broker 0, which is alone in the ISR"]
    assert waits(seen(0, [0, 1], b0=[], b1=[]), alone, clients) == []


def test_the_driver_produces_reads_and_looks_into_logs(tmp_path):
    with Cluster(tmp_path / "c", Size(2, 2, 1, session_timeout=60)) as cluster:
        cluster.start_all()
        cluster.await_all()
        cluster.await_that(lambda: led(cluster), "the partition is led")
        driver = Clients(TOPIC, {b: child.port for b, child in cluster.children.items()})
        leader = led(cluster)["leader"]
        cluster.await_that(
            lambda: all(cluster.recorded(broker, "leader_and_isr") for broker in cluster.children), "both are told"
        )
        records = [driver.produce(broker, 0, ALL) for broker in (leader, 1 - leader)]

        def answered():
            if records[0].error == "NOT_LEADER_OR_FOLLOWER":  # it has been told, and has not begun
                driver.send(records[0])
            return records[0].error == DONE and records[1].error

        assert wait_until(answered, 60)
        assert [each.error for each in records] == [DONE, "NOT_LEADER_OR_FOLLOWER"]
        assert records[0].is_acknowledged and not records[1].is_acknowledged
        assert wait_until(lambda: driver.visible(leader, 0) == [b"record-0"], 60)
        assert driver.consume(leader, 0) == b"record-0" and driver.consume(leader, 0) is None
        assert driver.visible(1 - leader, 0) == []
        files = list((tmp_path / "c" / "logs" / f"broker-{leader}").glob("**/*.log"))
        assert log_of(files) == [b"record-0"]
        data = next(file for file in files if file.stat().st_size).read_bytes()
        assert values_in(data + data[:20]) == [b"record-0"], "a batch that is not whole is none"


def led(cluster):
    path = f"/brokers/topics/{TOPIC}/partitions/0/state"
    return json.loads(cluster.operator.get(path)[0]) if cluster.operator.exists(path) else None
