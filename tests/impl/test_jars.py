"""The jars of a Kafka release are those of KAFKA_HOME, or Maven's; what is missing is told in a line."""

import stat

import pytest

from kafkaproof.impl.harness.real import jars
from kafkaproof.impl.harness.real.jars import class_path, number_of, tools_class_path
from kafkaproof.spec.errors import UserError


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """Nothing of this machine is found."""
    monkeypatch.delenv("KAFKA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()


def maven(tmp_path, text):
    """A Maven that does what a shell script says."""
    file = tmp_path / "bin" / "mvn"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


COPY = (
    'for each; do case $each in -DoutputDirectory=*) /bin/mkdir -p ${each#*=}; /bin/cp "$4" ${each#*=}/pom;; esac; done'
)


@pytest.mark.parametrize(
    "release, why",
    [
        ("3", "not a release of Kafka; give one such as 3.9.1"),
        ("3.9.x", "not a release"),
        ("4.0.0", "the last with"),
        ("0.9.0.1", "from 0.10.2.0"),
        ("0.10.1.1", "from 0.10.2.0"),
    ],
)
def test_what_has_no_zookeeper_mode_or_no_listeners_is_refused(release, why):
    with pytest.raises(UserError, match=f"--kafka {release}: .*{why}"):
        class_path(release)


def test_releases_are_numbers():
    assert number_of("3.9.1") == (3, 9, 1) and number_of("0.10.2.2") == (0, 10, 2, 2)


def test_the_tools_have_jars_of_their_own(tmp_path):
    maven(tmp_path, COPY)
    broker, tools = tools_class_path("2.8.2").split(":")
    assert broker == class_path("2.8.2") and tools == f"{tmp_path}/cache/kafkaproof/kafka/2.8.2-tools/*"
    assert (
        "kafka-tools</artifactId><version>2.8.2<" in (tmp_path / "cache/kafkaproof/kafka/2.8.2-tools/pom").read_text()
    )


def test_maven_fetches_once_and_into_the_cache(tmp_path):
    maven(tmp_path, COPY)
    assert class_path("2.8.2") == f"{tmp_path}/cache/kafkaproof/kafka/2.8.2/*"
    pom = (tmp_path / "cache/kafkaproof/kafka/2.8.2/pom").read_text()
    assert "kafka_2.13</artifactId><version>2.8.2<" in pom and "slf4j-reload4j" in pom
    maven(tmp_path, "exit 1")
    assert class_path("2.8.2").endswith("2.8.2/*")
    assert [each.name for each in jars.cache().iterdir()] == ["2.8.2"]


def test_old_releases_are_of_an_older_scala(tmp_path):
    maven(tmp_path, COPY)
    class_path("1.1.1")
    assert "kafka_2.12<" in (jars.cache() / "1.1.1" / "pom").read_text()


def test_no_maven_and_a_maven_that_fails_are_one_line(tmp_path):
    with pytest.raises(UserError, match="no mvn on PATH, .* Kafka 3.9.1; install Maven, or set KAFKA_HOME"):
        class_path("3.9.1")
    maven(tmp_path, 'echo "[ERROR] Could not find artifact kafka"; echo "[ERROR] more"; exit 1')
    with pytest.raises(
        UserError, match=r"cannot fetch the jars of Kafka 3.9.1: \[ERROR\] Could not find artifact kafka$"
    ):
        class_path("3.9.1")
    assert not list(jars.cache().iterdir()), "nothing half fetched is left"


def test_an_unpacked_release_is_used_where_it_is_the_one_asked_for(tmp_path, monkeypatch):
    (tmp_path / "kafka" / "libs").mkdir(parents=True)
    monkeypatch.setenv("KAFKA_HOME", str(tmp_path / "kafka"))
    with pytest.raises(UserError, match="no kafka_.*jar in its libs"):
        class_path("3.9.1")
    (tmp_path / "kafka" / "libs" / "kafka_2.13-3.9.1.jar").touch()
    assert class_path("3.9.1") == f"{tmp_path}/kafka/libs/*"
    with pytest.raises(UserError, match="it is Kafka 3.9.1, and --kafka asks for 2.8.2"):
        class_path("2.8.2")
