"""The configuration of a real broker: small, quick to notice a failure, and with logs that replay reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

LISTENERS = "CLIENT", "INNER"
"""Clients come to the first; brokers reach each other, and the controller them, by the second."""
LOG4J = """log4j.rootLogger=INFO, server
{appenders}
log4j.logger.kafka.controller=TRACE, controller
log4j.additivity.kafka.controller=false
log4j.logger.state.change.logger=TRACE, statechange
log4j.additivity.state.change.logger=false
"""
_APPENDER = """log4j.appender.{name}=org.apache.log4j.FileAppender
log4j.appender.{name}.File=${{logs.dir}}/{file}
log4j.appender.{name}.layout=org.apache.log4j.PatternLayout
log4j.appender.{name}.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
LOGS = {"server": "server.log", "controller": "controller.log", "statechange": "state-change.log"}
"""The logs of a broker, as a distribution of Kafka configures them."""


def write_log4j(file: Path) -> None:
    """Write the configuration of the brokers' logs, which lie where -Dlogs.dir says."""
    appenders = "".join(_APPENDER.format(name=name, file=log) for name, log in LOGS.items())
    file.write_text(LOG4J.format(appenders=appenders))


def write_properties(
    file: Path,
    broker: int,
    size,
    zookeeper: str,
    ports: Mapping[str, int],
    advertised: Mapping[str, int],
    directories: list[Path],
    more: Mapping[str, Any],
) -> None:
    """Write the server.properties of a broker.

    `ports`, `advertised`: of each listener, that for brokers last, where it listens, and where others find it;
    `zookeeper`: HOST:PORT;
    `directories`: for logs of partitions; `more`: properties that go before those that are here.
    """
    replicas = min(3, size.brokers)
    found: dict[str, object] = {
        "broker.id": broker,
        "reserved.broker.max.id": max(1000, broker),
        "zookeeper.connect": zookeeper,
        "log.dirs": ",".join(map(str, directories)),
        "zookeeper.session.timeout.ms": int(size.session_timeout * 1000),
        "zookeeper.connection.timeout.ms": 60_000,
        "listeners": _listeners(ports),
        "advertised.listeners": _listeners(advertised),
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in ports),
        "inter.broker.listener.name": list(ports)[-1],
        "min.insync.replicas": size.min_isr,
        "num.partitions": 1,
        "default.replication.factor": size.replicas,
        "auto.create.topics.enable": "false",
        "auto.leader.rebalance.enable": "false",
        "unclean.leader.election.enable": "false",
        "delete.topic.enable": "true",
        "offsets.topic.num.partitions": 1,
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.num.partitions": 1,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": 1,
        "group.initial.rebalance.delay.ms": 0,
        "replica.lag.time.max.ms": 3000,
        "replica.high.watermark.checkpoint.interval.ms": 1000,
        "controller.socket.timeout.ms": 5000,
        "replica.socket.timeout.ms": 5000,
        "request.timeout.ms": 5000,
        "num.network.threads": 2,
        "num.io.threads": 4,
        "background.threads": 2,
        "log.cleaner.dedupe.buffer.size": 8 << 20,
        "log.index.size.max.bytes": 1 << 20,
        **more,
    }
    file.write_text("".join(f"{name}={value}\n" for name, value in sorted(found.items())))


def _listeners(ports: Mapping[str, int]) -> str:
    return ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items())
