"""Fields of a state by name: ``zk.controller``, ``brokers[0].doing``, ``brokers[*].doing``.

``[*]`` stands for every index. In several fields, the first ``[*]`` of each is the same index, and so is the
second.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.spec.language.domains import Array, Domain, Record, Scope, named
from kafkaproof.spec.language.layout import length

EVERY = "*"
_PART = re.compile(r"(?:^|\.)([A-Za-z_]\w*)|\[(\d+|\*)\]")


@dataclass(frozen=True)
class FieldSet:
    """Scalar fields of a state that are looked at together.

    `domains` are the fields' domains. `places` holds, for each choice of the indices that ``[*]`` stands
    for, the path of every field; without ``[*]`` it has one element.
    """

    names: tuple[str, ...]
    domains: tuple[Domain, ...]
    places: tuple[tuple[tuple[str | int, ...], ...], ...]

    def shown(self, values: tuple[int, ...]) -> list[object]:
        """Values of the fields as people write them (see `domains.named`)."""
        return [named(domain, value) for domain, value in zip(self.domains, values)]


def fields_of(state: Record, scope: Scope, names: list[str]) -> FieldSet:
    """The fields called `names`; raises UserError, which lists the choices, for a wrong name."""
    found = [_resolved(state, scope, name) for name in dict.fromkeys(names)]
    most = max((sizes for _, _, sizes in found), key=len)
    for name, (_, _, sizes) in zip(dict.fromkeys(names), found):
        if sizes != most[: len(sizes)]:
            told = "its [*] does not count the same as that of the other fields; ask for one at a time"
            raise UserError(f"{name}: {told}")
    places = tuple(tuple(_filled(parts, indices) for parts, _, _ in found) for indices in product(*map(range, most)))
    return FieldSet(tuple(dict.fromkeys(names)), tuple(domain for _, domain, _ in found), places)


def _resolved(domain, scope, name):
    """The parts of a name, the domain of the field, and how many indices each ``[*]`` stands for."""
    parts, sizes, at = _parts(name), [], ""
    for part in parts:
        if isinstance(domain, Record) and part in domain.fields:
            domain, at = domain.fields[part].domain, f"{at}.{part}".lstrip(".")
        elif isinstance(domain, Array) and (part == EVERY or isinstance(part, int) and part < length(domain, scope)):
            sizes += [length(domain, scope)] if part == EVERY else []
            domain, at = domain.of, f"{at}[{part}]"
        else:
            raise UserError(f"no field {name}; {_choices(domain, scope, at)}")
    if isinstance(domain, (Array, Record)):
        raise UserError(f"{name} is more than one value; {_choices(domain, scope, at)}")
    return parts, domain, sizes


def _parts(name):
    parts, at = [], 0
    while at < len(name):
        found = _PART.match(name, at)
        if not found:
            raise UserError(f"{name!r} is not a field; a field reads like zk.controller or brokers[*].doing")
        parts.append(int(found[2]) if (found[2] or "").isdigit() else found[1] or found[2])
        at = found.end()
    return parts


def _choices(domain, scope, at):
    where = at or "the state"
    if isinstance(domain, Record):
        return f"{where} has {', '.join(domain.fields)}"
    if isinstance(domain, Array):
        size = length(domain, scope)
        return f"{where} has the indices 0 to {size - 1}, and {at}[*] for all" if size else f"{where} is empty"
    return f"{where} has no parts"


def _filled(parts, indices):
    following = iter(indices)
    return tuple(next(following) if part == EVERY else part for part in parts)
