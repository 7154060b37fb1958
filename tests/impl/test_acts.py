"""A file of faults is read as it was recorded; a bad one is told in a line; what it says is done, and mended."""

import json
from types import SimpleNamespace

import pytest

from kafkaproof.impl.harness.driving import acts
from kafkaproof.impl.harness.driving.acts import Act, carry_out, read_acts
from kafkaproof.impl.harness.driving.catalogue import FAULTS
from kafkaproof.impl.harness.driving.cluster import Cluster, Size
from kafkaproof.impl.harness.real.mixed import MixedCluster
from kafkaproof.spec.errors import UserError
from tests.impl.test_chaos import FakeCluster, Silent

GOOD = [
    {"time": 0.1, "fault": "start", "broker": 0},
    {"time": 2, "fault": "pause", "broker": 1},
    {"time": 2.5, "fault": "cut_links", "broker": 2},
    {"time": 3, "fault": "slow_zookeeper", "broker": 0, "delay": 0.1},
    {"time": 3, "fault": "kill", "broker": 0},
    {"time": 4, "fault": "tear", "broker": 2, "partition": 1},
    {"time": 5, "fault": "delete_controller"},
    {"time": 5, "fault": "delete_topic", "topic": "more"},
    {"time": 6, "fault": "pause", "broker": 0},
    {"time": 6, "fault": "reassign", "partition": 1, "replicas": [2, 0]},
    {"time": 7, "fault": "lose_frame", "broker": 1, "link": "zookeeper", "pattern": {"part": "answer"}},
]
WRITTEN = {"time": 8, "fault": "write_znode", "path": "/admin/reassign_partitions", "data": None}
FRAME = {"time": 3, "fault": "hold_frame", "broker": 0, "link": "zookeeper", "pattern": {}}


@pytest.fixture
def write(tmp_path):
    """Write lines into a file."""

    def lines(*rows):
        file = tmp_path / "faults.jsonl"
        file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
        return file

    return lines


def test_each_act_is_a_method_with_these_arguments():
    for fault, declared in FAULTS.items():
        code = getattr(MixedCluster if declared.mixed else Cluster, fault).__code__
        assert code.co_varnames[1 : 1 + len(declared.needs)] == declared.needs, fault
        assert not declared.undone_by or declared.undone_by.needs == ("broker",), fault


def test_what_was_recorded_can_be_read(write):
    end = {"time": 9, "fault": "stop_all"}
    found = read_acts(write(*GOOD, end, {"time": 9.5, "fault": "kill", "broker": 1}), Size())
    assert found[0] == Act(0.1, "start", (0,)) and found[5] == Act(4, "tear", (2, 1))
    assert read_acts(write(WRITTEN), Size()) == [Act(8, "write_znode", ("/admin/reassign_partitions", None))]
    assert len(found) == len(GOOD) + 1 and found[-1] == Act(9, "stop_all", ())


@pytest.mark.parametrize(
    "row, wanted",
    [
        ("{", "line 2: not JSON"),
        ([1], "line 2: its fault is none of"),
        ({"time": 3, "fault": "burn"}, "none of kill"),
        ({"time": 3, "fault": "kill"}, "kill needs time, fault, broker, and there is time, fault"),
        ({"time": 3, "fault": "kill", "broker": 3}, "broker is 3: a whole number from 0 to 2"),
        ({"time": 3, "fault": "kill", "broker": True}, "broker is true"),
        ({"time": -1, "fault": "delete_controller"}, "time is -1: a number 0 or more"),
        ('{"time": 1e999, "fault": "delete_controller"}', "time is Infinity: a number 0 or more"),
        ({"time": 0, "fault": "delete_controller"}, "before that of the line above"),
        ({"time": 3, "fault": "slow_links", "broker": 0, "delay": "1"}, 'delay is "1"'),
        ({"time": 3, "fault": "tear", "broker": 0, "partition": 2}, "partition is 2: a whole number from 0 to 1"),
        ({"time": 3, "fault": "hold", "broker": 0, "before": 1}, "before is 1: a string"),
        ({"time": 3, "fault": "restart_zookeeper"}, "not ours"),
        ({"time": 3, "fault": "reassign", "partition": 2, "replicas": [2]}, "partition is 2: one of the topic, from 0"),
        ({"time": 3, "fault": "reassign", "partition": 0, "replicas": [2, 2]}, "replicas is [2, 2]: a list of 1 to 3"),
        ({"time": 3, "fault": "reassign", "partition": 0, "replicas": 1}, "replicas is 1: a list"),
        ({"time": 9, "fault": "write_znode", "path": "admin", "data": ""}, 'path is "admin": of a znode'),
        ({"time": 9, "fault": "write_znode", "path": "/admin", "data": 1}, "data is 1: a string"),
        ({"time": 3, "fault": "let_go"}, "let_go needs time, fault, broker"),
        (FRAME | {"link": "kafka"}, 'link is "kafka": zookeeper (with --kafka RELEASE also kafka)'),
        (FRAME | {"pattern": "answer"}, 'pattern is "answer": an object of names and values'),
        (FRAME | {"pattern": {"data": {"leader": "(1"}}}, "leader is '(1', which is no regular expression: missing )"),
        ({"time": 3, "fault": "delete_topic", "topic": "../ids"}, 'topic is "../ids": of a-z'),
        ({"time": 3, "fault": "delete_topic", "topic": "__consumer_offsets"}, "and not __consumer_offsets"),
    ],
)
def test_a_bad_line_is_told(write, row, wanted):
    with pytest.raises(UserError, match="faults.jsonl: line 2") as told:
        read_acts(write(GOOD[0], row), Size(), owns_zookeeper=False)
    assert wanted in str(told.value)


def test_legacy_brokers_have_no_logs(write):
    with pytest.raises(UserError, match="no logs"):
        read_acts(write(*GOOD), Size(variant="legacy"))


@pytest.mark.parametrize("fault, about", [("hold", {"before": "elect"}), ("tear", {"partition": 0})])
def test_real_brokers_are_not_told_when_to_stop(write, fault, about):
    with pytest.raises(UserError, match=f"{fault}: only brokers of our own do that"):
        read_acts(write({"time": 1, "fault": fault, "broker": 0, **about}), Size(release="3.9.1"))


def test_only_in_a_cluster_of_both_kinds_a_broker_of_the_other_is_put_in_the_place_of_one(write):
    file = write({"time": 1, "fault": "replace", "broker": 0})
    assert read_acts(file, Size(release="3.9.1", ours=1)) == [Act(1, "replace", (0,))]
    for size in (Size(), Size(release="3.9.1")):
        with pytest.raises(UserError, match="replace: only in a cluster of both kinds"):
            read_acts(file, size)


def test_real_brokers_have_a_link_to_each_other(write):
    assert read_acts(write(FRAME | {"link": "kafka"}), Size(release="3.9.1"))[0].arguments == (0, "kafka", {})


def test_files_that_are_none(tmp_path, write, kafkaproof):
    assert "nothing to do in it" in kafkaproof("run", "--faults", write()).complaint
    assert "No such file" in kafkaproof("run", "--faults", tmp_path / "none").complaint
    assert "give one of them" in kafkaproof("run", "--faults", write(*GOOD), "--chaos", 1).complaint
    assert "--unclean needs --chaos" in kafkaproof("run", "--unclean").complaint
    assert "says how long" in kafkaproof("run", "--faults", write(*GOOD), "--seconds", 1).complaint


class Aging(FakeCluster):
    """A cluster that is a second older each time one asks."""

    def __init__(self):
        super().__init__()
        self._age = 0

    @property
    def age(self):
        self._age += 1
        return self._age


def test_everything_is_done_in_order_and_mended(write, monkeypatch):
    monkeypatch.setattr(acts, "time", SimpleNamespace(sleep=lambda seconds: None))
    cluster = Aging()
    carry_out(read_acts(write(*GOOD), cluster.size), cluster, Silent())
    assert cluster.done == [
        ("pause", 1),
        ("cut_links", 2),
        ("slow_zookeeper", 0, 0.1),
        ("kill", 0),
        ("tear", 2, 1),
        ("delete_controller",),
        ("delete_topic", "more"),
        ("reassign", 1, [2, 0]),
        ("lose_frame", 1, "zookeeper", {"part": "answer"}),
        ("slow_zookeeper", 0, 0.0),
        ("let_go", 1),
        ("mend_links", 2),
        ("resume", 1),
        ("kill", 2),
        ("start", 0),
        ("start", 2),
    ]
