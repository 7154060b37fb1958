"""The size of the cluster that the options of `kafkaproof run` ask for."""

from __future__ import annotations

from kafkaproof.impl.harness.conducting.scenarios import CONDUCTED, LEAST_BROKERS, SESSION
from kafkaproof.impl.harness.driving.cluster import Size
from kafkaproof.impl.harness.real.jars import number_of
from kafkaproof.spec.errors import UserError

ROOM = 3
"""How many partitions topics may have that clients create, where nothing else is said."""
KAFKA_SESSION = 4.0
"""The shortest session timeout of real brokers, in seconds."""


def size_of(options) -> Size:
    """The size that the options ask for; raises UserError."""
    replicas = min(3, options.brokers) if options.replicas is None else options.replicas
    limits = {
        "brokers": (1, 9),
        "partitions": (1, 50),
        "room": (0, 12),
        "replicas": (1, options.brokers),
        "min_isr": (1, replicas),
        "session_timeout": (0.5, 60),
    }
    values = {
        "brokers": options.brokers,
        "partitions": options.partitions,
        "replicas": replicas,
        "room": options.room if options.variant == "fenced" else 0,
        "min_isr": options.min_isr,
        "session_timeout": options.session_timeout,
    }
    for name, (low, high) in limits.items():
        if not low <= values[name] <= high:
            raise UserError(f"--{name.replace('_', '-')} {values[name]}: from {low} to {high}")
    if options.seconds is not None and not options.seconds > 0:
        raise UserError(f"--seconds {options.seconds}: more than 0")
    if options.port is not None and not 0 < options.port < 65536:
        raise UserError(f"--port {options.port}: from 1 to 65535")
    if options.port and options.zookeeper:
        raise UserError(
            "--port is for a ZooKeeper that this command starts, and --zookeeper names another one: give one of them"
        )
    if options.load and (options.variant != "fenced" or options.scenario):
        raise UserError("--load works with --variant fenced and without --scenario: legacy brokers have no logs")
    if sum((options.scenario is not None, options.chaos is not None, options.faults is not None)) > 1:
        raise UserError("--scenario, --chaos and --faults: give one of them")
    if options.unclean and options.chaos is None:
        raise UserError("--unclean needs --chaos SEED; in a file of faults, write the fault allow_unclean")
    if (options.faults or options.scenario) and options.seconds is not None:
        raise UserError(
            "--seconds: leave it out, since the file of --faults says how long, and a --scenario ends by itself"
        )
    if options.scenario:
        if options.brokers < LEAST_BROKERS:
            raise UserError(f"--scenario {options.scenario} needs --brokers {LEAST_BROKERS} or more")
        values["session_timeout"] = max(values["session_timeout"], SESSION)
    if options.scenario in CONDUCTED:
        if options.variant != "legacy":
            raise UserError(f"--scenario {options.scenario} needs --variant legacy: later versions have no such steps")
        values["partitions"], values["ordered"] = 1, True
    if options.kafka:
        return kafka_size(options, values)
    return Size(variant=options.variant, groups=options.variant == "fenced", **values)


def kafka_size(options, values: dict) -> Size:
    """The size of a cluster of real brokers; raises UserError where something is asked for that they do not do."""
    number_of(options.kafka)
    if options.variant != "fenced":
        raise UserError("--variant is for our brokers; for real ones, --kafka RELEASE says it all")
    if options.scenario:
        raise UserError(
            f"--scenario {options.scenario} needs our brokers: a real one cannot be told to stop before a step"
        )
    if options.room != ROOM:
        raise UserError("--room is for our brokers; real ones create any number of topics")
    values["session_timeout"] = max(values["session_timeout"], KAFKA_SESSION)
    return Size(release=options.kafka, recorded=False, **values)
