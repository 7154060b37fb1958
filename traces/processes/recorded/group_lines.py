"""The lines of a recording that are of groups: what was offered to the offsets log, and each step of a coordinator."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass, field

from kafkaproof.spec.group.network import Request, Verdict
from kafkaproof.spec.language.steps import Step, names, parse_step
from kafkaproof.spec.running.broker_ids import OF_COORDINATORS, PLAIN, BrokerIds
from kafkaproof.spec.running.coordinators import STEPS
from kafkaproof.traces.processes.recorded.offset_records import Entry, read_batch

TAKEN = frozenset(names(*STEPS))
"""The names of the steps that a coordinator takes, without their modules."""
PLACED = ("m", "id", "known", "generation", "leading")


@dataclass(frozen=True)
class Asked:
    """A request: the number of the client that waits, what it asks, and the name of the member.

    `id` is the member's number. `protocols` are offered by who joins, the first two; `offsets` are what a commit
    has: topic, partition, offset. `instance` is the group.instance.id, "" without one; `told`: a member id may be told.
    """

    m: int
    kind: int
    id: int
    known: int
    generation: int
    leading: int
    name: str
    protocols: tuple[str, ...] = ()
    offsets: tuple[tuple[str, int, int], ...] = ()
    instance: str = ""
    told: int = 1


@dataclass(frozen=True)
class Answer:
    """What the client with number `m` was answered, and what the answer said beside its error code."""

    m: int
    verdict: int
    content: dict


@dataclass(frozen=True)
class Offered:
    """What a coordinator was about to append: a batch by its id, and the records in it."""

    group: str
    id: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class GroupLine:
    """A step of a coordinator in a group; without a step (None) the group begins, as a copy of the empty group (PROTOTYPE).

    `state` is the hash of the group's record afterwards; `append` the place and the id of the batch that it appended.
    `brokers` tell the ids of brokers.
    """

    process: str
    n: int
    group: str
    state: str
    step: Step | None = None
    asked: Asked | None = None
    answers: tuple[Answer, ...] = ()
    append: tuple[int, int] | None = None
    brokers: BrokerIds = field(default=PLAIN, compare=False)

    @property
    def taken(self) -> Step:
        """The step; raises ValueError where the group begins."""
        if self.step is None:
            raise ValueError(f"group {self.group!r} begins: that is no step")
        return self.step

    @property
    def title(self) -> str:
        """Where in the recording it is."""
        shown = self.brokers.with_ids(self.step, OF_COORDINATORS) if self.step else "it begins"
        return f"broker {self.process}, group {self.group!r}, line {self.n}, {shown}"


@dataclass
class GroupLines:
    """What one process has recorded of groups so far: `earlier` is what came before its first step."""

    process: str
    brokers: BrokerIds = PLAIN
    earlier: list[GroupLine | Offered] = field(default_factory=list)
    count: int = 0

    def read(self, row: dict) -> GroupLine | Offered:
        """A line; raises ValueError, KeyError or TypeError for one that cannot be read, or does not follow the last."""
        if "offers" in row:
            id = int(row["offers"]["id"])
            return Offered(str(row["group"]), id, tuple(read_batch(b64decode(row["offers"]["batch"]), id)))
        self.count += 1
        if row["g"] != self.count:
            raise ValueError(f"line {self.count} of groups is missing")
        step = self.brokers.with_numbers(parse_step(row["step"]), OF_COORDINATORS) if "step" in row else None
        if step and step.name not in TAKEN:
            raise ValueError(f"no coordinator takes a step {step.transition}")
        placed = row.get("append")
        return GroupLine(
            self.process,
            self.count,
            str(row["group"]),
            str(row["state"]),
            step,
            _asked(row["asked"]) if "asked" in row else None,
            tuple(
                Answer(int(m), Verdict.names.index(verdict), dict(content))
                for m, verdict, content in row.get("answers", ())
            ),
            placed and (int(placed["place"]), int(placed["id"])),
            self.brokers,
        )


def _asked(row):
    numbers = {name: int(row[name]) for name in PLACED}
    return Asked(
        kind=Request.names.index(row["kind"]),
        name=str(row["name"]),
        protocols=tuple(map(str, row.get("protocols", ()))),
        offsets=tuple((str(t), int(p), int(offset)) for t, p, offset in row.get("offsets", ())),
        instance=str(row.get("instance", "")),
        told=int(row.get("told", 1)),
        **numbers,
    )
