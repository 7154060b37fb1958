"""Drawing changes of a model at random from a seed: equally many for every transition, however long its text."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from types import CodeType

from kafkaproof.checker.mutation.changes import Change, changes
from kafkaproof.checker.mutation.kinds import Domains
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.subset import functions_reached

LANGUAGE = "kafkaproof.spec.language"


def changeable(transition_function: Callable) -> list[Callable]:
    """A transition's function, then the functions of Kafka, ZooKeeper and the network that it calls.

    Operations on sets and sequences are part of the language, and tested there.
    """
    reached = functions_reached(transition_function)[::-1]
    return [function for function in reached if not function.__module__.startswith(LANGUAGE)]


def texts(models: Iterable[Model]) -> set[CodeType]:
    """The texts that the transitions of models run, those of callees included."""
    functions = [function for model in models for t in model.transitions for function in changeable(t.function)]
    return {function.__code__ for function in functions}


def possible(model: Model, others: Iterable[Model] = ()) -> list[Change]:
    """Every change of the functions of a model's transitions and of their callees, each once; none of what `others` run."""
    domains, found, left = Domains.of(model), {}, texts(others)
    for transition in model.transitions:
        for function in changeable(transition.function):
            if function.__code__ not in found and function.__code__ not in left:
                found[function.__code__] = changes(function, domains)
    return [change for listed in found.values() for change in listed]


def drawn(model: Model, most: int, seed: int, others: Iterable[Model] = ()) -> list[Change]:
    """Up to `most` different changes, none of what `others` run.

    Transitions take turns; each draws from its own text or from its callees.
    """
    generator, domains = random.Random(f"{seed} {model.name}"), Domains.of(model)
    left = texts(others)
    turns = list(model.transitions)
    generator.shuffle(turns)
    taken, found, listed = set(), [], {}
    while turns and len(found) < most:
        transition = turns.pop(0)
        functions = [each for each in changeable(transition.function) if each.__code__ not in left]
        change = _draw(functions, transition.function, domains, generator, listed, taken)
        if change:
            turns.append(transition)
            taken.add((change.of, change.text))
            found.append(change)
    return found


def _draw(functions, first, domains, generator, listed, taken):
    """A change that was not drawn before, half of the time of the `first` function; None when none is left."""
    for function in functions:
        if function.__code__ not in listed:
            listed[function.__code__] = changes(function, domains)
    left = {f: [c for c in listed[f.__code__] if (c.of, c.text) not in taken] for f in functions}
    own, called = left.pop(first, []), [found for found in left.values() if found]
    if not own and not called:
        return None
    if own and (not called or generator.random() < 0.5):
        return _of_one_kind(own, generator)
    return _of_one_kind(generator.choice(called), generator)


def _of_one_kind(found, generator):
    """One of these changes: first a kind is drawn, then a change of that kind."""
    kind = generator.choice(sorted({change.kind for change in found}))
    return generator.choice([change for change in found if change.kind == kind])
