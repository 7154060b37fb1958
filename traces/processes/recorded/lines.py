"""The lines of one process's recording: each is a step that it took, or a request that it was about to send."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from kafkaproof.spec.election.active_controller import clean, load
from kafkaproof.spec.election.session import register_broker
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.kafka.zookeeper import Answer
from kafkaproof.spec.language.steps import Step, parse_step
from kafkaproof.spec.running.broker_ids import PLAIN, BrokerIds
from kafkaproof.spec.running.processes import ELECTION, PARTITION, REFUSED
from kafkaproof.traces.processes.recorded.formats import FORMAT, WITH_GROUPS, WITH_REASSIGNMENTS
from kafkaproof.traces.processes.recorded.group_lines import GroupLine, GroupLines, Offered

_REFUSED = {Answer.names[code] for code in REFUSED}
RETRIED = (register_broker.__name__,)
"""Steps that ask again where no answer came, whatever comes between."""


@dataclass(frozen=True)
class Line:
    """A step as a process recorded it; or (`sends`) a request that it sent; or (`asks`) a step of which it recorded
    only that it was about to write, and then died (the last line) or took it once more.

    `broker`: its number, one of those that `brokers` tell the ids of.
    `partners`: the steps of the other part that went with it, each with that part.
    `zxid` and `clock`: what the process knew; `zxids`: the transactions that it made; `at`: the zxid at which the step
    took place, and whether it wrote there; `changed`: the fields of its record that the step changed. `record`: the id
    of the batch that a producer offered; `acked`: those whose producers are answered; `place`: where a consumer
    reads; `partitions`: for how many the process has records, 0 where it does not say; `heard`: what the watch on
    /controller said that it handled; `arms`: it sets that watch. `found`, with the
    first step of a process: what was on its disk of each replica. `attempts`: how often its write was asked for, since
    no answer came, and `asked` the zxid that the process knew of at the first.
    `groups`: what the process recorded of groups after this line, and before the next; `earlier`: before this one,
    which is the first. `came`: the kind and the content of the message that it took, if that is from a real broker.
    """

    process: str
    broker: int
    zxid: int
    clock: int
    session: int = 0
    n: int = 0
    part: str = ""
    step: Step | None = None
    partners: list[tuple[str, Step]] = field(default_factory=list)
    zxids: tuple[int, ...] = ()
    at: tuple[int, bool] | None = None
    took: str | None = None
    came: dict = field(default_factory=dict)
    sent: tuple[str, ...] = ()
    state: str = ""
    changed: dict = field(default_factory=dict)
    record: int | None = None
    acked: tuple[int, ...] = ()
    place: int | None = None
    heard: int | None = None
    arms: bool = False
    found: list[dict] | None = None
    partitions: int = 0
    sends: str | None = None
    kind: str = ""
    content: dict = field(default_factory=dict)
    asks: bool = False
    asked: int = 0
    attempts: int = 1
    groups: list[GroupLine | Offered] = field(default_factory=list)
    earlier: list[GroupLine | Offered] = field(default_factory=list)
    brokers: BrokerIds = field(default=PLAIN, compare=False)

    @property
    def taken(self) -> Step:
        """The step; raises ValueError of a line that is a message."""
        if self.step is None:
            raise ValueError(f"{self.sends} is a message, and no step")
        return self.step

    @property
    def name(self) -> str:
        """The transition's name without its module."""
        return self.taken.name


def read_process(file: Path, brokers: BrokerIds = PLAIN) -> list[Line]:
    """The lines of one process, in order; what it asked for and then recorded as a step is not told twice.

    Nor is what it asked for again, since no answer came: the first time may be the one that landed.
    """
    process, found, steps, on_disk = file.stem.removeprefix("broker-"), [], 0, None
    groups, format = GroupLines(process, brokers), FORMAT
    rows = file.read_text(errors="replace").split("\n")
    for number, text in enumerate(rows[:-1], 1):
        try:
            row = json.loads(text)
            if "group" in row:
                if format < WITH_GROUPS:
                    raise ValueError(f"it is of a group, and the recording of format {format}: record it again")
                (found[-1].groups if found else groups.earlier).append(groups.read(row))
            elif "step" in row:
                step = _step(process, brokers, row, on_disk if steps == 0 else None)
                steps += 1
                if step.n != steps:
                    raise ValueError(f"step {steps} is missing")
                if asked := _take_request(found, step, groups.earlier):
                    step = replace(step, asked=asked.zxid, attempts=asked.attempts)
                if format < WITH_REASSIGNMENTS and step.step.answer in _REFUSED:
                    step = replace(step, partners=[_as_read(*each) for each in step.partners])
                found.append(step)
            elif "sends" in row:
                found.append(
                    _line(
                        process,
                        brokers,
                        row,
                        sends=_message(row["sends"]),
                        kind=row["kind"],
                        content=dict(row["content"]),
                        took=_message(row["answers"]),
                    )
                )
            elif "asks" in row:
                part, text = row["asks"].split(" ", 1)
                asked = _line(
                    process,
                    brokers,
                    row,
                    asks=True,
                    n=int(row["n"]),
                    session=int(row["session"], 16),
                    part=_part(part),
                    step=brokers.with_numbers(parse_step(text)),
                    took=_message(row["took"]),
                    record=row.get("record"),
                )
                before = _take_request(found, asked, groups.earlier)
                found.append(replace(before, attempts=before.attempts + 1) if before else asked)
            elif "format" in row:
                on_disk, format = [_found(each) for each in row["found"]], row["format"]
            elif not {"failed", "refused"} & row.keys():
                raise ValueError("a line of no known kind")
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise UserError(f"{file}: line {number} cannot be read: {error}") from None
    if found:
        found[0].earlier.extend(groups.earlier)
    return found


def _take_request(found: list[Line], line: Line, earlier: list) -> Line | None:
    """Take the request out that `line` repeats or answers: of its session, with its number, nothing but messages since.

    One that is asked again whatever happens meanwhile may have steps behind it, and another number. What is recorded of
    groups behind it stays where it is, in `earlier` if nothing is before.
    """
    wanted = line.session, line.taken.transition, line.taken.arguments
    for place in range(len(found) - 1, -1, -1):
        each = found[place]
        if each.asks and (each.session, each.taken.transition, each.taken.arguments) == wanted:
            if each.n != line.n and line.name not in RETRIED:
                return None
            del found[place]
            (found[place - 1].groups if place else earlier).extend(each.groups)
            return replace(each, groups=[])
        if not each.sends and line.name not in RETRIED:
            return None
    return None


def _line(process, brokers, row, **more):
    broker = brokers.number(int(process.split(".")[0]))
    came = dict(row.get("came", ()))
    return Line(process, broker, int(row["zxid"]), int(row["clock"]), brokers=brokers, came=came, **more)


def _found(replica: dict) -> dict:
    """What a process has found of a replica; raises ValueError, KeyError or TypeError."""
    return {"log": str(replica["log"]), "length": int(replica["length"]), "hw": int(replica["hw"])}


def _message(id: object) -> str | None:
    """The id of a message, or None; raises ValueError."""
    if id is not None and not isinstance(id, str):
        raise ValueError(f"{id!r} is no message")
    return id


def _part(name: str) -> str:
    """A part of the specification; raises ValueError."""
    if name not in (ELECTION, PARTITION):
        raise ValueError(f"{name!r} is no part of the specification")
    return name


def _partner(text: str, brokers: BrokerIds) -> tuple[str, Step]:
    """The part and the step that went with another; raises ValueError."""
    part, step = text.split(" ", 1)
    return _part(part), brokers.with_numbers(parse_step(step))


def _as_read(part: str, step: Step) -> tuple[str, Step]:
    """A partner, with the read in place of the write that formats before the present one have."""
    written = part == ELECTION and step.name == clean.__name__
    return part, replace(step, transition=step.transition.removesuffix(step.name) + load.__name__) if written else step


def _step(process, brokers, row, found):
    at = row["at"] and (int(row["at"][0]), bool(row["at"][1]))
    if at and at[1] and at[0] not in row["zxids"]:
        raise ValueError(f"it wrote at {at[0]}, which is none of its transactions")
    return _line(
        process,
        brokers,
        row,
        session=int(row["session"], 16),
        n=int(row["n"]),
        part=_part(row["part"]),
        step=brokers.with_numbers(parse_step(row["step"])),
        partners=[_partner(each, brokers) for each in row["with"]],
        zxids=tuple(map(int, row["zxids"])),
        at=at,
        took=_message(row["took"]),
        sent=tuple(map(_message, row["sent"])),
        state=row["state"],
        changed=dict(row["changed"]),
        record=row.get("record"),
        acked=tuple(row.get("acked", ())),
        place=row.get("place"),
        partitions=int(row.get("partitions", 0)),
        found=found,
        heard=next((answer for name, _, answer in row["seams"] if name == "waiting"), None),
        arms=any(name == "read_controller" for name, *_ in row["seams"]),
    )
