"""Recordings of clusters of both kinds: steps of ours are judged, beside real brokers that record nothing."""

import json
from types import SimpleNamespace

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.replica.network import SENT
from kafkaproof.spec.running.processes import ELECTION, PARTITION
from kafkaproof.traces.processes.foreign import Foreign
from kafkaproof.traces.processes.recorded.reading import read_cluster
from kafkaproof.traces.processes.recorded.topic_numbers import GIVEN, TopicNumbers
from kafkaproof.traces.processes.replay import Follower
from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, Delete, SetData, Transaction
from tests.traces.processes.recordings import BUNDLED, Copy, replayed, steps

MIXED = BUNDLED / "run-mixed-failover"
CAME = [(process, row) for process, row in steps(MIXED) if "came" in row]
TOPIC = "/brokers/topics/events"


@pytest.fixture
def copy(tmp_path):
    return Copy(MIXED, tmp_path / "copy")


def test_steps_of_ours_conform_whoever_rules():
    result = replayed(MIXED)
    assert result.divergence is None and not result.violations and result.steps == len(steps(MIXED)) == 139
    kinds = {row["came"]["kind"] for _, row in CAME}
    assert kinds == {"LeaderAndIsr", "UpdateMetadata", "Fetch", "Fetched", "IsrWritten"}


def test_it_is_told_what_is_not_judged(capsys):
    assert (
        main(["replay", str(MIXED)]) == 0 and "no property is judged, and no step of a group" in capsys.readouterr().out
    )
    assert main(["replay", str(MIXED), "--json"]) == 0 and json.loads(capsys.readouterr().out)["mixed"]


@pytest.mark.parametrize(
    "kind, change",
    [
        ("LeaderAndIsr", lambda c: c | {"leader_epoch": c["leader_epoch"] + 1}),
        ("LeaderAndIsr", lambda c: c | {"leader": 0}),
        ("UpdateMetadata", lambda c: c | {"alive": c["alive"][:1]}),
        ("Fetched", lambda c: c | {"fields": c["fields"] | {"id": c["fields"]["id"] + 1}}),
        ("Fetched", lambda c: c | {"fields": c["fields"] | {"hw": c["fields"]["hw"] + 9}}),
        ("Fetch", lambda c: c | {"fields": c["fields"] | {"offset": c["fields"]["offset"] + 1}}),
        ("IsrWritten", lambda c: c | {"fields": c["fields"] | {"state": SENT}}),
        ("LeaderAndIsr", lambda c: {"p": 0}),
    ],
)
def test_what_a_real_broker_said_is_what_the_step_goes_by(copy, kind, change):
    process, row = [each for each in CAME if each[1]["came"]["kind"] == kind and each[1]["changed"]][-1]
    copy.change(process, row["n"], came={"kind": kind, "content": change(row["came"]["content"])})
    where, _ = replayed(copy.directory).divergence
    assert where.startswith(f"broker {process}, step ") and int(where.split("step ")[1].split(",")[0]) >= row["n"]


def test_without_what_it_said_nobody_has_sent_it(copy):
    process, row = CAME[0]
    rows = [{k: v for k, v in each.items() if k != "came" or each["n"] != row["n"]} for each in copy.rows(process)]
    copy.write(process, rows)
    with pytest.raises(UserError, match="messages that nobody has sent before"):
        replayed(copy.directory)


# What real brokers write


def state_of(leader, isr, leader_epoch):
    content = {"version": 1, "controller_epoch": 1, "leader": leader, "isr": isr, "leader_epoch": leader_epoch}
    return json.dumps(content).encode()


def topic_of(replicas, adding=(), removing=()):
    content = {"version": 3, "topic_id": "t9398i4FNxIAAAAAAAAAAQ", "partitions": {"0": replicas}}
    return json.dumps(content | {"adding_replicas": {"0": adding}, "removing_replicas": {"0": removing}}).encode()


def create(path, data=b""):
    return Create(path, data, False, -1)


def test_zookeeper_holds_what_a_real_broker_writes():
    follower = Follower(read_cluster(MIXED), "fenced")
    foreign, world = Foreign(follower.world, follower.logged, follower.cluster.brokers), follower.world
    elected, zk = world.states[ELECTION].zk, world.states[PARTITION].zk

    def writes(*operations):
        foreign.write(1, Transaction(1_000, 7, 1, 0, operations, len(operations) > 1))

    writes(create("/brokers/ids/1"))
    assert contains(zk.registered, 1) and elected.clients[1].registered and world.known.registrations[1] == 1
    writes(create("/controller"), SetData("/controller_epoch", b"1", 1))
    assert (elected.controller, elected.epoch, zk.controller, zk.epoch) == (1, 1, 1, 1)
    writes(create(f"{TOPIC}/partitions/0/state", state_of(1, [1, 2], 0)))
    writes(SetData(f"{TOPIC}/partitions/0/state", state_of(1, [1], 0), 1))
    held = zk.partitions[0]
    assert (held.leader, held.isr, held.leader_epoch, held.controller_epoch) == (1, 0b010, 0, 1)
    writes(SetData(TOPIC, topic_of([2, 1, 0], [2], [0]), 1))
    assert (zk.assignments[0].slots[:3], zk.adding[0], zk.removing[0]) == ([2, 1, 0], 0b100, 0b001)
    writes(create("/admin/delete_topics/events"))
    assert zk.deleting == 1
    writes(Delete(f"{TOPIC}/partitions/0/state"))
    writes(Delete(TOPIC))
    writes(Delete("/admin/delete_topics/events"))
    assert (held.leader_epoch, zk.assignments[0].length, zk.deleted, zk.deleting) == (-1, 0, 1, 0)
    writes(CloseSession(None))
    assert (elected.controller, zk.controller, zk.registered) == (-1, -1, 0)


@pytest.mark.parametrize("in_ids", [True, False], ids=["format 9", "format 10"])
@pytest.mark.parametrize("noted", [True, False])
def test_a_topic_of_a_real_controller_has_the_numbers_that_ours_take_for_it_later(noted, in_ids):
    id = "AAAAAAAAAAD______xxxxw"
    content = {"version": 3, "topic_id": id, "partitions": {"0": [1, 2], "1": [2, 1]}}
    numbers = json.dumps({id: [4, 5]})
    taken = {"given": "48"} | ({"added": numbers, "foreign": json.dumps([id])} if in_ids else {"numbers": numbers})
    config = {"version": 1, "config": {f"kafkaproof.places.{name}": value for name, value in taken.items()}}
    writes = [create("/brokers/topics/made", json.dumps(content).encode())]
    writes += [create(GIVEN, json.dumps(config).encode())] if noted else []
    log = [Transaction(zxid, 7, 1, 0, (each,), False) for zxid, each in enumerate(writes, 1)]
    cluster = SimpleNamespace(
        topic="events",
        offsets=-1,
        sizes={"partitions": 8},
        room=4,
        is_mixed=True,
        numbers_in_ids=in_ids,
        zookeeper=SimpleNamespace(transactions=log),
    )
    assert TopicNumbers(cluster).of_topic("made", 1) == ([4, 5] if noted else [])
