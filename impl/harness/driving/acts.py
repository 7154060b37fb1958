"""What is to be done to a cluster, from a file: one act a line, in the format of `recording/faults.jsonl`.

    {"time": 5.2, "fault": "pause", "broker": 0}
    {"time": 7.6, "fault": "fail_log_dir", "broker": 2, "partition": 1}
    {"time": 9.9, "fault": "delete_controller"}
    {"time": 12, "fault": "delete_topic", "topic": "more"}
    {"time": 15, "fault": "reassign", "partition": 0, "replicas": [2, 1]}
    {"time": 17, "fault": "lose_frame", "broker": 1, "link": "zookeeper", "pattern": {"part": "answer"}}

So what was done to one cluster can be done to another. `time` is in seconds from the cluster's beginning.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kafkaproof.impl.clients.topics import NAME
from kafkaproof.impl.harness.driving.catalogue import EXPIRE, FAULTS, START, STOP_ALL
from kafkaproof.impl.harness.driving.cluster import Cluster, Size
from kafkaproof.impl.harness.driving.damage import Broken
from kafkaproof.impl.harness.driving.watch import Watcher
from kafkaproof.impl.harness.links.rules import check_pattern
from kafkaproof.impl.seams.zookeeper.partition_numbers import OFFSETS_TOPIC
from kafkaproof.spec.errors import UserError

ZOOKEEPER, KAFKA = "zookeeper", "kafka"
"""The links of a broker: to ZooKeeper, and the one by which other brokers reach it."""
LONGEST = 60.0
"""The longest delay of a slow link, in seconds."""


class Act(NamedTuple):
    """Something to do: when, in seconds from the cluster's beginning, what, and to whom or what."""

    time: float
    fault: str
    arguments: tuple


def read_acts(file: Path, size: Size, owns_zookeeper: bool = True) -> list[Act]:
    """The acts of a file, up to the end of the cluster in it; raises UserError, with file and line."""
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--faults {file}: {getattr(error, 'strerror', None) or 'not text'}") from None
    found: list[Act] = []
    for number, line in enumerate(lines, 1):
        try:
            act = _act(line, size, owns_zookeeper)
            if found and act.time < found[-1].time:
                raise ValueError(f"its time, {act.time}, is before that of the line above")
        except ValueError as error:
            raise UserError(f"{file}: line {number}: {error}") from None
        found.append(act)
        if act.fault == STOP_ALL.name:
            break
    if not found or found[0].fault == STOP_ALL.name:
        raise UserError(f'{file}: nothing to do in it; a line is like {{"time": 5.2, "fault": "kill", "broker": 0}}')
    return found


def _act(line: str, size: Size, owns_zookeeper: bool) -> Act:
    """The act of a line; raises ValueError."""
    try:
        row = json.loads(line)
    except ValueError:
        raise ValueError('not JSON; a line is like {"time": 5.2, "fault": "kill", "broker": 0}') from None
    if not isinstance(row, dict) or row.get("fault") not in FAULTS:
        raise ValueError(f"its fault is none of {', '.join(FAULTS)}")
    fault, wanted = row["fault"], ("time", "fault", *FAULTS[row["fault"]].needs)
    if set(row) != set(wanted):
        raise ValueError(f"{fault} needs {', '.join(wanted)}, and there is {', '.join(row)}")
    if why := why_not(fault, size, owns_zookeeper):
        raise ValueError(f"{fault}: {why}")
    if "replicas" in row:
        _check_reassignment(row, size)
    if "pattern" in row:
        _check_frame(row, size)
    if "broker" in row and (type(row["broker"]) is not int or row["broker"] not in size.broker_ids.all):
        raise ValueError(f"broker is {json.dumps(row['broker'])}: a whole number {_brokers(size)}")
    highest = {"time": sys.float_info.max, "broker": sys.maxsize, "partition": size.standing - 1, "delay": LONGEST}
    for name in row.keys() - {"replicas", "link", "pattern"} - ({"data"} if row.get("data", "") is None else set()):
        _check(name, row[name], highest.get(name))
    return Act(row["time"], fault, tuple(row[name] for name in FAULTS[fault].needs))


def why_not(fault: str, size: Size, owns_zookeeper: bool) -> str | None:
    """Why something cannot be done to a cluster, None where it can."""
    declared = FAULTS[fault]
    if declared.ours and size.release:
        return "only brokers of our own do that when they are told; leave --kafka away"
    if declared.mixed and not size.ours:
        return "only in a cluster of both kinds; give --brokers ours:1,kafka-3.9.1:2, or the like"
    if declared.not_legacy and size.variant == "legacy":
        return declared.not_legacy
    if declared.our_zookeeper and not owns_zookeeper:
        return "the ZooKeeper of --zookeeper is not ours to kill"
    return None


def _check_frame(row: dict, size: Size) -> None:
    """Raise ValueError where a broker has no such link, or no frame can fit the pattern."""
    if row["link"] not in ((ZOOKEEPER, KAFKA) if size.release else (ZOOKEEPER,)):
        raise ValueError(
            f"link is {json.dumps(row['link'])}: {ZOOKEEPER}"
            + (f" or {KAFKA}" if size.release else f" (with --kafka RELEASE also {KAFKA})")
        )
    if not isinstance(row["pattern"], dict):
        raise ValueError(
            f"pattern is {json.dumps(row['pattern'])}: an object of names and values, such as "
            '{"part": "answer", "operation": "multi"}'
        )
    check_pattern(row["pattern"])


def _check_reassignment(row: dict, size: Size) -> None:
    """Raise ValueError where a partition of the topic cannot be on these brokers."""
    replicas = row["replicas"]
    if row["partition"] not in range(size.partitions):
        raise ValueError(
            f"partition is {json.dumps(row['partition'])}: one of the topic, from 0 to {size.partitions - 1}"
        )
    known = isinstance(replicas, list) and all(type(r) is int and r in size.broker_ids.all for r in replicas)
    if not known or len(set(replicas)) < len(replicas) or not 0 < len(replicas) <= size.replicas:
        raise ValueError(
            f"replicas is {json.dumps(replicas)}: a list of 1 to {size.replicas} brokers (--replicas), "
            f"each once, {_brokers(size)}"
        )


def _brokers(size: Size) -> str:
    """Which brokers there are, in words."""
    return f"of {', '.join(map(str, size.ids))}" if size.ids else f"from 0 to {size.brokers - 1}"


def _check(name: str, value: object, highest: float | None) -> None:
    """Raise ValueError where a value is none that `name` may have."""
    if highest is None:
        if not isinstance(value, str):
            raise ValueError(f"{name} is {json.dumps(value)}: a string")
        if name == "path" and not (value.startswith("/") and len(value) > 1 and not value.endswith("/")):
            raise ValueError(f"path is {json.dumps(value)}: of a znode, such as /admin/reassign_partitions")
        if name == "topic" and (not NAME.fullmatch(value) or value == OFFSETS_TOPIC):
            raise ValueError(f"topic is {json.dumps(value)}: of a-z, A-Z, 0-9, '.', '_', '-', and not {OFFSETS_TOPIC}")
        return
    kinds = (int,) if name in ("broker", "partition") else (int, float)
    if not isinstance(value, kinds) or isinstance(value, bool) or not 0 <= value <= highest:
        bounds = "0 or more" if highest == sys.float_info.max else f"from 0 to {highest}"
        raise ValueError(f"{name} is {json.dumps(value)}: a {'whole ' if kinds == (int,) else ''}number {bounds}")


def carry_out(
    acts: list[Act], cluster: Cluster, watcher: Watcher, before_mending: Callable[[], None] = lambda: None
) -> None:
    """Do all of it, each at its time; then mend everything, and wait for the end, if it has a time.

    Everything is done as much later as the cluster came up late. `before_mending` is called when the acts are done and
    nothing is mended yet. A broker that runs is not started again. What needs a running broker is left out where none
    runs, and a line says so.
    """
    broken, end = Broken(cluster), acts[-1].time if acts[-1].fault == STOP_ALL.name else 0.0
    late = max(0.0, cluster.age - next((act.time for act in acts if act.fault != START.name), 0.0))
    for act in acts[:-1] if end else acts:
        _wait(cluster, watcher, act.time + late)
        words = " ".join(map(str, (act.fault.replace("_", " "), *act.arguments)))
        if act.fault == START.name:
            broken.start(*act.arguments)
        elif FAULTS[act.fault].running and not _runs(cluster, act):
            watcher.say(f"not done: {words}: broker {act.arguments[0]} does not run", fault=act.fault, left_out=True)
        else:
            about = dict(zip(FAULTS[act.fault].needs[:1] or ("broker",), act.arguments or (None,)))
            watcher.say(words, fault=act.fault, **about)
            broken.do(act.fault, *act.arguments)
    before_mending()
    broken.mend()
    watcher.look(cluster)
    _wait(cluster, watcher, end + late)


def _wait(cluster: Cluster, watcher: Watcher, age: float) -> None:
    """Wait until a cluster is so old, in seconds, and tell what happens."""
    while cluster.age < age:
        watcher.look(cluster)
        time.sleep(0.05)


def _runs(cluster: Cluster, act: Act) -> bool:
    """Whether the broker of an act runs, and has the session that the act may end."""
    child = cluster.children[act.arguments[0]]
    return child.running and (act.fault != EXPIRE.name or child.session is not None)
