"""What no process records: crashes, sessions that end, what operators ask for, requests that landed unheard."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafkaproof.spec.language.model import Property
from kafkaproof.spec.partition.context import IDLE
from kafkaproof.spec.partition.failover import reopen
from kafkaproof.spec.partition.faults import crash, expire_orphan, expire_session
from kafkaproof.spec.partition.log_dirs import notify
from kafkaproof.spec.running.processes import ELECTION, PARTITION, continuations
from kafkaproof.traces.processes.recorded.lines import Line
from kafkaproof.traces.processes.state.world import World


class Unrecorded:
    """Takes such steps in a world; `judge` is told the part of each, and what it breaks.

    `sessions`: that of each living process, by broker.
    """

    def __init__(self, world: World, judge: Callable[[str, Sequence[Property]], None]):
        self._world, self._judge = world, judge
        self.sessions: dict[int, int] = {}

    def take(self, part: str, name: str, **arguments: int) -> None:
        """A step that no process recorded, if it is enabled."""
        outcome = self._world.take(part, name, **arguments) if self._world.has(part, name) else None
        if outcome:
            self._judge(part, outcome.broken)

    def land(self, line: Line) -> None:
        """A request has written, whose step got no answer and asks again: what the step itself knows stays."""
        if line.name == notify.__name__:
            self._world.leave_log_dir_event(line.broker)
        else:
            self.take(PARTITION, line.name, **line.taken.arguments)

    def close(self, broker: int, session: int) -> None:
        """ZooKeeper has closed a session, that of the living process or of a former one."""
        living = self.sessions.get(broker) == session
        for part in (ELECTION, PARTITION):
            up = self._world.enabled(part, expire_session.__name__, b=broker)
            self.take(part, (expire_session if living and up else expire_orphan).__name__, b=broker)

    def crash(self, broker: int) -> None:
        """A process has ended. In *partition* one whose session is over ends only after it has opened another."""
        self.sessions.pop(broker, None)
        self.take(ELECTION, crash.__name__, b=broker)
        if self._world.record(broker)[1].up and not self._world.enabled(PARTITION, crash.__name__, b=broker):
            self._finish_event(broker)
            for step in (reopen, crash, expire_orphan):
                self.take(PARTITION, step.__name__, b=broker)
        else:
            self.take(PARTITION, crash.__name__, b=broker)

    def _finish_event(self, broker: int) -> None:
        """Let the event in progress of a controller whose session is over end: its next request is answered EXPIRED."""
        zk = self._world.states[PARTITION].zk
        found = continuations(self._world.cluster.model(PARTITION), len(zk.partitions), len(zk.clients))
        steps = [(step.__name__, arguments) for step, arguments in found]
        while self._world.record(broker)[1].controller.doing != IDLE:
            name, arguments = next((n, a) for n, a in steps if self._world.enabled(PARTITION, n, b=broker, **a))
            self.take(PARTITION, name, b=broker, **arguments)
