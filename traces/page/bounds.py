"""Keeps a page usable whatever the log: lanes and items are bounded, and what is denser than a screen is made one."""

from collections import defaultdict
from collections.abc import Iterable

from traces.page.items import KINDS, Item, Lane

MOST_ITEMS, MOST_LANES, MOST_BEHIND = 40_000, 4_000, 24
_FINEST = 1 << 15
"""The first grid on which items are made one has so many cells."""


def bounded_lanes(items: list[Item]) -> tuple[list[Item], int]:
    """The items of the lanes that there is room for, the gravest first; and how many lanes are left out."""
    weight: dict[Lane, tuple] = defaultdict(lambda: (0, 0))
    for item in items:
        grave, count = weight[item.lane]
        weight[item.lane] = max(grave, item.weight), count + 1
    if len(weight) <= MOST_LANES:
        return items, 0
    ranked = sorted(weight, key=lambda lane: (lane.partition is not None, *(-each for each in weight[lane])))
    kept = set(ranked[:MOST_LANES])
    return [item for item in items if item.lane in kept], len(weight) - MOST_LANES


def bounded_items(items: list[Item], began: int, ended: int) -> tuple[list[Item], int]:
    """Not more than MOST_ITEMS, and the width in ms of the cells of the grid that this needs, 0 for none.

    On the grid all marks of a kind in a cell of a lane are one, and so are all bars that are shorter than a cell.
    """
    cell, found = 0, items
    while len(found) > MOST_ITEMS:
        wider = max(2 * cell, (ended - began) // _FINEST, 1)
        if wider > 2 * (ended - began) + 2:
            break
        cell, found = wider, _on_grid(items, began, wider)
    return found, cell


def _on_grid(items: Iterable[Item], began: int, cell: int) -> list[Item]:
    cells: dict[tuple, list[Item]] = defaultdict(list)
    for number, item in enumerate(items):
        alone = item.end is not None and item.end - item.start >= cell
        cells[item.lane, item.kind, item.brokers[:1] if KINDS[item.kind].shape == "bar" else (),
              (item.start - began) // cell, number if alone else None].append(item)
    return [_one(found) for found in cells.values()]


def _one(items: list[Item]) -> Item:
    if len(items) == 1:
        return items[0]
    first = items[0]
    ends = [item.end for item in items if item.end is not None]
    zxids = list(dict.fromkeys(zxid for item in items for zxid in item.zxids))
    brokers = tuple(dict.fromkeys(broker for item in items for broker in item.brokers))
    return Item(first.lane, first.kind, min(item.start for item in items), f"{len(items):,} of these, the first: {first.text}",
                tuple(zxids[:MOST_BEHIND]), max(ends, default=None), brokers, len(items), len(zxids))
