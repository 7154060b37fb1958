"""The same faults are done to two clusters: what they come to is compared. Here both are ours."""

import json
from dataclasses import replace

import pytest

from kafkaproof.impl.harness.driving.acts import read_acts
from kafkaproof.impl.harness.driving.cluster import Cluster, Size
from kafkaproof.impl.harness.driving.watch import Watcher
from kafkaproof.impl.harness.real import compared as comparing
from kafkaproof.impl.harness.real.compared import compared

SIZE = Size(brokers=2, replicas=2, partitions=1, groups=True, session_timeout=2.0)
STOP = {"time": 1, "fault": "stop", "broker": 1}


@pytest.fixture
def differences(monkeypatch, tmp_path):
    """In what a cluster differs from one of `other` size, when these acts are done to both."""
    monkeypatch.setattr(comparing, "REST", 2.0)
    monkeypatch.setattr(comparing, "ANSWERED", 5.0)

    def of(other, *acts):
        faults = tmp_path / "faults.jsonl"
        faults.write_text("".join(json.dumps(act) + "\n" for act in acts))
        monkeypatch.setattr(comparing, "KafkaCluster", lambda directory, size, properties: Cluster(directory, other))
        return compared(read_acts(faults, SIZE), SIZE, replace(SIZE, release="3.9.1"), tmp_path, Watcher(True))

    return of


def test_what_clients_are_answered_differs_where_an_isr_is_too_small(differences):
    """All else is the same: leaders, ISRs, elections, controllers, brokers, and what clients are answered in the end."""
    found, count = differences(replace(SIZE, min_isr=2), STOP)
    assert count == 13
    assert [tuple(each) for each in found] == [
        ("events-0: acks=all, before anything is mended", "acknowledged", "not acknowledged")
    ]


@pytest.mark.parametrize(
    "arguments, wanted",
    [
        (("--compare",), "--compare needs --kafka RELEASE and --faults FILE"),
        (("--compare", "--kafka", "3.9.1", "--chaos", 1), "--compare needs --kafka RELEASE and --faults FILE"),
        (("--compare", "--kafka", "1.1.1", "--faults", "f"), "our brokers that have logs are of Kafka 3.4 to 3.9"),
        (("--compare", "--kafka", "3.9.1", "--faults", "f", "--load"), "leave --zookeeper, --port and --load away"),
    ],
)
def test_bad_use(kafkaproof, arguments, wanted):
    assert wanted in kafkaproof("run", *arguments).complaint
