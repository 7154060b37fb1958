"""Two histories row by row: steps are aligned by transition and answer, not by number or ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cache
from itertools import takewhile
from typing import NamedTuple

from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.language.domains import Id, SetOf

STEP = re.compile(r"(?:\w+\.)*(\w+)(\(.*\))(?: -> (\w+)(.*))?", re.DOTALL)
ARGUMENT = re.compile(r"(\w+)=(-?\d+|0x[0-9a-f]+)(?!\w)")


class Row(NamedTuple):
    """A row: the number of its step in each history, None for a gap. `alike`: whether the two steps correspond.

    Row 0 is the initial states.
    """

    numbers: tuple[int | None, ...]
    alike: bool = True


def rows_of(histories: list[dict]) -> list[Row]:
    """The rows of one checked history, or of two: each step once, in order.

    Two steps correspond if they are the same transition with the same answer. Where one history has other steps in the
    same place, they stand beside each other as far as both have some.
    """
    first = Row((0,) * len(histories))
    if len(histories) == 1:
        return [first, *(Row((number,)) for number in range(1, len(histories[0]["steps"]) + 1))]
    left, right = ([key_of(step["text"]) for step in history["steps"]] for history in histories)
    rows = [first]
    for same, i, j, k, m in _blocks(left, right):
        shared = min(j - i, m - k)
        rows += [Row((i + n + 1, k + n + 1), same) for n in range(shared)]
        rows += [Row((number, None), False) for number in range(i + shared + 1, j + 1)]
        rows += [Row((None, number), False) for number in range(k + shared + 1, m + 1)]
    return rows


def _blocks(left: list, right: list) -> Iterator[tuple[bool, int, int, int, int]]:
    """Blocks of the two lists in order: whether left[i:j] and right[k:m] are the same, and i, j, k, m.

    The common beginning and end are matched first; otherwise the longest block might pair early steps with late ones.
    """
    begin = _shared(left, right)
    end = _shared(left[begin:][::-1], right[begin:][::-1])
    i, j = len(left) - end, len(right) - end
    yield True, 0, begin, 0, begin
    for tag, *ends in SequenceMatcher(None, left[begin:i], right[begin:j], autojunk=False).get_opcodes():
        from_left, to_left, from_right, to_right = (begin + end for end in ends)
        yield tag == "equal", from_left, to_left, from_right, to_right
    yield True, i, len(left), j, len(right)


def _shared(left: list, right: list) -> int:
    """The length of the common beginning of two lists."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right)))


def key_of(text: str) -> tuple[str, str]:
    """A step's transition, without the module, and its answer; other text is returned as the name."""
    found = STEP.fullmatch(text)
    return (found[1], found[3] or "") if found else (text, "")


def parting(histories: list[dict], rows: list[Row]) -> int | None:
    """The first row whose steps do not correspond, or differ in more than ids; None if there is none."""
    for place, row in enumerate(rows[1:], 1):
        if not row.alike or len({without_ids(text) for text in texts_of(histories, row)}) > 1:
            return place
    return None


def renamed(histories: list[dict], rows: list[Row]) -> tuple[set[int], list[str]]:
    """The rows whose steps are the same but for what ids are called, and how: ``b=1 is b=0``.

    An id is called the same in all of these rows, and no two ids are called alike.
    """
    there, back, places = dict[tuple, str](), dict[tuple, str](), set()
    for place, row in enumerate(rows[1:], 1):
        texts = texts_of(histories, row)
        if not row.alike or len({without_ids(text) for text in texts}) > 1:
            continue
        pairs = list(zip(*map(_ids_in, texts)))
        if all(there.get(one, to) == to and back.get(to, one) == one for one, to in pairs):
            there.update(pairs)
            back.update((to, one) for one, to in pairs)
            places.add(place)
    told = [f"{'='.join(one)} is {'='.join(to)}" for one, to in there.items() if one != to]
    return places, told


def _ids_in(text: str) -> list[tuple[str, str]]:
    """The ids in the text of a step, each with the name of its argument."""
    found = STEP.fullmatch(text)
    return [each for each in ARGUMENT.findall(found[2]) if each[0] not in _quantities()] if found else []


def texts_of(histories: list[dict], row: Row) -> list[str]:
    """The texts of the steps of a row."""
    return [history["steps"][number - 1]["text"] for history, number in zip(histories, row.numbers) if number]


def without_ids(text: str) -> str:
    """The text of a step without its module, with a dot for each id; other text unchanged."""
    found = STEP.fullmatch(text)
    return f"{found[1]}{ARGUMENT.sub(_without_id, found[2])} -> {found[3]}{found[4]}" if found else text


def _without_id(match: re.Match) -> str:
    return match[0] if match[1] in _quantities() else f"{match[1]}=·"


@cache
def _quantities() -> frozenset[str]:
    """The names of arguments that are never an id or a set of ids in the specification."""
    declared = [
        item for model in all_models() for transition in model.transitions for item in transition.arguments.items()
    ]
    ids = {name for name, domain in declared if isinstance(domain, (Id, SetOf))}
    return frozenset(name for name, _ in declared) - ids
