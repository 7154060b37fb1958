"""The jars of a Kafka release: those of KAFKA_HOME, or of Maven Central, kept in a cache."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from kafkaproof.spec.errors import UserError

OLDEST, NEWEST = (0, 10, 2), (3, 9)
"""The releases that have what is needed: inter.broker.listener.name (KIP-103), and a ZooKeeper mode."""
SCALA_213 = (2, 4)
"""The first release that is there for Scala 2.13."""
LOGGING = "1.7.36"
"""The version of slf4j-reload4j, which writes the brokers' logs: the releases' own dependencies name none, or log4j."""
JAXB = "2.3.1"
"""The version of jaxb-api, which releases before 1.0 need, and Java has had no more since 11."""
PATIENCE = 900
"""How long Maven may take, in seconds."""
_RELEASE = re.compile(r"\d+(\.\d+){2,3}")
_POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>jars</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>{artifact}</artifactId><version>{release}</version>
      <exclusions>
        <exclusion><groupId>log4j</groupId><artifactId>log4j</artifactId></exclusion>
        <exclusion><groupId>org.slf4j</groupId><artifactId>slf4j-log4j12</artifactId></exclusion>
      </exclusions>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId><artifactId>slf4j-reload4j</artifactId><version>{logging}</version>
    </dependency>
    <dependency><groupId>javax.xml.bind</groupId><artifactId>jaxb-api</artifactId><version>{jaxb}</version></dependency>
  </dependencies>
</project>
"""


def number_of(release: str) -> tuple[int, ...]:
    """A release as numbers; raises UserError where there is none such, or none that has a ZooKeeper mode."""
    if not _RELEASE.fullmatch(release):
        raise UserError(f"--kafka {release}: not a release of Kafka; give one such as 3.9.1, 2.8.2 or 1.1.1")
    number = tuple(map(int, release.split(".")))
    if not OLDEST <= number[:3] or number[:2] > NEWEST:
        raise UserError(
            f"--kafka {release}: from 0.10.2.0, the first whose brokers can have a listener of their own, "
            "to 3.9, the last with ZooKeeper"
        )
    return number


def class_path(release: str) -> str:
    """The class path of a release's broker; raises UserError where its jars cannot be had."""
    number = number_of(release)
    if home := os.environ.get("KAFKA_HOME"):
        return _of_home(Path(home), release)
    scala = "2.13" if number >= SCALA_213 else "2.12"
    return _resolved(f"kafka_{scala}", release, cache() / release)


def tools_class_path(release: str) -> str:
    """The class path of a release's command-line tools; raises UserError where their jars cannot be had."""
    broker = class_path(release)
    if os.environ.get("KAFKA_HOME"):
        return broker
    return broker + os.pathsep + _resolved("kafka-tools", release, cache() / f"{release}-tools")


def _resolved(artifact: str, release: str, directory: Path) -> str:
    if not directory.is_dir():
        _resolve(artifact, release, directory)
    return f"{directory}/*"


def cache() -> Path:
    """Where resolved jars are kept: below XDG_CACHE_HOME, or ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kafkaproof" / "kafka"


def _of_home(home: Path, release: str) -> str:
    """The class path of an unpacked release, which has to be the one that is wanted."""
    jars = sorted(home.glob("libs/kafka_*.jar"))
    found = sorted({each[1] for jar in jars if (each := re.fullmatch(r"kafka_[\d.]+-(\d[\d.]*)\.jar", jar.name))})
    if not found:
        raise UserError(
            f"KAFKA_HOME={home}: no kafka_*.jar in its libs/; name an unpacked release of Kafka, or unset "
            "KAFKA_HOME to have Maven resolve the jars"
        )
    if release not in found:
        raise UserError(
            f"KAFKA_HOME={home}: it is Kafka {', '.join(found)}, and --kafka asks for {release}; give one "
            "of them, or unset KAFKA_HOME to have Maven resolve the jars"
        )
    return f"{home}/libs/*"


def _resolve(artifact: str, release: str, directory: Path) -> None:
    """Have Maven copy the jars of an artifact of a release; raises UserError."""
    maven = shutil.which("mvn")
    if maven is None:
        raise UserError(
            f"no mvn on PATH, which fetches the jars of Kafka {release}; install Maven, or set KAFKA_HOME "
            "to an unpacked release"
        )
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory.parent) as place:
            pom, jars = Path(place) / "pom.xml", Path(place) / "jars"
            pom.write_text(_POM.format(artifact=artifact, release=release, logging=LOGGING, jaxb=JAXB))
            _run_maven(
                [
                    maven,
                    "-q",
                    "-B",
                    "-f",
                    str(pom),
                    "dependency:copy-dependencies",
                    "-DincludeScope=runtime",
                    f"-DoutputDirectory={jars}",
                ],
                release,
            )
            jars.rename(directory)
    except OSError as error:
        raise UserError(
            f"{directory}: the jars of Kafka {release} cannot be kept there: {error.strerror}; set "
            "XDG_CACHE_HOME to a directory with room"
        ) from None


def _run_maven(command: list[str], release: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise UserError(
            f"Maven did not fetch the jars of Kafka {release} in {PATIENCE} seconds; try again, or set "
            "KAFKA_HOME to an unpacked release"
        ) from None
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        said = re.sub(r"\x1b\[[\d;]*m", "", lines[0] if lines else f"exit status {done.returncode}")
        raise UserError(f"Maven cannot fetch the jars of Kafka {release}: {said[:300]}")
