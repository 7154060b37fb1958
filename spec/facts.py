"""Which releases of Kafka have which rule: the facts that the lines ``Kafka:`` of the specification's functions state.

A fact is one function of the specification: in which releases Kafka has its rule, and where in the source. A rule that
changed is a family of facts: the present function, and those of other releases that variants put in its place. A variant
runs only functions whose rule its releases have; `OUTSIDE` lists what does not yet hold of that, with the reasons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.election.history import zkclient
from kafkaproof.spec.group import deletion, member, membership, transactions
from kafkaproof.spec.group.history import clients
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.rebind import callees, original
from kafkaproof.spec.language.releases import Releases, merged
from kafkaproof.spec.language.sources import Source, sources_of
from kafkaproof.spec.partition import rounds
from kafkaproof.spec.replica import leader
from kafkaproof.spec.replication.history import unfenced_replication

OUTSIDE: tuple[tuple[str, Callable, str], ...] = (
    ("replica", leader.learn_refusal, "Up to 3.2 no replica is refused."),
    ("replication", unfenced_replication.leader_expand_isr, "2.0.1 has the rule of 2.1 (KAFKA-7128)."),
    ("election", zkclient.keep_context, "From 0.11 on a broker resigns before it deletes /controller."),
    ("election", zkclient.give_up, "From 0.11 on a broker resigns before it deletes /controller."),
    ("partition", zkclient.keep_context, "In 1.0 a broker resigns before it deletes /controller."),
    ("partition", zkclient.give_up, "From 0.11 on a broker resigns before it deletes /controller."),
    (
        "requests",
        rounds.is_elected_again,
        "Up to 2.3 a whole batch is elected again; with one partition that is the same.",
    ),
    ("group", deletion.delete_group, "Up to 1.0 no request deletes a group."),
    ("group", deletion.is_expired, "2.8.1, 3.0.0 and 3.1.0 have `rules.expires_unsubscribed`."),
    ("group", membership.heartbeat_beside, "Up to 2.6 no heartbeat is sent beside a sync."),
    ("group", membership.patience_is_over, "2.1.0 has `rules.is_kept_by_join`."),
    ("group", member.tells_to_reset, "Up to 3.1 the rule is that of group/forgetful."),
    ("group", clients.forgets_its_id, "From 3.2 on the rule is that of the other variants."),
    ("group", transactions.complete, "Later the rule is that of group/scheduled."),
)
"""Of a system, the functions that a variant runs although some of its releases have another rule, and which."""


@dataclass(frozen=True)
class Fact:
    """A rule of Kafka in these releases: the function that states it, and where Kafka's source has it."""

    function: Callable
    sources: tuple[Source, ...]

    @property
    def name(self) -> str:
        """Module and function: ``triggers.preferred_election``."""
        return f"{self.function.__module__.rsplit('.', 1)[-1]}.{self.function.__name__}"

    @property
    def releases(self) -> tuple[Releases, ...]:
        """All releases that have the rule, as ranges, oldest first."""
        return merged(source.releases for source in self.sources)

    def holds_in(self, releases: Releases) -> bool:
        """Whether all of these releases have the rule."""
        return all(any(release in each for each in self.releases) for release in releases.known)


def fact_of(function: Callable) -> Fact | None:
    """What a function's docstring states; None where it names no source in Kafka."""
    found = sources_of(function)
    return Fact(function, found) if found else None


def facts_of(model: Model) -> list[Fact]:
    """The facts of all functions that the transitions of a variant run."""
    return list(filter(None, map(fact_of, callees(*(t.function for t in model.transitions), *model.seams))))


def exceptions() -> dict[tuple[str, str], str]:
    """What `OUTSIDE` lists: of a system and the name of a fact, what some releases have instead."""
    return {(system, Fact(function, ()).name): instead for system, function, instead in OUTSIDE}


def outside(model: Model) -> list[Fact]:
    """The facts of functions that a variant runs although some of its releases have another rule."""
    return [fact for fact in facts_of(model) if model.releases and not fact.holds_in(model.releases)]


@dataclass(frozen=True)
class Rule:
    """A rule that changed between releases: its facts, oldest first; the present one is what others stand for."""

    system: str
    present: Callable
    facts: tuple[Fact, ...]


def rules(system: str) -> list[Rule]:
    """The rules of a system that changed between releases, in the order in which its variants replace them."""
    families: dict[Callable, list[Callable]] = {}
    pairs = ((original(old), original(new)) for model in find(system) for old, new in model.replaced)
    for old, new in dict.fromkeys(pairs):
        present = next((first for first, family in families.items() if old in family), old)
        families.setdefault(present, [present]).append(new)
    found = []
    for present, functions in families.items():
        facts = {fact.name: fact for fact in map(fact_of, functions) if fact}
        if len({fact.releases for fact in facts.values()}) > 1:
            found.append(Rule(system, present, tuple(sorted(facts.values(), key=lambda fact: fact.releases))))
    return found
