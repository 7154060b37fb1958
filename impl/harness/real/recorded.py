"""What was seen along a counterexample, step by step, as a history that `kafkaproof show` draws.

The format is that of `kafkaproof.checker.pictures.history`. The file is whole at any time: it is written anew after
each step.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, cast

from kafkaproof.impl.harness.conducting.conductor import Departs
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster
from kafkaproof.impl.harness.driving.watch import Teller, epoch_in, read_znode, state_in
from kafkaproof.impl.harness.real.behaviour import Behaviour
from kafkaproof.impl.harness.real.cluster import KafkaCluster
from kafkaproof.impl.harness.real.control import Control
from kafkaproof.impl.harness.real.moves import how
from kafkaproof.impl.harness.real.outside import seen_of
from kafkaproof.impl.seams.zookeeper.znodes import Topic
from kafkaproof.spec.language.drawn import step_drawn
from kafkaproof.spec.language.steps import parse_step

HISTORY = Path("recording") / "history.json"
"""Where the history is in a cluster's directory."""
NOTED = ("besides", "lost", "later", "produced")
"""What a watcher is told that belongs to a step, too."""


class Recorded:
    """A watcher that keeps what it is told as a history, in a `with` block: it ends as the history does."""

    def __init__(self, watcher: Teller, cluster: Cluster, behaviour: Behaviour, control: Control | None = None):
        self._watcher, self._cluster, self._behaviour, self._control = watcher, cluster, behaviour, control
        self._lanes = behaviour.model.lanes(behaviour.scope)
        self._initial: dict[str, object] = {}
        self._steps: list[dict] = []
        self._notes: list[str] = []
        self._outcome = "The run has not come to its end."

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(self, _, error: BaseException | None, __) -> None:
        if isinstance(error, Departs):
            self._end(f"It goes otherwise: {error}")
        elif error:
            self._end(str(error) or "The run was interrupted.")

    def begin(self) -> None:
        """What is seen now is the state before the first step."""
        self._initial = self._seen()
        self._write()

    def say(self, text: str, **line: object) -> None:
        """Tell the watcher, and keep what is of a step, or of the end."""
        self._watcher.say(text, **line)
        if "step" in line:
            self._take(str(line["step"]))
        elif line.keys() & set(NOTED):
            self._notes.append(text.strip())
        elif "now" in line and "what" not in line and self._steps:
            self._steps[-1]["state"] = self._seen()
        elif "reproduced" in line:
            self._steps[-1]["violates"] = [self._behaviour.violated]
            self._end(text)
        elif "control" in line:
            self._end(text)

    def look(self, cluster: Cluster) -> None:
        """Have the watcher look."""
        self._watcher.look(cluster)

    def _take(self, text: str) -> None:
        number, taken = len(self._steps) + 1, parse_step(text)
        notes = [how(self._behaviour.steps[number - 1]), *self._behaviour.besides(number), *self._notes]
        drawn = step_drawn(taken, self._behaviour.model.transition(taken.transition), self._lanes)
        self._steps.append(
            drawn
            | {"time": f"{datetime.now(UTC):%H:%M:%S.%f}"[:-3], "state": self._seen(), "notes": [*dict.fromkeys(notes)]}
        )
        self._notes = []
        self._write()

    def _end(self, text: str) -> None:
        """The history ends here: with what came of it, which the last step tells, too."""
        self._outcome = text[:1].upper() + text[1:].rstrip(".") + "."
        if self._steps:
            self._steps[-1]["notes"] += [*dict.fromkeys(self._notes), self._outcome]
        self._notes = []
        self._write()

    def _seen(self) -> dict[str, object]:
        """What ZooKeeper holds and, where steps are of them, the logs of the replicas."""
        cluster, behaviour = self._cluster, self._behaviour
        topic = read_znode(cluster, Topic.path_of(TOPIC), Topic)
        names = {f"{TOPIC}-{p}": p for p in range(behaviour.size.partitions)}
        found: dict[str, object] = {
            "controller": cluster.controller(),
            "controller_epoch": epoch_in(cluster),
            "registered": cluster.registered(),
            "assignments": topic and dict(zip(names, topic.assignments)),
            "partitions": {name: (state := state_in(cluster, p)) and seen_of(state) for name, p in names.items()},
        }
        seen: dict[str, object] = {"zookeeper": found}
        if behaviour.has_planes:
            brokers = range(behaviour.scope["brokers"])
            seen["logs"] = {
                name: {
                    f"broker {b}": [value.decode() for value in cast(KafkaCluster, cluster).log_of(b, p)]
                    for b in brokers
                }
                for name, p in names.items()
            }
        return seen

    def _write(self) -> None:
        behaviour = self._behaviour
        asked = next((prop for prop in behaviour.model.properties if prop.name == behaviour.violated), None)
        release = f"Kafka {behaviour.release}"
        told = f"Unmodified brokers of {release}, driven from outside along a counterexample of {behaviour.violated}"
        title = f"{release}, seen from outside"
        if self._control:
            told, title = f"{told}: {self._control.text}", f"{title}: the control"
        history = {
            "format": 1,
            "title": title,
            "system": behaviour.model.system,
            "variant": behaviour.model.variant,
            "scope": dict(behaviour.scope),
            "property": asked and {"name": asked.name, "text": asked.text},
            "story": f"{told}. {self._outcome}",
            "lanes": self._lanes,
            "initial": self._initial,
            "steps": self._steps,
        }
        file = self._cluster.directory / HISTORY
        new = file.with_suffix(".tmp")
        new.write_text(json.dumps(history, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(new, file)
