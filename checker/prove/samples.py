"""Reachable states of a small scope, chosen so that every value of every code is among them."""

from __future__ import annotations

import random
from collections import Counter

from checker.execution import Execution
from checker.prove.variables import is_code
from spec.language.domains import Scope
from spec.language.model import Model

LARGEST = 4


def sampling_scope(model: Model, scope: Scope, endless: frozenset[str]) -> Scope:
    """Two brokers, and endless bounds of a few."""
    few = {name: min(LARGEST, model.largest[name]) for name in endless}
    return {**scope, **few, **({"brokers": min(2, scope["brokers"])} if "brokers" in scope else {})}


def reachable_states(model: Model, scope: Scope, enough: int = 4000, seed: int = 1) -> list:
    """Distinct reachable states of a model; states with values seen least are expanded first."""
    execution, chance, seen = Execution(model, scope), random.Random(seed), Counter()
    codes = [i for i, leaf in enumerate(execution.leaves) if is_code(leaf.domain) and not leaf.spare]
    found = {execution.key(state): state for state in execution.initial_states()}
    waiting = list(found)
    while waiting and len(found) < enough:
        some = [chance.randrange(len(waiting)) for _ in range(24)]
        rarest = min(some, key=lambda i: min((seen[c, waiting[i][c]] for c in codes), default=0))
        waiting[rarest], waiting[-1] = waiting[-1], waiting[rarest]
        key = waiting.pop()
        seen.update((c, key[c]) for c in codes)
        for _, _, after in execution.successors(found[key], Counter()):
            new = execution.key(after)
            if new not in found:
                found[new] = after
                waiting.append(new)
    return list(found.values())
