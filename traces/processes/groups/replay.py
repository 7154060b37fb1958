"""Follows all group coordinators of a recording, beside the data plane of the offsets partition."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from kafkaproof.spec.cluster.control import leader_and_isr
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.replica.broker import LEADER, enough_in_sync
from kafkaproof.spec.replica.clients.network import lacks_replicas
from kafkaproof.spec.running.coordinators import MODEL
from kafkaproof.spec.running.processes import PARTITION
from kafkaproof.traces.processes.groups.coordinator import Coordinator, Steps, Taken
from kafkaproof.traces.processes.recorded.group_lines import GroupLine, Offered
from kafkaproof.traces.processes.recorded.lines import Line
from kafkaproof.traces.processes.recorded.offset_records import Entry
from kafkaproof.traces.processes.state.result import Divergence
from kafkaproof.traces.processes.state.world import World

NO_PARTITION = -1
APPENDED = "OK"
"""What a step `produce` answers that has appended its batch."""


class WorldLog:
    """The offsets partition, number `p`, at broker `b` in a world: see `OffsetsLog`."""

    def __init__(self, world: World, b: int, p: int):
        self._world, self._b, self._p = world, b, p

    @property
    def _replica(self):
        return self._world.states[PARTITION].planes[self._p].brokers[self._b]

    @property
    def length(self) -> int:
        """How many batches its log has."""
        return self._replica.log.length

    def id(self, place: int) -> int:
        """The id of the batch at a place."""
        return self._world.batch(self._b, self._p, place)

    def leads(self) -> bool:
        """Whether the broker leads it, as it knows."""
        return self._replica.state == LEADER

    def rules(self) -> bool:
        """Whether it does, by ZooKeeper."""
        state = self._world.states[PARTITION].zk.partitions[self._p]
        return (state.leader, state.leader_epoch) == (self._b, self._replica.leader_epoch)

    def lacks_replicas(self) -> bool:
        """Whether it would refuse an append for want of replicas."""
        return bool(lacks_replicas(1, enough_in_sync(self._replica)))

    @property
    def committed(self) -> int:
        """How many batches it knows to be committed."""
        return self._replica.hw

    def news(self) -> tuple[int, int]:
        """The leader epoch, and the leader, that it has heard of last."""
        known = self._world.record(self._b)[1].replicas[self._p]
        return known.leader_epoch, known.leader


class Groups:
    """All coordinators; `p` is the number of the offsets partition. `counts` are the steps of each group."""

    def __init__(self, world: World, p: int, model: Model = MODEL):
        self._world, self._p, self._steps = world, p, Steps(model)
        self._batches: dict[int, tuple[Entry, ...]] = {}
        self._answered: dict[str, set[int]] = defaultdict(set)
        self._deleted: dict[str, set[int]] = defaultdict(set)
        self._coordinators: dict[str, Coordinator] = {}
        self.counts: Counter[str] = Counter()

    def begin(self, line: Line) -> Iterator[tuple[GroupLine, Taken]]:
        """Take the steps that a process recorded before its first line; raises Divergence with where it is."""
        yield from self._take(line, line.earlier, None, set())

    def follow(self, line: Line) -> Iterator[tuple[GroupLine, Taken]]:
        """Take those that it recorded after a line."""
        if self._p == NO_PARTITION:
            yield from self._take(line, line.groups, None, set())
            return
        coordinator, acked = self._coordinator(line), set(line.acked)
        if line.step and line.name == leader_and_isr.__name__:
            coordinator.look()
        coordinator.settle(acked)
        yield from self._take(line, line.groups, self._produced(line), acked)

    def _coordinator(self, line):
        if line.process not in self._coordinators:
            log = WorldLog(self._world, line.broker, self._p)
            self._coordinators[line.process] = Coordinator(
                line.broker, log, self._steps, self._batches, self._answered, self._deleted
            )
        return self._coordinators[line.process]

    def _take(self, line, lines, produced, acked):
        for each in lines:
            if isinstance(each, Offered):
                self._batches[each.id] = each.entries
                continue
            try:
                if self._p == NO_PARTITION:
                    raise Divergence("the cluster has no offsets partition")
                yield each, self._coordinator(line).take(each, produced, acked)
            except Divergence as divergence:
                divergence.where = each.title
                raise
            produced = None
            self.counts[each.group] += each.step is not None

    def is_claimed(self, line: Line) -> bool:
        """Whether a step of a group tells of what a line has appended to the offsets partition, if anything."""
        first = next((each for each in line.groups if isinstance(each, GroupLine)), None)
        return self._produced(line) is None or first is not None and first.append is not None

    def _produced(self, line: Line) -> int | None:
        """The batch that a step has appended to the offsets partition."""
        if line.record is None or line.asks or line.taken.arguments["p"] != self._p or line.taken.answer != APPENDED:
            return None
        return line.record
