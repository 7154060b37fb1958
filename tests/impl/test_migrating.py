"""Migrations of a real cluster are recorded: what is kept of one, and (with real Kafka) a whole one that replay follows."""

import gzip
from types import SimpleNamespace

import pytest

from kafkaproof.checker.commands.main import main as replay
from kafkaproof.impl.harness.real.migrating import STORIES, keep, main, record
from kafkaproof.impl.harness.real.quorum import CONTROLLERS, DRIVING, METADATA, MigratingCluster, wait_for
from kafkaproof.impl.harness.real.trials import CAME_TRUE, TRIALS, noted
from kafkaproof.impl.harness.real.tried import TriedCluster
from kafkaproof.spec.errors import UserError

LINE = (
    "[2026-11-28 15:26:25,640] INFO [KRaftMigrationDriver id=3001] 3001 transitioning from WAIT_FOR_BROKERS to "
    "BECOME_CONTROLLER state (org.apache.kafka.metadata.migration.KRaftMigrationDriver)"
)


def test_the_states_of_drivers_are_read_from_their_logs():
    assert DRIVING.search(LINE).groups() == ("15:26:25,640", "3001", "3001", "BECOME_CONTROLLER")


def test_of_each_quorum_the_log_of_each_controller_is_kept_and_no_padding(tmp_path):
    place = tmp_path / "place"
    (place / "zookeeper" / "version-2").mkdir(parents=True)
    (place / "zookeeper" / "version-2" / "log.1").write_bytes(b"ZKLG...B" + bytes(100))
    for controller in CONTROLLERS:
        for data in "data-1", "data-2":
            log = place / f"node-{controller}" / data / METADATA
            log.mkdir(parents=True)
            (log / "00000000000000000000.log").write_bytes(data.encode())
            (log / "00000000000000000000.index").write_bytes(bytes(10))
    keep(place, tmp_path / "kept")
    assert (tmp_path / "kept" / "zookeeper" / "version-2" / "log.1").read_bytes() == b"ZKLG...B"
    found = sorted((tmp_path / "kept" / "metadata").rglob("*.gz"))
    assert len(found) == 2 * len(CONTROLLERS)
    assert gzip.decompress(found[0].read_bytes()) == b"data-1" and "quorum-1" in str(found[0])


def test_what_does_not_come_is_one_line(monkeypatch):
    monkeypatch.setattr("kafkaproof.impl.harness.real.quorum.PATIENCE", 0.01)
    with pytest.raises(UserError, match="nothing comes"):
        wait_for(lambda: False, "nothing comes", 0.001)


def test_a_story_that_cannot_be_recorded_is_one_line(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("KAFKA_HOME", str(tmp_path))
    assert main(["lost", str(tmp_path / "kept")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_each_node_is_configured_for_its_part(tmp_path, monkeypatch):
    monkeypatch.setattr("kafkaproof.impl.harness.real.quorum.class_path", lambda release: "jars")
    cluster = MigratingCluster(tmp_path, "3.9.1")
    cluster.keeper = SimpleNamespace(address="127.0.0.1:1")
    found = cluster._controller_properties(3000)
    assert (found["process.roles"], found["zookeeper.metadata.migration.enable"]) == ("controller", "true")
    cluster.migrates = False
    assert "zookeeper.connect" not in cluster._controller_properties(3000)


@pytest.mark.real
@pytest.mark.parametrize("story", STORIES)
def test_a_migration_of_real_kafka_is_recorded_and_followed(story, tmp_path, capsys):
    record(STORIES[story], "3.9.1", tmp_path / "kept", tmp_path / "place")
    assert replay(["replay", str(tmp_path / "kept"), "--json"]) == 0
    lost = '"kind": "lost-metadata"' in capsys.readouterr().out
    assert lost == (story == "lost")


def test_a_controller_that_is_tried_reaches_zookeeper_through_its_link(tmp_path, monkeypatch):
    monkeypatch.setattr("kafkaproof.impl.harness.real.quorum.class_path", lambda release: "jars")
    cluster = TriedCluster(tmp_path, "3.9.1")
    cluster.keeper = SimpleNamespace(address="127.0.0.1:1")
    cluster.links = {node: SimpleNamespace(address=f"127.0.0.1:{node}") for node in CONTROLLERS}
    assert cluster._controller_properties(3001)["zookeeper.connect"] == "127.0.0.1:3001"
    cluster.migrates = False
    assert "zookeeper.connect" not in cluster._controller_properties(3001)


def test_whether_a_finding_came_true_stands_in_the_transcript(tmp_path, monkeypatch):
    monkeypatch.setattr("kafkaproof.impl.harness.real.quorum.class_path", lambda release: "jars")
    cluster = TriedCluster(tmp_path, "3.9.1")
    for came_true in True, False:
        noted(lambda _, came_true=came_true: came_true)(cluster)
    assert [CAME_TRUE in line for line in cluster.transcript] == [True, False]


@pytest.mark.real
@pytest.mark.parametrize("trial", TRIALS)
def test_what_was_found_comes_true_in_real_kafka_and_is_followed(trial, tmp_path):
    record(noted(TRIALS[trial]), "3.9.1", tmp_path / "kept", tmp_path / "place", TriedCluster)
    assert CAME_TRUE in (tmp_path / "kept" / "transcript.txt").read_text()
    assert replay(["replay", str(tmp_path / "kept"), "--json"]) == 0
