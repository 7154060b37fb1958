"""What went wrong although every record conforms: when, of which partition, where that is told, and the way out."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from kafkaproof.traces.basics.times import time_of_day

OBEYED = "LeaderAndIsr obeyed after a later election"
TRUNCATED = "truncation below the high watermark"
UNTOLD = "state written that nobody was told of"
OUTSIDE = "ISR outside the assignment"
REFUSED = "ISR changes refused for ever"
UNREAD = "list of reassignments that is not read"
CLOSED = "controlled shutdown that cannot succeed"
FAILING = "controllers that fail to start up"
DEAD = "controller that elects or stops no more"
DELETED = "records deleted as if they were of 1970"

WAYS_OUT = {
    OBEYED: "what it has acknowledged since may be on no other member of ZooKeeper's ISR, and the next election may "
    "lose it: stop producers, copy those records from this leader, restart it, send again what is then missing",
    TRUNCATED: "copy the records from a replica that still has them before it truncates, too; else send them again",
    UNTOLD: "delete /controller: the next controller reads the state, and tells the brokers",
    OUTSIDE: "reassign the partition to living members of its ISR, and from there to where it is to be",
    REFUSED: "reassign the partition to the same replicas in another order, or restart the leader: a new leader epoch "
    "ends it, a new controller alone may not",
    UNREAD: "delete /controller: the next controller reads the list; from 2.4 on ask by --bootstrap-server (KAFKA-9478)",
    CLOSED: "start the broker again; if there is time before it gives up, delete /controller: the next controller does "
    "not know who is shutting down, and lets the follower in",
    FAILING: "controller.log says why: delete the znode of a topic that is both to be deleted and reassigned, if it has no "
    "partitions left; delete /admin/preferred_replica_election, if it names a partition without a state",
    DEAD: "restart that broker: what it keeps of an earlier term is gone with the process",
    DELETED: "as long as this broker has not led since, take its replica away and give it back by reassignments; "
    "else send the records again; Kafka 3.5.2 deletes them no more (KAFKA-15375)",
}
"""What to do about each kind."""
STANDS = 10_000
"""What the next moment mends is no trouble: it must stand for so many ms."""
_SHOWN = 20


class Remark(NamedTuple):
    """Something that went wrong.

    `time`: in ms since 1970 (UTC); `partition`: None where it is of the cluster; `zxid`: the record to look at; `file`,
    `line`: of a broker's log.
    """

    what: str
    time: int
    partition: tuple[str, int] | None
    text: str
    zxid: int | None = None
    file: Path | None = None
    line: int | None = None

    @property
    def name(self) -> str:
        """The partition, in words."""
        return "{}-{}".format(*self.partition) if self.partition else "cluster"

    @property
    def place(self) -> str:
        """The record or the line that tells of it."""
        return f"{self.file}:{self.line}" if self.zxid is None or self.file else hex(self.zxid)

    def as_json(self) -> dict:
        """The remark as an object of `replay --json`."""
        topic, partition = self.partition or (None, None)
        return {
            "what": self.what,
            "time": self.time,
            "topic": topic,
            "partition": partition,
            "zxid": None if self.zxid is None else hex(self.zxid),
            "file": self.file and str(self.file),
            "line": self.line,
            "text": self.text,
            "way_out": WAYS_OUT[self.what],
        }


def print_remarks(out: Console, remarks: Iterable[Remark]) -> None:
    """Print each remark, the first of many of a kind."""
    counts: Counter = Counter()
    for each in remarks:
        counts[each.what] += 1
        if counts[each.what] <= _SHOWN:
            out.print(f"[bold red]{each.what}[/]: ", end="")
            out.print(
                f"{time_of_day(each.time)} {each.name}: {each.text} ({each.place})",
                soft_wrap=True,
                markup=False,
                highlight=False,
            )
    for what, count in counts.items():
        if count > _SHOWN:
            out.print(f"[bold red]{what}[/]: and {count - _SHOWN:,} more: see --json", soft_wrap=True, highlight=False)
