"""What JSON values may be: a shape tells why a value is not one of its own."""

import re
from collections.abc import Callable, Mapping

from kafkaproof.traces.zookeeper.znodes.json_parts import MOST

Shape = Callable[[object, str], str | None]
"""Of a value and its name: why it has not the shape, None where it has."""
_LONGEST = 40


def shown(value: object) -> str:
    """A value in words, cut where it is long."""
    text = {True: "true", False: "false", None: "null"}.get(value) if value is None or isinstance(value, bool) else None
    text = text or repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def whole(least: int = 0, most: int = MOST) -> Shape:
    """A whole number from `least` to `most`; neither 1.0 nor `true` is one."""

    def why_not(value: object, name: str) -> str | None:
        if type(value) is int and least <= value <= most:
            return None
        return f"{name} is {shown(value)}, and no whole number from {least} to {most}"

    return why_not


def text(pattern: str = ".*", words: str = "text") -> Shape:
    """A text of a pattern; `words`: what that is."""
    compiled = re.compile(pattern, re.DOTALL)

    def why_not(value: object, name: str) -> str | None:
        fits = isinstance(value, str) and compiled.fullmatch(value)
        return None if fits else f"{name} is {shown(value)}, and no {words}"

    return why_not


def either(*shapes: Shape) -> Shape:
    """What has one of several shapes."""

    def why_not(value: object, name: str) -> str | None:
        found = [shape(value, name) for shape in shapes]
        return None if None in found else found[0]

    return why_not


def null(value: object, name: str) -> str | None:
    """Nothing."""
    return None if value is None else f"{name} is {shown(value)}, and not null"


def listed(of: Shape, least: int = 0) -> Shape:
    """A list of values of one shape, at `least` so many."""

    def why_not(value: object, name: str) -> str | None:
        if not isinstance(value, list):
            return f"{name} is {shown(value)}, and no list"
        if len(value) < least:
            return f"{name} has {len(value)} entries, and at least {least} are written"
        return _first(of(each, f"{name}[{place}]") for place, each in enumerate(value))

    return why_not


def mapped(keys: str, of: Shape) -> Shape:
    """An object whose keys are of a pattern, and whose values of one shape."""
    compiled = re.compile(keys, re.DOTALL)

    def why_not(value: object, name: str) -> str | None:
        if not isinstance(value, dict):
            return f"{name} is {shown(value)}, and no object"
        strange = next((key for key in value if not compiled.fullmatch(key)), None)
        if strange is not None:
            return f"{name} has the key {shown(strange)}"
        names = (key if key.isprintable() else shown(key) for key in value)
        return _first(of(each, f"{name}.{key}") for key, each in zip(names, value.values()))

    return why_not


def fields(shapes: Mapping[str, Shape], optional: Mapping[str, Shape] = {}) -> Shape:
    """An object that has these keys, and perhaps those that are optional; others say nothing against it."""

    def why_not(value: object, name: str) -> str | None:
        if not isinstance(value, dict):
            return f"{name} is {shown(value)}, and no object"
        for key, shape in shapes.items():
            if key not in value:
                return f"{name} has no {key}"
            if why := shape(value[key], key):
                return why
        return _first(shape(value[key], key) for key, shape in optional.items() if key in value)

    return why_not


def _first(found) -> str | None:
    return next(filter(None, found), None)
