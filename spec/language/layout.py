"""Layout of a state at one scope: its leaves in order.

An array sized by a bound has one spare slot after its end, where a transition may write without checking for
room. The spare slot is never stored: a step that leaves a value there has exceeded the bound.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkaproof.spec.language.domains import Array, Bound, Budget, Number, Record, Scalar, Scope, values
from kafkaproof.spec.language.subset import RuleError


@dataclass(frozen=True)
class Leaf:
    """One scalar of a state: where it is, what it may hold, and which bound cuts it (or None).

    `path` holds field names and indices; `low` and `high` are the ends of its range.
    A `spare` leaf holds 0 in every state; its `bound` is the one that sizes its array.
    """

    path: tuple[str | int, ...]
    domain: Scalar
    low: int
    high: int
    bound: str | None
    spare: bool

    @property
    def is_budget(self) -> bool:
        """Whether the leaf counts against a budget."""
        return isinstance(self.domain, Number) and isinstance(self.domain.high, Budget)

    @property
    def expression(self) -> str:
        """The leaf as Python text: ``replicas[1].log.length``."""
        parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path]
        return "".join(parts).removeprefix(".")


def length(array: Array, scope: Scope) -> int:
    """Number of elements that are stored (without the spare slot)."""
    return array.size.value(scope) if isinstance(array.size, Bound) else scope[array.size]


def slots(array: Array, scope: Scope) -> int:
    """Number of elements in memory (with the spare slot, where there is one)."""
    return length(array, scope) + (1 if isinstance(array.size, Bound) else 0)


def leaves(record: Record, scope: Scope) -> list[Leaf]:
    """All leaves of a state of `record` at `scope`, in the order of their declaration.

    Raises RuleError for a field whose range is empty.
    """
    return list(_leaves(record, scope, (), None))


def _leaves(domain, scope, path, spare_of):
    if isinstance(domain, Record):
        for name, field in domain.fields.items():
            yield from _leaves(field.domain, scope, (*path, name), spare_of)
    elif isinstance(domain, Array):
        stored = length(domain, scope)
        for i in range(slots(domain, scope)):
            beyond = domain.size.name if isinstance(domain.size, Bound) and i >= stored else spare_of
            yield from _leaves(domain.of, scope, (*path, i), beyond)
    elif spare_of:
        yield Leaf(path, domain, 0, 0, spare_of, True)
    else:
        allowed = values(domain, scope)
        if not allowed:
            raise RuleError(f"{'.'.join(map(str, path))} can hold nothing at this scope: {domain}")
        cut = isinstance(domain, Number) and isinstance(domain.high, Bound)
        yield Leaf(path, domain, allowed[0], allowed[-1], domain.high.name if cut else None, False)
