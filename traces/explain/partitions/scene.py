"""A state of the specification about one partition of a log, in which transitions of a variant are run.

The specification numbers brokers from 0, the controller last, and keeps sets as bit masks; a log has ids, and only those
that matter for the partition have numbers here.
"""

from collections.abc import Callable, Iterable
from functools import cache

from kafkaproof.checker.model.refusals import refusal_of
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, everybody
from kafkaproof.spec.partition.context import NO_EPOCH, copy, remember_leadership
from kafkaproof.traces.explain.partitions.strategies import Elected

EPOCH, LEADER_EPOCH = 1, 0
"""The epoch of the controller, and that of the leader, in the states that are built here."""


class Scene:
    """A state of a variant in which all brokers are registered and the last one is the controller.

    `before`: the state of the partition, None for a new one; `assignment`: its replicas, which the controller knows, too;
    `others`: brokers that matter besides.
    """

    def __init__(self, model: Model, before: Elected | None, assignment: Iterable[int], others: Iterable[int] = ()):
        assignment = tuple(assignment)
        ids = {*assignment, *others, *(before.isr if before else ())}
        if before and before.leader != NOBODY:
            ids.add(before.leader)
        self._model, self._ids = model, sorted(ids)
        self.number, self.seat = {broker: number for number, broker in enumerate(self._ids)}, len(ids)
        self.state = s = _blank(model.variant, self.seat + 1).copy()
        self.controller, self.partition = s.brokers[self.seat].controller, s.brokers[self.seat].controller.partitions[0]
        s.zk.registered, s.zk.epoch, self.controller.epoch = everybody(self.seat + 1), EPOCH, EPOCH
        self.push(s.zk.assignments[0], assignment)
        copy(s.zk.assignments[0], self.partition.assignment)
        self._put(before)

    def _put(self, before):
        znode = self.state.zk.partitions[0]
        if before is None:
            znode.leader, znode.leader_epoch = NOBODY, NO_EPOCH
            return
        znode.leader, znode.isr = self.number.get(before.leader, NOBODY), self.bits(before.isr)
        znode.leader_epoch, znode.controller_epoch = LEADER_EPOCH, EPOCH
        remember_leadership(self.partition, znode.leader, znode.isr, LEADER_EPOCH)

    @property
    def written(self) -> Elected:
        """The state of the partition as it is now."""
        znode = self.state.zk.partitions[0]
        leader = NOBODY if znode.leader == NOBODY else self._ids[znode.leader]
        return Elected(leader, frozenset(b for b in self._ids if contains(znode.isr, self.number[b])))

    def bits(self, brokers: Iterable[int]) -> int:
        """A set of brokers, those that matter here."""
        return sum(1 << self.number[broker] for broker in set(brokers) if broker in self.number)

    def push(self, sequence: Plain, brokers: Iterable[int]) -> None:
        """Put brokers into a sequence."""
        for broker in brokers:
            push(sequence, self.number[broker])

    def take(self, transition: Callable, *arguments: int) -> bool:
        """Take a step of the variant, if it is possible."""
        return bool(self._function(transition)(self.state, *arguments))

    def why_not(self, transition: Callable, *arguments: int) -> str | None:
        """Why a step is not possible, None where it is, and is taken."""
        before = self.state.copy()
        if self.take(transition, *arguments):
            return None
        return str(refusal_of(self._function(transition), self._model.state, before, *arguments))

    def _function(self, transition):
        return _functions(self._model.variant)[transition.__name__]


@cache
def _functions(variant: str) -> dict[str, Callable]:
    return {t.function.__name__: t.function for t in find("partition", variant)[0].transitions}


@cache
def _blank(variant: str, brokers: int) -> Plain:
    model = find("partition", variant)[0]
    scope = dict.fromkeys(model.scope, 2) | {"brokers": brokers, "replicas": brokers, "partitions": 1}
    return new_state(model.state, scope)
