"""Models: a state, its initial states, transitions and properties, at a scope.

A *system* (replication, election ...) has one model for each *variant* of Kafka's history.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from types import ModuleType

from kafkaproof.spec.errors import UserError
from kafkaproof.spec.language.domains import Domain, Record, Scope, Size, values
from kafkaproof.spec.language.fairness import Assumption
from kafkaproof.spec.language.parts import changed, require_function, require_parts, require_sizes
from kafkaproof.spec.language.rebind import callees, original, rebind
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.language.subset import RuleError

STANDARD = "standard"
SAFETY = ("always", "step")
LIVENESS = ("eventually", "eventually always")
KINDS = (*SAFETY, "sometimes", *LIVENESS)
FAULT, EVENT, CONTINUATION, TIMER = "fault", "event", "continuation", "timer"
"""The kinds of transitions: an event from outside (a crash, an expiry, an operator's act); a process begins to handle
an event; it continues to handle one; it acts because time has passed.
"""


@dataclass(frozen=True)
class Arrow:
    """What a transition sends, for pictures: lanes and label are format strings over its arguments.

    `kind` is ``request``, ``answer``, ``event`` or ``message``; ``{answer}`` in the label is the answer.
    """

    source: str
    target: str
    label: str
    kind: str = "message"


@dataclass(frozen=True)
class Transition:
    """A transition function, its lane and arrows in pictures, and its kind.

    `lane` is a format string over the arguments, ``broker {b}``, as are those of its arrows. `kind` is ``fault``, ``event``,
    ``continuation`` or ``timer``; faults are drawn dashed in graphs. `only` narrows the domains of some arguments: who takes
    the step in this model. `partner` is the transition of another system that a process takes with this one.
    """

    function: Callable
    lane: str = "cluster"
    arrows: tuple[Arrow, ...] = ()
    only: Mapping[str, Domain] = field(default_factory=dict)
    kind: str = EVENT
    partner: Callable | None = None

    def __post_init__(self):
        require_function("a transition", self.function)

    def __repr__(self) -> str:
        return f"<transition {self.name}>"

    @property
    def name(self) -> str:
        """Module and function: ``replication.elect_leader``."""
        return f"{self.function.__module__.rsplit('.', 1)[-1]}.{self.function.__name__}"

    @property
    def arguments(self) -> dict[str, Domain]:
        """Argument names and the domains that they are chosen from, in order: as `declared`, narrowed by `only`."""
        return {**self.declared, **self.only}

    @property
    def declared(self) -> dict[str, Domain]:
        """Argument names and their domains, in order, as the function's annotations declare them."""
        return {name: domain for name, domain in self.function.__annotations__.items() if name != "return"}

    def choices(self, scope: Scope) -> Iterator[tuple[int, ...]]:
        """All argument tuples at `scope`, the last argument varying fastest."""
        return product(*(values(domain, scope) for domain in self.arguments.values()))

    @property
    def words(self) -> str:
        """The first sentence of the docstring, on one line."""
        return first_paragraph(self.function)


@dataclass(frozen=True)
class Property:
    """A named question about states or steps.

    - kind ``always``: `predicate(s)` holds in every state.
    - kind ``step``: `predicate(before, after)` holds for every step, or `predicate(before, after, *arguments)` for the
      steps of the transition functions named in `of`.
    - kind ``sometimes``: `predicate(s)` holds in some reachable state.
    - kind ``eventually``: from every reachable state where `after(s)` holds (every state, if it is None), every behaviour
      that keeps the `given` assumptions reaches a state where `predicate(s)` holds.
    - kind ``eventually always``: every such behaviour reaches a state from which on `predicate(s)` holds.

    It is checked at scopes of at least the sizes `least`; a name in place of a number asks for more than that size.
    """

    name: str
    kind: str
    predicate: Callable
    of: tuple[str, ...] = ()
    least: Mapping[str, int | str] = field(default_factory=dict)
    after: Callable | None = None
    given: tuple[Assumption, ...] = ()

    def __post_init__(self):
        require_parts(self.name, "given", self.given, Assumption, "weak")

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}>"

    @property
    def predicates(self) -> tuple[Callable, ...]:
        """All functions of states or steps that the property is made of."""
        conditions = (self.predicate, self.after, *(assumption.when for assumption in self.given))
        return tuple(condition for condition in conditions if condition)

    def rebound(self, replacements: Mapping[Callable, Callable]) -> Property:
        """This property with callees replaced; the same object where nothing changes."""
        return changed(
            self,
            predicate=rebind(self.predicate, replacements),
            after=self.after and rebind(self.after, replacements),
            given=tuple(assumption.rebound(replacements) for assumption in self.given),
        )

    def renamed(self, names: Mapping[str, str]) -> Property:
        """This property with other names of transitions; the same object where nothing changes."""
        given = tuple(assumption.renamed(names) for assumption in self.given)
        return changed(self, of=tuple(names.get(name, name) for name in self.of), given=given)

    def concerns(self, transition: Transition) -> bool:
        """Whether a step property is about the steps of `transition`."""
        return not self.of or transition.function.__name__ in self.of

    def lacking(self, scope: Scope) -> list[str]:
        """The sizes that the property needs and `scope` lacks, in words: ``brokers 2``."""
        return [
            f"more {name} than {least}" if isinstance(least, str) else f"{name} {least}"
            for name, least in self.least.items()
            if not (scope[name] > scope[least] if isinstance(least, str) else scope[name] >= least)
        ]

    @property
    def text(self) -> str:
        """What the property says in words: the predicate's first paragraph."""
        return first_paragraph(self.predicate)


def among(properties: tuple[Property, ...], transitions: tuple[Transition, ...]) -> tuple[Property, ...]:
    """These properties, with assumptions about these transitions only: a variant may lack some."""
    names = {t.function.__name__ for t in transitions}
    return tuple(changed(p, given=tuple(filter(None, (a.among(names) for a in p.given)))) for p in properties)


def concerning(properties: tuple[Property, ...], transitions: tuple[Transition, ...]) -> tuple[Property, ...]:
    """As `among`, without the properties of steps that are about other transitions alone: a slice may lack these."""
    asked = (p for p in properties if p.kind != "step" or any(map(p.concerns, transitions)))
    return among(tuple(asked), transitions)


def always(predicate: Callable, name: str = "") -> Property:
    """The property that `predicate` holds in every state."""
    return Property(name or predicate.__name__, "always", predicate)


def always_step(predicate: Callable, name: str = "", of: tuple[str, ...] = ()) -> Property:
    """The property that `predicate` holds for every step (of the transitions `of`)."""
    return Property(name or predicate.__name__, "step", predicate, of)


def sometimes(predicate: Callable, name: str = "", **least: int | str) -> Property:
    """The goal that some reachable state satisfies `predicate`, at scopes of at least these sizes.

    ``brokers="replicas"`` asks for more brokers than replicas.
    """
    return Property(name or predicate.__name__, "sometimes", predicate, least=least)


def eventually(
    predicate: Callable,
    *,
    given: tuple[Assumption, ...],
    after: Callable | None = None,
    name: str = "",
    **least: int | str,
) -> Property:
    """The property that `predicate` comes true after every state where `after` holds, if what is `given` holds."""
    return Property(name or predicate.__name__, "eventually", predicate, least=least, after=after, given=given)


def eventually_always(predicate: Callable, *, given: tuple[Assumption, ...], name: str = "", **least: int) -> Property:
    """The property that `predicate` holds for ever from some moment on, if what is `given` holds."""
    return Property(name or predicate.__name__, "eventually always", predicate, least=least, given=given)


@dataclass(frozen=True)
class Model:
    """One variant of a system: everything that an execution needs.

    `initial(s, ...)` fills a state of zeros, once for every choice of its annotated arguments. `scope` gives the default
    sizes, `others` those of scopes with names other than `STANDARD`, and `largest` the greatest allowed; `sizes` says
    what each size means or bounds. `lanes(scope)` are the columns of pictures.

    `seams` are functions that transitions call where a process asks another one (ZooKeeper, a disk, the network): a
    function of the state that returns a code. `answers` names the codes, from 0 on, and the text of a step ends with the
    answer: ``elect(b=0) -> OK``. A running process binds its seams to the world. `abstract` says that transitions reach into
    the state of others without such functions.

    `expected` maps a scope to the violated properties, each with the length of its shortest counterexample in states (for
    a lasso, up to the first state of its loop). At the scopes `safety_only`, whose graphs are too large, liveness is checked
    only by name. `parts` names the models (system, variant) that cover what a composed model leaves out, or bounds more
    tightly.

    `interchangeable` names the sorts whose ids no transition and no safety property distinguishes, which is proved before
    a run up to symmetry. With each sort it has the first ids that are distinguished from the rest: as a sort whose ids
    they are (a receiver is one of the first brokers), or as a number. `projections` names sets of fields; the scope of the
    same name is large enough to show each projection completely. `replaced` has the functions that this variant replaces,
    each with its replacement, oldest first. `releases` says which releases of Kafka the variant is; it is None where it
    is none of them, and then `story` says so. `lemmas` are what a proof of a model of one's own may use besides its
    properties: predicates of a state (and of ids), proved with them. `metrics` are what an operator of such a model would watch
    (`gauge`, `counter`). `origin` says where a model of one's own was found.
    """

    system: str
    variant: str
    story: str
    state: Record
    initial: Callable
    transitions: tuple[Transition, ...]
    properties: tuple[Property, ...]
    scope: Scope
    largest: Scope
    lanes: Callable[[Scope], list[str]]
    abstract: bool = False
    seams: tuple[Callable, ...] = ()
    answers: tuple[str, ...] = ()
    expected: Mapping[Size, Mapping[str, int]] = field(default_factory=dict)
    safety_only: tuple[Size, ...] = ()
    others: Mapping[str, Scope] = field(default_factory=dict)
    sizes: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[tuple[str, str], ...] = ()
    interchangeable: Mapping[str, tuple[str | int, ...]] = field(default_factory=dict)
    projections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    replaced: tuple[tuple[Callable, Callable], ...] = ()
    releases: Releases | None = None
    lemmas: tuple[Callable, ...] = ()
    metrics: tuple[object, ...] = ()
    origin: str = ""

    def __repr__(self) -> str:
        return f"<model {self.name}>"

    def __post_init__(self):
        require_parts(self.name, "transitions", self.transitions, Transition, "Transition")
        require_parts(self.name, "properties", self.properties, Property, "always")
        require_function(f"{self.name}: `initial`", self.initial)
        for name, scope in {**self.scopes, "largest": self.largest}.items():
            require_sizes(self.name, name, scope)
        for at in (*self.expected, *self.safety_only):
            if [*at] != [*self.scope]:
                raise UserError(f"{self.name}: a verdict is recorded at {at}; write Size({', '.join(self.scope)})")

    @property
    def name(self) -> str:
        """System and variant: ``replication/kip320``."""
        return f"{self.system}/{self.variant}"

    @property
    def scopes(self) -> Mapping[str, Scope]:
        """All named scopes; `STANDARD` is the default."""
        return {STANDARD: self.scope, **self.others}

    def rebound(self, replacements: Mapping[Callable, Callable], **changes) -> Model:
        """This model with callees (or whole transitions) replaced, and other fields changed.

        A function of which this model calls copies is replaced where they stand, and what was replaced in them is
        replaced in its replacement, too. Properties and assumptions about a replaced transition are then about its
        replacement. Raises RuleError if nothing calls a function that is to be replaced.
        """
        replacements = self._as_called(replacements)
        renamed = {
            t.function.__name__: replacements[t.function].__name__
            for t in self.transitions
            if t.function in replacements
        }
        properties = tuple(p.renamed(renamed) for p in self.properties)
        transitions = tuple(changed(t, function=rebind(t.function, replacements)) for t in self.transitions)
        changes = {
            "initial": rebind(self.initial, replacements),
            "properties": properties,
            "replaced": (*self.replaced, *replacements.items()),
            **changes,
        }
        seams = tuple(rebind(seam, replacements) for seam in self.seams)
        return replace(self, transitions=transitions, seams=seams, **changes)

    def _as_called(self, replacements):
        """The replacements by what this model calls: a function, and its copies after earlier replacements."""
        called = self._copies_called
        found = {}
        for function, replacement in replacements.items():
            copies = [each for each in called.get(function, ()) if each is not function]
            if function in called.get(original(function), ()):
                found[function] = replacement
            elif not copies:
                raise RuleError(
                    f"no transition of {self.name} calls {function.__name__}, so it cannot"
                    " be replaced; name what is called after all earlier replacements"
                )
            found |= dict.fromkeys(copies, self.bound(replacement))
        return found

    @cached_property
    def _copies_called(self) -> Mapping[Callable, list[Callable]]:
        """The functions that this model calls, by what they are copies of."""
        found = defaultdict(list)
        for each in callees(self.initial, *(t.function for t in self.transitions), *self.seams):
            found[original(each)].append(each)
        return found

    def bound(self, function: Callable) -> Callable:
        """A function with what was replaced in this model replaced in it, too."""
        for earlier, instead in self.replaced:
            function = rebind(function, {earlier: instead})
        return function

    def properties_at(self, scope: Scope) -> tuple[Property, ...]:
        """The properties to check at a scope of this size."""
        found = (p for p in self.properties if not p.lacking(scope))
        return tuple(p for p in found if p.kind not in LIVENESS or self._size(scope) not in self.safety_only)

    def transition(self, name: str) -> Transition:
        """The transition called `name` (with or without its module); raises KeyError."""
        if name not in self._named:
            raise KeyError(f"{self.name} has no transition {name}")
        return self._named[name]

    @cached_property
    def _named(self) -> Mapping[str, Transition]:
        """The transitions by their names with and without the module."""
        return {name: each for each in self.transitions for name in (each.function.__name__, each.name)}

    def expectation(self, scope: Scope) -> Mapping[str, int] | None:
        """The recorded violations at `scope`, or None where nothing is recorded."""
        return self.expected.get(self._size(scope))

    def _size(self, scope):
        return Size(**{name: scope[name] for name in self.scope})


def first_paragraph(function: Callable | ModuleType) -> str:
    """The first paragraph of a docstring as one line, or the function's name in words."""
    text = (function.__doc__ or function.__name__.replace("_", " ")).strip()
    return " ".join(text.split("\n\n")[0].split())
