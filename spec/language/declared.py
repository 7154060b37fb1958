"""Whether the declarations of a model have a meaning: domains, sizes, arguments, and the names that its parts use of each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from string import Formatter

from kafkaproof.spec.errors import meant
from kafkaproof.spec.language.domains import Array, Bound, Choice, Domain, Flag, Id, Number, Record, Scope, SetOf
from kafkaproof.spec.language.model import Model, Transition
from kafkaproof.spec.language.subset import RuleError, place_in

SOME = 1000
"""For how many choices of its arguments the lanes of a transition are looked at."""
SCALARS = (Number, Flag, Id, SetOf, Choice)


def require_declared(model: Model, scope: Scope | None = None) -> None:
    """Raise RuleError, with what to write instead, where a declaration of the state or of a transition has no meaning.

    The sizes that domains ask for are given by the model's scope, or by the one at which it is asked about.
    """
    sizes = [*dict.fromkeys((*model.scope, *(scope or ())))]
    if model.seams and not model.answers:
        raise RuleError(f"{model.name}: its `seams` return codes; name these in `answers`")
    if not isinstance(model.state, Record):
        raise RuleError(f"{model.name}: its state is a Record, not {model.state!r}")
    _require_domain(model.name, sizes, "state", model.state)
    _require_arguments(model.name, sizes, model.initial, {})
    for transition in model.transitions:
        _require_arguments(model.name, sizes, transition.function, transition.only)
        _require_lanes(model.name, transition)


def require_whole(model: Model) -> None:
    """As `require_declared`, also of what a model says beyond one exploration: all its scopes, and recorded verdicts."""
    require_declared(model)
    for what in ("system", "variant", "story"):
        _require_text(model, what)
    for name, scope in (*model.scopes.items(), ("largest", model.largest)):
        _require_scope(model, name, scope)
    for name, scope in model.scopes.items():
        for size, number in scope.items():
            if number > model.largest[size]:
                raise RuleError(
                    f"{model.name}: its {name} scope has {size} {number}, and the largest {model.largest[size]}"
                )
    _require_lanes_of(model)
    _require_known(model.name, "interchangeable", model.interchangeable, model.scope, "size")
    violated = [name for lengths in model.expected.values() for name in lengths]
    _require_known(model.name, "expected", violated, [p.name for p in model.properties], "property")


def _require_text(model: Model, what: str) -> None:
    """Check a text of a model; its names are parts of the names of files."""
    text = getattr(model, what)
    if not isinstance(text, str):
        raise RuleError(f"{model.name}: `{what}` is a text, not {text!r}")
    if what != "story" and not re.fullmatch(r"\w[\w.-]*", text):
        raise RuleError(f"{model.name}: `{what}` is {text!r}; a name has letters, digits, '_', '-' and '.' alone")


def _require_lanes_of(model: Model) -> None:
    """Check that the lanes of transitions and arrows are lanes of the model, at its standard scope."""
    lanes = model.lanes(model.scope) if callable(model.lanes) else None
    if not isinstance(lanes, list) or not all(isinstance(lane, str) for lane in lanes):
        raise RuleError(
            f"{model.name}: `lanes` is a function of the scope that returns a list of texts, such as ['server']"
        )
    for transition in model.transitions:
        ends = {transition.lane, *(end for arrow in transition.arrows for end in (arrow.source, arrow.target))}
        for arguments in islice(transition.choices(model.scope), SOME):
            for end in ends - {Transition.lane}:
                lane = end.format(**dict(zip(transition.arguments, arguments)), answer="")
                if lane not in lanes:
                    known = f"which `lanes` does not have; it has {', '.join(lanes)}{meant(lane, lanes)}"
                    raise RuleError(f"{model.name}: {transition.name} is in the lane {lane!r}, {known}")


def _require_known(model: str, what: str, names: Iterable[str], known: Collection[str], kind: str) -> None:
    for name in names:
        if name not in known:
            raise RuleError(f"{model}: `{what}` names {name}, which is no {kind}{meant(name, known)}")


def _require_domain(model: str, sizes: Collection[str], place: str, domain: object) -> None:
    """Check a domain, those inside it, and that the scope gives their sizes; `place` is where it is declared."""
    if isinstance(domain, Record):
        for name, field in domain.fields.items():
            _require_domain(model, sizes, f"{place}.{name}", field.domain)
        return
    if not isinstance(domain, (*SCALARS, Array)):
        raise RuleError(f"{model}: {place} is declared as {_instead(domain)}")
    for size in _sizes(domain):
        if size not in sizes:
            raise RuleError(
                f"{model}: {place} asks for the size {size}, which its scope does not give; "
                f"it gives {', '.join(sizes) or 'none'}{meant(size, sizes)}"
            )
    if isinstance(domain, Array):
        _require_domain(model, sizes, place, domain.of)


def _sizes(domain) -> Iterator[str]:
    """The names of the sizes that a domain itself asks for."""
    for end in (getattr(domain, name, None) for name in ("sort", "size", "high")):
        if isinstance(end, (str, Bound)):
            yield end.name if isinstance(end, Bound) else end


def _instead(domain):
    """What stands in the place of a domain, and what to write there."""
    if isinstance(domain, type):
        known = domain in (*SCALARS, Array, Record)
        write = f"{domain.__name__}(...)" if known else "a domain, such as Flag(), Number(0, 3) or Id('brokers')"
        return f"{domain.__name__}, a class; write {write}"
    if isinstance(domain, str):
        return f"the text {domain!r}; leave out `from __future__ import annotations`, and quote no annotation"
    return f"{domain!r}, which is no domain; write one, such as Flag(), Number(0, 3) or Id('brokers')"


def _require_arguments(model: str, sizes: Collection[str], function: Callable, only: Mapping[str, Domain]) -> None:
    """Check that each argument behind the state has a domain of single values."""
    code, domains = function.__code__, function.__annotations__
    where = f"{function.__name__}, {place_in(code.co_filename, code.co_firstlineno)}"
    state, *names = code.co_varnames[: code.co_argcount] or ("",)
    if state in domains:
        raise RuleError(f"{model}: {state}, the state, has no annotation: {where}")
    for name in names:
        if name not in domains:
            raise RuleError(f"{model}: write the values of {name} as its annotation, {name}: Id('brokers'): {where}")
    for name in only:
        if name not in names:
            raise RuleError(f"{model}: `only` names {name}, which is no argument: {where}{meant(name, names)}")
    for name, domain in {**{name: domains[name] for name in names}, **only}.items():
        if isinstance(domain, (Array, Record)):
            raise RuleError(f"{model}: {name} is annotated with many values; an argument is a single one: {where}")
        _require_domain(model, sizes, f"{name} of {where}", domain)


def _require_lanes(model: str, transition: Transition) -> None:
    """Check that lanes and arrows name arguments of the transition, or its answer."""
    texts = [transition.lane, *(text for a in transition.arrows for text in (a.source, a.target, a.label))]
    known = {*transition.arguments, "answer"}
    for text in texts:
        try:
            names = [name for _, name, _, _ in Formatter().parse(text)]
        except ValueError as error:
            raise RuleError(f"{model}: {text!r} of {transition.name} is no format string: {error}") from error
        for name in names:
            if name is not None and name not in known:
                raise RuleError(
                    f"{model}: {text!r} of {transition.name} names {name!r}, which is no argument of it"
                    f"{meant(name, known)}"
                )


def _require_scope(model: Model, name: str, scope: Scope) -> None:
    """Check that a scope gives whole numbers, and all that the standard scope gives."""
    for size in model.scope.keys() | scope.keys():
        if size not in scope or size not in model.scope:
            lacking, other = (name, "the standard scope has") if size not in scope else ("standard", f"{name} has")
            raise RuleError(f"{model.name}: its {lacking} scope has no {size}, which {other}")
        if type(scope[size]) is not int or scope[size] < 0:
            raise RuleError(f"{model.name}: its {name} scope has {size} {scope[size]!r}, which is no whole number")
