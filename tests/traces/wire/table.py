"""Writes the table of what is found of changed traffic: ``python -m tests.traces.wire.table FILE [--places N]``."""

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import tampered_groups as groups  # noqa: E402
from tampered import NAMES, Recorded, Tampering, found_in, kinds, recorded, sampled  # noqa: E402

HEAD = """# Tamperings of the wire: what replay finds

How do we know that [`replay --wire`](replay-wire.md) notices a wrong message? Each row is a way to change one message of a real
cluster's traffic: a field of a request or of an answer, to whom it goes, or that it is lost or sent again. `make tamperings-wire`
writes this page.

- *A*, *B*, *C*: the recordings, listed below. A cell says how many changes replay found, of how many that were tried: each
  kind at up to {places} messages, chosen at random (seed 1). An empty cell: not applicable.
- *at once*: how many were found at the message that was changed. A message that is lost is found at the step that sends it,
  or by its number, which lacks on its connection.

What goes unnoticed, and why:

- **A request that is lost** is found by its number (correlation id) between others of its connection. At the beginning or
  end of a connection it is found only where a step had to send it.
- **Delete of a StopReplica**: a StopReplica without a leader epoch, or of a topic that is being deleted, is sent with and
  without delete, as often as the deletion goes on; one without partitions does nothing, whatever it says.
- **A live broker left out, an UpdateMetadata to another**: the list may be an earlier one, and some UpdateMetadata go to all
  brokers alike.
- **Acknowledged at once**: where the leader is alone in the ISR, that is right.
- **The end of an epoch** that is the last one of the log is the log's end. Others may append (the group coordinator does),
  so it may be further on, or, where nothing of the log was seen, anywhere.
- **A batch left out**: offsets that lack may have been compacted, unless the batch was seen in this leader's log.
- **Records left out**: that a leader has records is known when another answer tells of them; the follower that goes on
  without them, or its next fetch, is found then. The same holds for what is changed in a batch, until it is compared with
  the answer to another replica.

"""


GROUPS = """A message of a group that is lost or sent again, or whose offsets or assignments are changed, is found at a later one
that it contradicts: *at once* does not count it. Unnoticed goes what another order of arrivals explains, and a commit that
another replaces before anybody fetches it.
"""


def of_brokers(of: Recorded, places: int) -> Iterator[tuple[tuple[str, str], list[Tampering]]]:
    """Changes of requests between brokers and of producers, by kind."""
    for kind in kinds():
        if tried := sampled(of, kind, places):
            yield kind, tried


def of_groups(of: Recorded, places: int) -> Iterator[tuple[tuple[str, str], list[Tampering]]]:
    """Changes of requests of groups, by kind."""
    by_kind = defaultdict(list)
    for each in groups.group_tamperings(of):
        by_kind[each.api, each.what].append(each)
    for kind, applied in by_kind.items():
        yield kind, random.Random(1).sample(applied, min(places, len(applied)))


PARTS = (
    ("Requests between brokers, and of producers", NAMES, (), of_brokers, found_in, ""),
    ("Requests of groups", groups.NAMES, groups.READ, of_groups, groups.found_of_groups, GROUPS),
)
"""What is changed: a title, in which recordings, by which messages it is judged, the changes, and what finds them."""


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--places", type=int, default=3)
    options = parser.parse_args()
    tables = [table(options.places, *part) for part in PARTS]
    options.file.write_text(HEAD.format(places=options.places) + "\n\n".join(tables) + "\n")


def table(
    places: int, title: str, names: Sequence[str], apis: tuple[str, ...], drawn: Callable, finds: Callable, told: str
) -> str:
    """The table of some messages."""
    rows: dict[tuple[str, str], dict[str, tuple[int, int, int]]] = defaultdict(dict)
    for name in names:
        of = recorded(name, apis)
        for kind, tried in drawn(of, places):
            found = [finds(of, each) for each in tried]
            rows[kind][name] = sum(f for f, _ in found), len(tried), sum(once for _, once in found)
            print(name, *kind, rows[kind][name], file=sys.stderr)
    lines = [f"## {title}", ""] + [told] * bool(told) + [f"- {letter}: `{name}`" for letter, name in zip("ABC", names)]
    cells = [cell for own in rows.values() for cell in own.values()]
    total = [sum(cell[part] for cell in cells) for part in range(3)]
    lines += ["", f"{total[0]:,} of {total[1]:,} found, {total[2]:,} of them at once; {len(rows)} kinds.", ""]
    lines += ["| message | what is changed | A | B | C | all | at once |", "|---|---|---|---|---|---|---|"]
    for (api, what), own in sorted(rows.items()):
        shown = [f"{own[name][0]}/{own[name][1]}" if name in own else "" for name in names]
        found, tried, once = (sum(cell[part] for cell in own.values()) for part in range(3))
        lines.append(f"| {api} | {what} | {' | '.join(shown)} | {found}/{tried} | {once} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
