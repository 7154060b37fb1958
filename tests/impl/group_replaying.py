"""Replays what running coordinators record of groups, line by line as they write it, over a log of the test."""

from collections import defaultdict

from kafkaproof.spec.group.storage import NOT_LEADER
from kafkaproof.spec.protocol.batches import read_header
from kafkaproof.spec.replica.broker import LEADER
from kafkaproof.traces.processes.groups.coordinator import Coordinator, Steps
from kafkaproof.traces.processes.recorded.group_lines import GroupLines, Offered

STEPS = Steps()


class Log:
    """The offsets partition at a broker of the machine."""

    def __init__(self, machine, broker):
        self._machine, self._broker = machine, broker

    @property
    def length(self):
        return len(self._machine.log)

    @property
    def committed(self):
        return len(self._machine.log) - len(self._machine.waiting)

    def id(self, place):
        return read_header(self._machine.log[place]).crc

    def leads(self):
        return self._broker.replica.state == LEADER

    def rules(self):
        return self._machine.leading == self._broker.broker

    def lacks_replicas(self):
        return self._machine.lacks_replicas

    def news(self):
        known = self._broker.partition.replicas[0]
        return known.leader_epoch, known.leader


class Replays:
    """A replay of each broker's coordinator; `broken` are the properties that were, `steps` what was taken."""

    def __init__(self, machine):
        self._machine, self._batches = machine, {}
        self._answered, self._deleted = defaultdict(set), defaultdict(set)
        self._coordinators, self._lines, self._produced = {}, {}, None
        self.broken, self.steps = set(), []

    def add(self, broker):
        """Follow one more broker."""
        log = Log(self._machine, broker)
        self._coordinators[broker.broker] = Coordinator(
            broker.broker, log, STEPS, self._batches, self._answered, self._deleted
        )
        self._lines[broker.broker] = GroupLines(f"{broker.broker}.1")

    def look(self, b):
        """A broker has heard of the leader."""
        self._coordinators[b].look()

    def produced(self, batch):
        """A batch went into the log."""
        self._produced = read_header(batch).crc

    def settled(self, waiting, is_done):
        """Brokers hear what has become of their batches."""
        for b, coordinator in self._coordinators.items():
            ids = {read_header(batch).crc for broker, batch in waiting if broker == b}
            if is_done:
                coordinator.settle(ids)
            for group in coordinator.groups.values():
                for place, id in [] if is_done else list(group.storage.undecided.items()):
                    group.storage.decide(place, NOT_LEADER) if id in ids else None

    def note(self, b, row):
        """Take a line as it is recorded."""
        line = self._lines[b].read(row)
        if isinstance(line, Offered):
            self._batches[line.id] = line.entries
            return
        produced, self._produced = self._produced, None
        taken = self._coordinators[b].take(line, produced, set())
        self.broken |= {prop.name for prop in (*taken.broken, *taken.states)}
        self.steps += [line.step.transition] if line.step else []
