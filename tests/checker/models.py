"""Models and scopes that the tests of the explorers share, and what is compared between explorers."""

from collections import Counter

from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.explore.explorer import Explorer, Limits
from kafkaproof.checker.explore.reference import Explored
from kafkaproof.checker.runs.outcome import Outcome
from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.language.domains import Number, Record
from kafkaproof.spec.language.model import Model, Transition, always
from tests.toys import clock, counter, graph, queue

PATH = graph([(0, 1), (1, 2)], [0], failing=True)
DIAMOND = graph([(0, 1), (0, 2), (1, 3), (2, 3), (3, 0)], [0], failing=True)
ISLANDS = graph([(0, 1), (2, 2), (4, 5)], [0, 2, 0])
TOYS = {
    "clock": clock(),
    "failing clock": clock(failing=True),
    "counter": counter(7),
    "failing counter": counter(6, failing=True),
    "queue": queue(),
    "failing queue": queue(failing=True),
    "path": PATH,
    "diamond": DIAMOND,
    "islands": ISLANDS,
}


SMALL = {
    "election": ({"brokers": 1, "epochs": 2}, {"faults": 0}),
    "partition": ({"replicas": 2},),
    "requests": ({"queue": 2}, {"queue": 3, "faults": 0}),
    "placement": ({"partitions": 2},),
    "migration": ({"brokers": 1, "epochs": 4, "records": 4, "topics": 2, "changes": 0, "faults": 0, "receivers": 0},),
}


SEVERAL = {
    "consumer": {},
    "group": {},
    "replica": {},
    "topics": {},
    "cluster": {"faults": 0},
    "migration": {"elections": 1, "quorum_epochs": 1, "changes": 0, "records": 3, "epochs": 4},
}
"""Systems of which no small scope takes every transition: what changes their quick scope."""


MIXED = {"brokers": 2, "epochs": 3, "faults": 0, "receivers": 1}
"""The scope of the election with brokers of two versions: one of each."""


def is_mixed(model: Model) -> bool:
    """Whether some transitions of an election are those of some brokers only."""
    return model.scope.keys() == MIXED.keys() and any(transition.only for transition in model.transitions)


def small(model: Model) -> list[dict[str, int]]:
    """Scopes at which plain Python explores `model` in a moment; at the first, every transition is taken.

    Two brokers and one of everything else, with the exceptions of `SMALL`; about the quick scope of `SEVERAL`.
    """
    if model.system in SEVERAL:
        return [model.scopes["quick"] | SEVERAL[model.system]]
    if is_mixed(model):
        return [MIXED]
    usual = {name: 2 if name == "brokers" else 1 for name in model.scope}
    return [usual | change for change in SMALL.get(model.system, ({},))]


FIRST = {
    model.name: (model, small(model)[0])
    for model in all_models()
    if model.system not in SEVERAL and not is_mixed(model)
}
OTHERS = {
    f"{model.name} at {','.join(map(str, scope.values()))}": (model, scope)
    for model in all_models()
    for scope in small(model)
    if (model, scope) not in FIRST.values()
}
EVERYTHING = {name: (toy, toy.scope) for name, toy in TOYS.items()} | FIRST | OTHERS
NEWEST = {model.system: model for model in all_models()}
ENOUGH, MORE = Limits(states=500), Limits(states=1500)
"""How far the older variants of a system are explored by tests, and by thorough ones; the newest to the end."""


def limits_of(name: str) -> Limits:
    """How far a model and scope of `EVERYTHING` is explored."""
    model = EVERYTHING[name][0]
    return Limits() if model is NEWEST.get(model.system, model) else ENOUGH


def overflow(s):
    """Count on, and past the declared range."""
    s.number += 1
    return True


def start_at_zero(s):
    """Zero."""
    s.number = 0


def small_enough(s):
    """The number is below 9."""
    return s.number < 9


FAULTY = Model(
    system="faulty",
    variant="overflow",
    story="",
    state=Record(number=(Number(0, 2), "a number")),
    initial=start_at_zero,
    transitions=(Transition(overflow),),
    properties=(always(small_enough),),
    scope={},
    largest={},
    lanes=lambda scope: ["cluster"],
)


def kernel_of(model: Model, scope=None) -> Kernel:
    """The kernel of a model with all the properties that its scope can answer."""
    scope = model.scope if scope is None else scope
    return Kernel(model, scope, model.properties_at(scope))


def explored(run, kernel: Kernel, context=None, partitions: int = 1, **options) -> Explorer:
    """An explorer that has explored everything; in this process when there is no `context`."""
    if not run.exists():
        run.create({})
    explorer = Explorer(run, kernel, context, partitions, **{"spread": 1, "keep_going": True, **options})
    explorer.explore()
    return explorer


def facts(found: Outcome | Explored) -> dict:
    """All that two explorers must agree upon: counts, goals, and what states and steps violate."""
    violated = found.violated if isinstance(found, Explored) else {v.name: v.trace_length for v in found.violations}
    return {
        "distinct": found.distinct,
        "generated": found.generated,
        "depth": found.depth,
        "violated": violated,
        "reached": found.reached,
        "coverage": +Counter(found.coverage),
        "cuts": +Counter(found.cuts),
    }
