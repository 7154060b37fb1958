"""The transitions of a variant of *group*, bound to calls that were seen on the wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from types import FunctionType

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.facts import fact_of
from kafkaproof.spec.group import network, offsets
from kafkaproof.spec.group.network import Verdict
from kafkaproof.spec.group.transitions import REPLACEMENT
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Model, Transition
from kafkaproof.spec.language.plain import ids_in
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.language.sets import only
from kafkaproof.spec.running.group_answers import Answering


@dataclass
class Asked:
    """A request as the specification's network has it: which kind, whose, and what is in it."""

    kind: int = network.NOTHING
    id: int = NOBODY
    known: int = 0
    generation: int = 0
    leading: int = 0
    instance: int = 0
    told: int = 1


@dataclass
class Given:
    """An answer that a step gives: to which waiting request, the error, and what is in it."""

    m: int
    verdict: str
    id: int = NOBODY
    generation: int = 0
    leading: int = 0


@dataclass
class Network(Answering):
    """The seams to clients for one step, each of its name in `kafkaproof.spec.group.network`: the request `m` arrives, and
    `given` is what was answered, to it and to others.
    """

    asking: Asked = field(default_factory=Asked)
    m: int = 0
    verdict: int | None = None
    given: list[Given] = field(default_factory=list)

    def asked(self, m, late):
        """What is asked: leaving is late in the specification, all else is waited for."""
        kind = self.asking.kind
        return kind if bool(late) == (kind == network.LEAVE) else network.NOTHING

    def id_of(self, m, late):
        """The member id in the request, or that is drawn."""
        return self.asking.id

    def id_known(self, m, late):
        """Whether the request has a member id."""
        return self.asking.known

    def generation_of(self, m, late):
        """The generation in the request."""
        return self.asking.generation

    def has_assignment(self, m, late):
        """Whether a SyncGroup has an assignment."""
        return self.asking.leading

    def instance(self, m):
        """The group.instance.id, as a set."""
        return self.asking.instance

    def may_be_told_id(self, m):
        """Whether it may be told a member id to join with."""
        return self.asking.told

    def answer(self, m, late, verdict):
        """What the request is answered."""
        self.verdict = verdict
        if verdict not in (network.PARKED, network.STORED):
            self.given.append(Given(m, Verdict.names[verdict]))
        return verdict

    def answer_operator(self, verdict):
        """The same for who is no member."""
        return self.answer(self.m, 0, verdict)

    def operator(self):
        """A consumer without a group waits for the answer to its commit like any other."""
        return only(self.m)

    def _give(self, clients, verdict, **told):
        for m in ids_in(clients):
            self.given = [each for each in self.given if each.m != m]
            self.given.append(Given(m, Verdict.names[verdict], **told))


class Machine:
    """The transitions of one variant that coordinators take, by the functions that state them."""

    def __init__(self, model: Model):
        self.model = model
        live: dict[Callable, Callable] = {
            function: _method(name)
            for name, function in vars(network).items()
            if isinstance(function, FunctionType) and function.__module__ == network.__name__ and hasattr(Network, name)
        }
        found = {each.name: each.function for each in model.transitions}
        for each in REPLACEMENT:
            if (fact := fact_of(each.function)) and model.releases and fact.holds_in(model.releases):
                found.setdefault(each.name, self._as_here(each.function))
        self._steps = {name: rebind(function, live) for name, function in found.items()}
        self.later = self._as_here(offsets.later)

    def _as_here(self, function: Callable) -> Callable:
        """A function with what this variant does otherwise."""
        for present, instead in self.model.replaced:
            function = rebind(function, {present: instead})
        return function

    def step(self, function: Callable) -> Callable | None:
        """A transition as this variant has it, None where it has none."""
        return self._steps.get(Transition(function).name)


def _method(name: str) -> Callable:
    return lambda target, *arguments: getattr(target, name)(*arguments)


@lru_cache
def machines_for(releases: Releases) -> tuple[Machine, ...]:
    """The variants of which a coordinator of some releases may be, the newest first: of the same releases the first."""
    own: dict[Releases, Model] = {}
    for model in find("group"):
        if model.releases and model.releases.overlaps(releases):
            own.setdefault(model.releases, model)
    return tuple(Machine(model) for model in reversed(list(own.values())))
