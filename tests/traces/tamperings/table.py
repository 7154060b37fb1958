"""Tampers with all recordings, replays them, and writes docs/tamperings.md: kinds x recordings, found of applied.

    python -m tests.traces.tamperings.table docs/tamperings.md --places 3

The recordings are the bundled ones, and those of KAFKAPROOF_RECORDINGS where it is set. Exit code: 1 if one is missed.
"""

import argparse
import os
import sys
from collections import defaultdict
from pathlib import Path

from tests.traces.replaying import BUNDLED, read, settled
from tests.traces.tamperings.apply import Outcome, outcome, places, sample
from tests.traces.tamperings.scene import KINDS, Kind, Scene

HEADER = """# Tamperings: what replay finds

How do we know that replay notices a wrong log? Each row is a way to tamper with the ZooKeeper log of a real cluster: a write
that is lost, moved or altered. The altered log has right checksums, zxids, versions and lists of ephemerals (except where
these are what is tampered with), and is replayed. `make tamperings` writes this page.

- *A*, *B* and so on: the recordings, listed below. A cell has how many replay found, of how many were applied. Each kind is
  applied at up to {places} of the places where it can be, chosen by seed {seed}.
- *found*: replay diverges, or violates a property that the original log does not, at the altered record, or at the first
  later one that can show it.
- *at once*: how many were found at the altered record itself.

The kinds are functions in `tests/traces/tamperings/`; `make test` tries each of them once.
"""
UNSEEN = """
## What no log shows

Replay cannot find these, because the log would look alike if nothing was wrong; the reasons stand below the table. Here a cell
has how many replay does *not* find, of how many were applied. (The others contradict something else in the same log.)
"""
HARMLESS = """
## What is no fault

These alterations are harmless, and replay must not report them. A cell has how many it does not report, of how many were applied.
"""
_HEADS = "| kind | what is done |", "|---|---|"


def recordings() -> list[Path]:
    """The bundled recordings of Kafka, and those of KAFKAPROOF_RECORDINGS that are none of these."""
    bundled = sorted(log.parents[1] for log in BUNDLED.glob("*/version-2/log.1"))
    more = Path(os.environ["KAFKAPROOF_RECORDINGS"]) if "KAFKAPROOF_RECORDINGS" in os.environ else None
    others = sorted(log.parents[2] for log in more.glob("*/*/zookeeper/version-2/log.1")) if more else []
    found = bundled + [other for other in others if _name(other) not in {each.name for each in bundled}]
    return sorted(found, key=lambda directory: sum(log.stat().st_size for log in directory.rglob("log.1")))


def _name(directory: Path) -> str:
    return directory.name if directory.parent == BUNDLED else "-".join(directory.parts[-2:])


def tried(directory: Path, count: int, seed: int) -> list[Outcome]:
    """Tamper with a recording in every way."""
    scene, known = Scene(read(directory)), settled(read(directory))
    found = []
    for kind, tampered in sample(places(scene), count, seed):
        found.append(outcome(scene, _name(directory), kind, tampered, known))
        if not found[-1].found and not kind.unseen:
            print(f"{found[-1].recording} {kind.name} at {found[-1].zxid:#x}: {found[-1].text}", file=sys.stderr)
    return found


def page(outcomes: list[Outcome], count: int, seed: int) -> str:
    """The page."""
    names = list(dict.fromkeys(each.recording for each in outcomes))
    cells: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for each in outcomes:
        cells[each.kind.name, each.recording].append(each)
    letters = {name: chr(ord("A") + place) for place, name in enumerate(names)}
    parts = [HEADER.format(places=count, seed=seed)]
    parts += ["\n" + "\n".join(f"- {letter}: `{name}`" for name, letter in letters.items()), "\n## What is found\n"]
    faults = [kind for kind in KINDS.values() if not kind.unseen and not kind.harmless]
    parts += _rows(faults, letters, cells)
    parts += [UNSEEN, *_rows([kind for kind in KINDS.values() if kind.unseen], letters, cells), ""]
    parts += [f"- `{kind.name}`: {kind.unseen}." for kind in KINDS.values() if kind.unseen]
    parts += [HARMLESS, *_rows([kind for kind in KINDS.values() if kind.harmless], letters, cells)]
    counted = [each for each in outcomes if each.kind in faults]
    found, once = sum(each.found for each in counted), sum(each.at_once for each in counted)
    applied = sorted({each.kind.name for each in counted})
    never = [kind.name for kind in faults if kind.name not in applied]
    told = f"{found:,} of {len(counted):,} found, {once:,} of them at once; {len(applied)} kinds applied."
    parts.insert(2, f"\n{told}" + (f" Nowhere applicable: {', '.join(f'`{n}`' for n in never)}." if never else ""))
    return "\n".join(parts) + "\n"


def _rows(kinds: list[Kind], letters: dict[str, str], cells) -> list[str]:
    rows = [f"{_HEADS[0]} {' | '.join(letters.values())} | all | at once |", _HEADS[1] + "---|" * (len(letters) + 2)]
    for kind in kinds:
        own = [cells[kind.name, name] for name in letters]
        every = [each for cell in own for each in cell]
        once = "" if kind.unseen or kind.harmless else str(sum(each.at_once for each in every))
        texts = [_count(cell) for cell in (*own, every)]
        rows.append(f"| `{kind.name}` | {kind.text} | {' | '.join(texts)} | {once} |")
    return rows


def _count(cell: list[Outcome]) -> str:
    return f"{sum(each.found for each in cell)}/{len(cell)}" if cell else ""


def main() -> int:
    """Write the page; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument(
        "--places", type=int, default=3, metavar="N", help="of each kind in each recording (default: 3)"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    outcomes = []
    for directory in recordings():
        print(f"{_name(directory)} ...", file=sys.stderr, flush=True)
        outcomes += tried(directory, options.places, options.seed)
        options.page.write_text(page(outcomes, options.places, options.seed), encoding="utf-8")
    return int(any(not each.found and not each.kind.unseen for each in outcomes))


if __name__ == "__main__":
    sys.exit(main())
