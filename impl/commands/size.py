"""The size of the cluster that the options of `kafkaproof run` ask for."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from typing import NamedTuple

from kafkaproof.impl.harness.conducting.scenarios import CONDUCTED, LEAST_BROKERS, SESSION
from kafkaproof.impl.harness.driving.cluster import Size
from kafkaproof.impl.harness.real.jars import NEWEST, number_of
from kafkaproof.spec.errors import UserError

KAFKA_SESSION = 4.0
"""The shortest session timeout of real brokers, in seconds."""
BROKERS, HIGHEST_ID = 3, 2**31 - 1
"""How many brokers there are, where nothing else is said; and the highest id that one may have."""
MOST, JOINING = 9, 2
"""How many brokers there may be at most; and how many real ones may join a cluster of both while it runs."""
OLDEST_MIXED = (2, 8)
"""The first release whose brokers may be mixed with ours: it has topic ids."""
_MIXTURE = re.compile(r"ours:(\d+),kafka-([\d.]+):(\d+)")


class Brokers(NamedTuple):
    """How many brokers there are; of a mixture, how many of them are ours, and of which release the others are."""

    number: int
    ours: int = 0
    release: str = ""


def read_brokers(text: str) -> Brokers:
    """What --brokers says: a number, or a mixture; raises ArgumentTypeError."""
    if found := _MIXTURE.fullmatch(text):
        ours, release, real = int(found[1]), found[2], int(found[3])
        if ours and real:
            return Brokers(ours + real, ours, release)
    elif text.isdecimal():
        return Brokers(int(text))
    raise ArgumentTypeError(f"{text!r}: a number, or a mixture such as ours:1,kafka-3.9.1:2")


def read_ids(text: str) -> tuple[int, ...]:
    """What --ids says: the ids of brokers; raises ArgumentTypeError."""
    ids = [int(each) if each.isdecimal() else HIGHEST_ID + 1 for each in text.split(",")]
    if max(ids) > HIGHEST_ID or len(set(ids)) < len(ids):
        raise ArgumentTypeError(f"{text!r}: whole numbers from 0 to {HIGHEST_ID}, each once, such as 1,2,7")
    return tuple(sorted(ids))


def number_of_brokers(options) -> int:
    """How many brokers --brokers and --ids ask for; raises UserError where they do not fit."""
    ids, brokers = options.ids or (), options.brokers
    if ids and brokers and brokers.number != len(ids):
        raise UserError(f"--ids: {len(ids)} ids, and --brokers {brokers.number}: give as many, or leave --brokers away")
    if ids and (options.scenario or options.compare):
        other = "--scenario" if options.scenario else "--compare"
        raise UserError(f"--ids and {other}: give one of them; {other} has brokers 0 to N-1")
    return brokers.number if brokers else len(ids) or BROKERS


def size_of(options) -> Size:
    """The size that the options ask for; raises UserError."""
    brokers = number_of_brokers(options)
    replicas = min(3, brokers) if options.replicas is None else options.replicas
    limits = {
        "brokers": (1, MOST),
        "partitions": (1, 1000),
        "replicas": (1, brokers),
        "min_isr": (1, replicas),
        "session_timeout": (0.5, 60),
    }
    values = {
        "brokers": brokers,
        "ids": options.ids or (),
        "partitions": options.partitions,
        "replicas": replicas,
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
        if brokers < LEAST_BROKERS:
            raise UserError(f"--scenario {options.scenario} needs --brokers {LEAST_BROKERS} or more")
        values["session_timeout"] = max(values["session_timeout"], SESSION)
    if options.scenario in CONDUCTED:
        if options.variant != "legacy":
            raise UserError(f"--scenario {options.scenario} needs --variant legacy: later versions have no such steps")
        values["partitions"], values["ordered"] = 1, True
    if options.brokers and options.brokers.ours:
        return mixed_size(options, values)
    if options.kafka:
        return kafka_size(options, values)
    fenced = options.variant == "fenced"
    return Size(variant=options.variant, groups=fenced, auto_create=fenced, **values)


def require_plain(options, size: Size) -> None:
    """Raise UserError where something is asked for that needs a ZooKeeper of which nobody has made use."""
    asked = ("load", "chaos", "faults", "scenario", "from_counterexample", "kafka")
    given = [f"--{name.replace('_', '-')}" for name in asked if getattr(options, name) not in (None, False)]
    if size.variant == "legacy":
        given.append("--variant legacy")
    if given or size.ours:
        raise UserError(
            f"{options.zookeeper}: there are topics or brokers in it; {(given or ['--brokers with real ones'])[0]} needs an "
            "empty one"
        )


def kafka_size(options, values: dict) -> Size:
    """The size of a cluster of real brokers; raises UserError where something is asked for that they do not do."""
    number_of(options.kafka)
    if options.variant != "fenced":
        raise UserError("--variant is for our brokers; for real ones, --kafka RELEASE says it all")
    if options.scenario:
        raise UserError(
            f"--scenario {options.scenario} needs our brokers: a real one cannot be told to stop before a step"
        )
    values["session_timeout"] = max(values["session_timeout"], KAFKA_SESSION)
    return Size(release=options.kafka, recorded=False, **values)


def mixed_size(options, values: dict) -> Size:
    """The size of a cluster of both; raises UserError where something is asked for that only one kind of brokers does."""
    ours, release = options.brokers.ours, options.brokers.release
    if number_of(release) < OLDEST_MIXED:
        raise UserError(f"--brokers: {release} has no topic ids; brokers of 2.8 or later can be mixed with ours")
    if options.kafka:
        raise UserError("--brokers says which brokers there are; leave --kafka away")
    if options.variant != "fenced":
        raise UserError("--brokers: only brokers of the variant fenced can be mixed with real ones")
    if options.scenario:
        raise UserError("--scenario is for clusters of one kind of brokers")
    values["session_timeout"] = max(values["session_timeout"], KAFKA_SESSION)
    spoken = "3.9" if number_of(release)[:2] == NEWEST else "2.8"
    return Size(release=release, ours=ours, spoken=spoken, groups=True, others=_following(values), **values)


def _following(values: dict) -> tuple[int, ...]:
    """The ids of real brokers that may join a cluster of both while it runs: those that follow."""
    first = max(values["ids"] or range(values["brokers"])) + 1
    return tuple(range(first, first + min(JOINING, MOST - values["brokers"])))
