"""A whole cluster, broken on purpose: its ZooKeeper log is one that the specification allows, all of it."""

import json
from types import SimpleNamespace

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.impl.harness.conducting.scenarios import SCENARIOS, SESSION
from kafkaproof.impl.harness.driving.cluster import Cluster, Size, wait_until
from kafkaproof.impl.harness.driving.watch import Watcher
from kafkaproof.spec.errors import UserError
from tests.impl.settled import await_watches


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """The directory of a cluster that was broken in all the ways that there are."""
    directory = tmp_path_factory.mktemp("cluster")
    with Cluster(directory, Size(session_timeout=60.0)) as cluster:
        cluster.start_all()
        steady(cluster)
        break_brokers(cluster)
        break_controllers(cluster)
        want_things(cluster)
        cluster.stop_all()
    return directory


def steady(cluster):
    """Wait until all brokers are registered, one of them is the controller, and all replicas are in sync."""
    assert wait_until(lambda: len(cluster.registered()) == cluster.size.brokers)
    assert wait_until(lambda: cluster.controller() is not None)
    assert wait_until(lambda: all(len(isr(cluster, p)) == cluster.size.replicas for p in range(2)))
    return cluster.controller()


def break_brokers(cluster):
    other = (steady(cluster) + 1) % 3
    cluster.kill(other)
    cluster.expire(other)
    assert wait_until(lambda: other not in cluster.registered())
    cluster.start(other)


def break_controllers(cluster):
    killed = steady(cluster)
    cluster.kill(killed)
    cluster.expire(killed)
    assert wait_until(lambda: cluster.controller() not in (None, killed))
    cluster.start(killed)
    zombie = steady(cluster)
    cluster.pause(zombie)
    cluster.expire(zombie)
    assert wait_until(lambda: cluster.controller() not in (None, zombie))
    cluster.resume(zombie)
    expired = steady(cluster)
    session = cluster.owner(expired)
    cluster.expire(expired)
    assert wait_until(lambda: cluster.owner(expired) not in (None, session))
    steady(cluster)
    await_watches(cluster)
    epoch = cluster.operator.get("/controller_epoch")[1].version
    steady(cluster)
    cluster.delete_controller()
    assert wait_until(lambda: cluster.operator.get("/controller_epoch")[1].version > epoch)
    steady(cluster)


def want_things(cluster):
    cluster.ask_for_preferred()
    assert wait_until(lambda: "preferred_replica_election" not in cluster.operator.get_children("/admin"))
    cluster.fail_log_dir(2, 0)
    cluster.allow_unclean()
    assert wait_until(lambda: 2 not in isr(cluster, 0))


def isr(cluster, p):
    path = f"/brokers/topics/events/partitions/{p}/state"
    return json.loads(cluster.operator.get(path)[0])["isr"] if cluster.operator.exists(path) else []


def test_its_zookeeper_log_conforms(directory, capsys):
    assert main(["replay", "--json", str(directory / "zookeeper")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["verdict"], report["variant"], report["violations"]) == ("conforms", "fenced", [])
    assert report["explained"] + sum(report["skipped"].values()) == report["records"]
    assert {each for each in report["skipped"] if not each.startswith("refused: ")} <= {
        "tools: persistent znodes at start",
        "persistent znodes at start",
        "tools: configuration",
        "tools: topics, created by whoever was asked",
        "tools: requests to the controller",
        "sessions that never were a broker's",
        "notifications by leaders and brokers",
        "tools: other znodes",
    }
    assert len(report["controllers"]) >= 5
    partitions = report["partitions"]
    assert partitions["changes"] == partitions["explained"] > 10, partitions["unexplained"]
    assert {"new_topic", "remove_from_isr", "isr_expand"} <= {each["strategy"] for each in partitions["by"]}


def test_every_step_of_every_process_is_one_of_the_specification(directory, capsys):
    assert main(["replay", "--json", str(directory)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["verdict"], report["violations"]) == ("conforms", [])
    files = list((directory / "recording").glob("broker-*.jsonl"))
    recorded = sum('"step":' in line for file in files for line in file.read_text().splitlines())
    assert report["steps"] == recorded > 150
    assert {"brokers.load_state", "session.reopen", "brokers.storage_error"} <= report["transitions"].keys()


def test_the_split_brain_of_kafka_6082(tmp_path, capsys):
    with Cluster(tmp_path, Size(partitions=1, variant="legacy", session_timeout=SESSION)) as cluster:
        SCENARIOS["split-brain"](cluster, Watcher(as_json=True))
        cluster.stop_all()
    assert '"landed": true' in capsys.readouterr().out
    assert main(["replay", "--json", str(tmp_path)]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"] == "conforms" and {"C4", "C8"} <= {each["id"] for each in report["violations"]}
    assert main(["replay", "--json", str(tmp_path), "--variant", "legacy-checked"]) == 1
    refused = json.loads(capsys.readouterr().out)["first_divergence"]
    assert "machines.write_leader(b=1, p=0) -> OK" in refused["step"] and "FENCED" in refused["reason"]
    assert main(["replay", "--json", str(tmp_path / "zookeeper"), "--expect", "C4"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "conforms"


@pytest.mark.parametrize(
    "path, wanted", [("/brokers/ids", "brokers are registered"), ("/brokers/topics", "topics are")]
)
def test_a_zookeeper_of_others_is_refused(path, wanted):
    there = SimpleNamespace(below=lambda listed: ["5"] if listed == path else [], zookeeper="h:1")
    with pytest.raises(UserError, match=f"h:1: {wanted} there; give an empty ZooKeeper"):
        Cluster.require_empty(there)
