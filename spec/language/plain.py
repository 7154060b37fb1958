"""Plain Python states: slot objects that hold ints, for reading, reporting and reference runs."""

from __future__ import annotations

from functools import reduce

from spec.language.domains import Array, Record, Scope, coded, named
from spec.language.layout import Leaf, leaves, length, slots


class Plain:
    """A record of ints, lists and records; equal to another with the same values."""

    __slots__ = ()

    def __eq__(self, other):
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    def __hash__(self):
        raise TypeError("a plain state changes in place; use `key(leaves, state)`")


def plain_type(record: Record, scope: Scope) -> type[Plain]:
    """A class whose instances are states of `record` at `scope`, all zero when made."""
    makers = {name: _maker(field.domain, scope) for name, field in record.fields.items()}

    def __init__(self):
        for name, make in makers.items():
            setattr(self, name, make())

    return type("State", (Plain,), {"__slots__": tuple(makers), "__init__": __init__})


def _maker(domain, scope):
    if isinstance(domain, Record):
        return plain_type(domain, scope)
    if isinstance(domain, Array):
        make, n = _maker(domain.of, scope), slots(domain, scope)
        return lambda: [make() for _ in range(n)]
    return int


def get(state: object, path: tuple) -> int:
    """The leaf of `state` at `path`."""
    return reduce(lambda at, part: at[part] if isinstance(part, int) else getattr(at, part), path, state)


def put(state: object, path: tuple, value: int) -> None:
    """Set the leaf of `state` at `path`."""
    parent = get(state, path[:-1])
    if isinstance(path[-1], int):
        parent[path[-1]] = value
    else:
        setattr(parent, path[-1], value)


def key(of: list[Leaf], state: object) -> tuple[int, ...]:
    """The values of the leaves, which tell states apart."""
    return tuple(int(get(state, leaf.path)) for leaf in of)


def copy_into(of: list[Leaf], source: object, target: object) -> None:
    """Set every leaf of `target` from `source`; either may be plain or a NumPy record's element."""
    for leaf in of:
        value = _get_numpy(source, leaf.path) if not isinstance(source, Plain) else get(source, leaf.path)
        if isinstance(target, Plain):
            put(target, leaf.path, int(value))
        else:
            _put_numpy(target, leaf.path, value)


def _get_numpy(record, path):
    return reduce(lambda at, part: at[part], path, record)


def _put_numpy(record, path, value):
    _get_numpy(record, path[:-1])[path[-1]] = value


def to_json(domain: object, value: object, scope: Scope) -> object:
    """A plain state (or a field of one) as JSON: names for codes, lists for sets and sequences."""
    if isinstance(domain, Record):
        fields = {n: to_json(f.domain, getattr(value, n), scope) for n, f in domain.fields.items()}
        if domain.fields.keys() == {"length", "slots"}:
            return fields["slots"][: fields["length"]]
        return fields
    if isinstance(domain, Array):
        return [to_json(domain.of, element, scope) for element in value[: length(domain, scope)]]
    return named(domain, int(value))


def from_json(record: Record, data: object, scope: Scope) -> Plain:
    """The plain state that `to_json` wrote; raises KeyError or ValueError for anything else."""
    state = plain_type(record, scope)()
    _fill(record, state, data, scope)
    return state


def _fill(record, state, data, scope):
    if record.fields.keys() == {"length", "slots"}:
        data = {"length": len(data), "slots": data}
    for name, field in record.fields.items():
        value = data[name]
        if isinstance(field.domain, Record):
            _fill(field.domain, getattr(state, name), value, scope)
        elif isinstance(field.domain, Array):
            elements = getattr(state, name)
            for i, element in enumerate(value):
                if isinstance(field.domain.of, Record):
                    _fill(field.domain.of, elements[i], element, scope)
                else:
                    elements[i] = coded(field.domain.of, element)
        else:
            setattr(state, name, coded(field.domain, value))


def new_state(record: Record, scope: Scope) -> Plain:
    """A state of zeros."""
    return plain_type(record, scope)()


__all__ = ["Plain", "copy_into", "from_json", "get", "key", "leaves", "new_state", "plain_type", "put", "to_json"]
