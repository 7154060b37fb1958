"""Keeps a page usable whatever the log: lanes and items are bounded, and what is denser than a screen is made one."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from kafkaproof.traces.report.page.items import KINDS, Item, Lane

MOST_ITEMS, MOST_LANES, MOST_BEHIND = 120_000, 4_000, 24
_FINEST, _COARSEST = 1 << 15, 1 << 9
"""The first grid on which items are made one has so many cells, and the last that shows each partition's."""


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


def bounded_items(items: list[Item], began: int, ended: int) -> tuple[list[Item], int, bool]:
    """Not more than MOST_ITEMS, the width in ms of the cells of the grid that this needs (0 for none), and whether
    it needs that what is no trouble of partitions is in the lanes of their topics.

    On the grid all marks of a kind in a cell of a lane are one, and so are all bars of partitions that are shorter than
    a cell; terms and lives of brokers stay as they are.
    """
    if len(items) <= MOST_ITEMS:
        return items, 0, False
    found, cell = _on_grid(items, began, ended, (ended - began) // _COARSEST)
    if len(found) <= MOST_ITEMS:
        return found, cell, False
    found, cell = _on_grid([_raised(item) for item in items], began, ended, ended - began)
    return found, cell, True


def _raised(item: Item) -> Item:
    """An item that is no trouble in the lane of its topic instead of its partition's; who led stays."""
    lane = item.lane
    if lane.partition is None or item.weight > 1 or KINDS[item.kind].shape == "bar":
        return item
    return replace(item, lane=Lane(lane.section, lane.topic or "", lane.topic))


def _on_grid(items: list[Item], began: int, ended: int, widest: int) -> tuple[list[Item], int]:
    """The items on the finest grid on which they are not too many, or on the widest."""
    alike: dict[tuple, int] = {}
    likes = [alike.setdefault(_likeness(item), len(alike)) for item in items]
    cell = max((ended - began) // _FINEST, 1)
    while len(set(_places(items, likes, began, cell))) > MOST_ITEMS and cell <= widest:
        cell *= 2
    cells: dict[tuple, list[Item]] = defaultdict(list)
    for item, place in zip(items, _places(items, likes, began, cell)):
        cells[place].append(item)
    return [_one(found) for found in cells.values()], cell


def _likeness(item: Item) -> tuple:
    """What items have in common that can be made one: lane, kind, and the broker that colours a bar."""
    return item.lane, item.kind, item.brokers[:1] if KINDS[item.kind].shape == "bar" else ()


def _places(items: list[Item], likes: list[int], began: int, cell: int) -> Iterator[tuple]:
    """The place of each item on a grid; a bar that is as long as a cell, or of no topic, has one of its own."""
    for number, (item, like) in enumerate(zip(items, likes)):
        alone = item.end is not None and (item.lane.topic is None or item.end - item.start >= cell)
        yield like, (item.start - began) // cell, number if alone else -1


def _one(items: list[Item]) -> Item:
    if len(items) == 1:
        return items[0]
    first = items[0]
    ends = [item.end for item in items if item.end is not None]
    zxids = list(dict.fromkeys(zxid for item in items for zxid in item.zxids))
    brokers = tuple(dict.fromkeys(broker for item in items for broker in item.brokers))
    text = f"{len(items):,} of these, the first: {first.text}"
    return Item(
        first.lane,
        first.kind,
        min(item.start for item in items),
        text,
        tuple(zxids[:MOST_BEHIND]),
        max(ends, default=None),
        brokers,
        len(items),
        len(zxids),
    )
