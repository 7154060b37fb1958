"""All rules of the little language, which make a model mean the same wherever it runs.

Plain Python, compiled code, the prover and bounded model checking all check these rules before they run a model, so
that none of them meets a construct that another would interpret differently. `subset` checks which statements and
expressions occur, `paths` returns and locals, `inference` the use of values (see `kinds`), and `guards` the form of
transitions. In addition, properties write nothing and have distinct names, and declared ranges fit 32 bits.

Checked at run time, and an error everywhere: an index out of its array, an id below 0 in a call of `sets`, a value
outside its declared range at the end of a step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from kafkaproof.spec.language.declared import require_declared
from kafkaproof.spec.language.domains import Record, Scope
from kafkaproof.spec.language.fairness import AT_LAST
from kafkaproof.spec.language.guards import check_guards
from kafkaproof.spec.language.inference import Inference
from kafkaproof.spec.language.kinds import LARGEST, NOTHING, Part, is_number, kind_of
from kafkaproof.spec.language.layout import leaves
from kafkaproof.spec.language.model import KINDS, LIVENESS, Model, Property, Transition
from kafkaproof.spec.language.paths import check_paths
from kafkaproof.spec.language.subset import RuleError, definition, functions_reached, rule_error, stores


def require_accepted(model: Model, scope: Scope | None = None) -> None:
    """Check the language's rules in all functions of a model, and its declaration at a scope; raises RuleError."""
    require_declared(model, scope)
    _check_names(model)
    for transition in model.transitions:
        _check_transition(transition.function, tuple(transition.arguments.items()), model.state)
    _check_initial(model.initial, model.state)
    for prop in model.properties:
        for predicate, kinds in _asked(model, prop, model.state, model.state):
            require_predicate(predicate, kinds)
    if scope is not None:
        _check_sizes(model, scope)


def _check_names(model):
    """Check that names are distinct, and that properties refer to transitions and sizes that exist."""
    told = model.name
    for what, named in (("properties", model.properties), ("transitions", model.transitions)):
        names = [one.name for one in named]
        for name in names:
            if names.count(name) > 1:
                raise RuleError(f"two {what} of {told} are called {name}; rename one")
    for prop in model.properties:
        if prop.kind not in KINDS:
            raise RuleError(f"{prop.name} of {told} is of kind {prop.kind!r}; there are {', '.join(KINDS)}")
        if any(not assumption.of and assumption.kind != AT_LAST for assumption in prop.given):
            raise RuleError(f"{prop.name} of {told} assumes something of no transition; name one, or leave it out")
        if prop.kind == "step" and not any(map(prop.concerns, model.transitions)):
            raise RuleError(f"{told} has no transition that {prop.name} speaks of: {', '.join(prop.of)}")
        for size in (*prop.least, *(least for least in prop.least.values() if isinstance(least, str))):
            if size not in model.scope:
                raise RuleError(f"{prop.name} of {told} asks for a number of {size}, which its scope does not have")


@cache
def check_text(function: Callable) -> None:
    """Check the rules about text in a function and all its callees; raises RuleError."""
    for reached in functions_reached(function):
        check_paths(reached.__code__)


@cache
def _check_transition(function, arguments, state):
    check_text(function)
    check_guards(Transition(function))
    _kind(function, (Part(state, "s"), *(kind_of(domain) for _, domain in arguments)))


@cache
def _check_initial(function, state):
    check_text(function)
    answer = _kind(function, (Part(state, "s"), *map(kind_of, Transition(function).declared.values())))
    if answer is not NOTHING:
        raise rule_error("an initial state returns nothing", definition(function.__code__), function.__code__)


@cache
def require_predicate(function: Callable, kinds: tuple) -> None:
    """Check a predicate of arguments of these kinds: it returns a condition, and writes nothing. Raises RuleError."""
    check_text(function)
    for reached in functions_reached(function):
        for node in stores(reached.__code__):
            raise rule_error("a property writes nothing", node, reached.__code__)
    answer = _kind(function, kinds)
    if answer is NOTHING or not is_number(answer):
        raise rule_error("a property returns True or False", definition(function.__code__), function.__code__)


def _kind(function, kinds):
    if function.__code__.co_argcount != len(kinds):
        raise rule_error(f"it is called with {len(kinds)} arguments", definition(function.__code__), function.__code__)
    return Inference().call(function, kinds)


def reads_only(model: Model, prop: Property, before: Record, after: Record) -> bool:
    """Whether a property of an accepted model reads only these parts of its state.

    `before` is the part that may be read of the state before a step, `after` of the state after it, or of a single
    state.
    """
    try:
        for predicate, kinds in _asked(model, prop, before, after):
            require_predicate(predicate, kinds)
    except RuleError:
        return False
    return True


def _asked(model: Model, prop: Property, earlier: Record, later: Record):
    """Each predicate of a property, with the kinds of its arguments, for states of these records."""
    state = Part(later, "s")
    if prop.kind == "step":
        before, after = Part(earlier, "before"), Part(later, "after")
        for transition in filter(prop.concerns, model.transitions):
            arguments = map(kind_of, transition.arguments.values()) if prop.of else ()
            yield prop.predicate, (before, after, *arguments)
        return
    fixed = Transition(prop.predicate).declared if prop.kind in LIVENESS else {}
    for predicate in filter(None, (prop.predicate, prop.after, *(a.when for a in prop.given if a.kind == AT_LAST))):
        yield predicate, (state, *_kinds(predicate, fixed))
    for assumption in prop.given:
        for transition in model.transitions if assumption.when and assumption.kind != AT_LAST else ():
            if transition.function.__name__ in assumption.of or transition.name in assumption.of:
                yield assumption.when, (state, *_kinds(assumption.when, transition.arguments))


def _kinds(predicate, arguments):
    """The kinds of a predicate's arguments besides the state, found by name."""
    names = predicate.__code__.co_varnames[1 : predicate.__code__.co_argcount]
    return tuple(kind_of(arguments[name]) for name in names if name in arguments)


def _check_sizes(model, scope):
    for name in model.scope:
        if type(scope.get(name)) is not int:
            raise RuleError(f"{model.name} needs a whole number of {name}, not {scope.get(name)}")
    for leaf in leaves(model.state, scope):
        if leaf.low < -LARGEST or leaf.high > LARGEST:
            raise RuleError(
                f"{model.name}: {leaf.expression} goes from {leaf.low} to {leaf.high};"
                " a field holds 32 bits, so declare a smaller range"
            )
