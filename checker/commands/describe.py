"""What one variant of a system consists of: its state, its transitions, and which function stands for which."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.table import Column, Table

from kafkaproof.checker.commands.tables import scope_text
from kafkaproof.spec.catalogue import releases_with
from kafkaproof.spec.facts import fact_of
from kafkaproof.spec.language.domains import Array, Bound, Choice, Flag, Id, Number, Record, SetOf
from kafkaproof.spec.language.model import Model, first_paragraph
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.language.subset import OWN, file_of

NONE = "none"
"""What is said of what is no release of Kafka."""


def releases_text(model: Model) -> str:
    """The releases of Kafka that a variant is, in words."""
    return str(model.releases or NONE)


def described(model: Model) -> dict:
    """The state, the seams and the replaced functions of a variant, for `list --json`; the rest is in its entry."""
    return {
        "state": [
            {"field": name, "values": words, "meaning": meaning} for name, words, meaning in _fields(model.state)
        ],
        "seams": [_place(seam) for seam in model.seams],
        "replaced": [
            {
                "function": _place(old),
                "by": _place(new),
                "releases": [releases.ends for releases in _releases_of(model, new)],
                "text": first_paragraph(new),
            }
            for old, new in model.replaced
        ],
    }


def print_description(out: Console, model: Model) -> None:
    """Print what a variant consists of, as tables."""
    out.print(f"[bold]{model.name}[/]: {model.story}")
    out.print(f"releases: {releases_text(model)}; default scope: {scope_text(model.scope)}")
    state = Table(Column("field", overflow="fold"), "values", "meaning", title="state", header_style="bold")
    for row in _fields(model.state):
        state.add_row(*row)
    out.print(state)
    columns = ("transition", "arguments", "kind", "what it does", "source")
    transitions = Table(*columns, title="transitions", header_style="bold")
    for each in model.transitions:
        transitions.add_row(each.name, ", ".join(each.arguments), each.kind, each.words, file_of(each.function))
    out.print(transitions)
    replaced = Table(
        Column("function", overflow="fold"),
        Column("in its place", overflow="fold"),
        "releases",
        "what that does",
        title="replaced",
        header_style="bold",
    )
    for old, new in model.replaced:
        releases = ", ".join(map(str, _releases_of(model, new))) or NONE
        replaced.add_row(_place(old), _place(new), releases, first_paragraph(new))
    if model.replaced:
        out.print(replaced)


def _releases_of(model: Model, function: Callable) -> Sequence[Releases]:
    """The releases that have a function's rule; where it states none, those of the variants in which it stands."""
    fact = fact_of(function)
    return fact.releases if fact else releases_with(model.system, function)


def _fields(record: Record, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Each field with its values in words and its meaning; what is inside a record comes behind it."""
    for name, field in record.fields.items():
        inner, place = field.domain, f"{path}{name}"
        counts = []
        while isinstance(inner, Array):
            counts.append(_size(inner.size))
            inner, place = inner.of, f"{place}[*]"
        each = "".join(f"for each of {count}: " for count in counts)
        yield place, each + _words(inner), field.meaning
        if isinstance(inner, Record):
            yield from _fields(inner, f"{place}.")


def _words(domain: object) -> str:
    """The values of a domain in words."""
    if isinstance(domain, Record):
        return "a record"
    if isinstance(domain, Flag):
        return "0 or 1"
    if isinstance(domain, Number):
        return f"{domain.low} to {_size(domain.high)}"
    if isinstance(domain, Id):
        return f"one of {domain.sort}" + (" or nobody" if domain.nobody else "")
    if isinstance(domain, SetOf):
        return f"a set of {domain.sort}"
    assert isinstance(domain, Choice)
    return ", ".join(domain.names)


def _size(size: int | str | Bound) -> str:
    """A size, or the end of a range, in words."""
    if isinstance(size, Bound):
        return size.name if not size.plus else f"{size.name} {'+' if size.plus > 0 else '-'} {abs(size.plus)}"
    return str(size)


def _place(function: Callable) -> str:
    """Where a function is: module and name."""
    return f"{function.__module__.removeprefix(OWN)}.{function.__qualname__}"
