"""What the properties of *group* look at, of one broker in a recording, and which of them a coordinator can show.

The broker is number 0 of one broker. Of the log there are only the records that properties speak of: the last
record of the group, and the commits that are the last, the last that was answered, the committed one and those in
flight; places are those in this log.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from types import SimpleNamespace

from kafkaproof.spec.group.coordinator import MEMBER
from kafkaproof.spec.group.network import NETWORK
from kafkaproof.spec.group.records import RECORD
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.group.state import STATE
from kafkaproof.spec.group.storage import GHOSTS, STORAGE
from kafkaproof.spec.language.accepted import reads_only
from kafkaproof.spec.language.model import SAFETY, Property, Transition
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.running.coordinators import MODEL, SCOPE, STEPS
from kafkaproof.traces.processes.groups.group import Group
from kafkaproof.traces.processes.groups.storage import OffsetsLog
from kafkaproof.traces.processes.recorded.offset_records import GroupEntry, OffsetEntry, Tombstone

LOG = STORAGE.only("epoch", "leaders", "log", "committed").extended(
    ghosts=(GHOSTS.only("gone", "stale"), "history, for properties only")
)
"""What is seen of the offsets partition; nobody counts faults, and no retention period passes."""
AFTER = STATE.only("brokers").extended(storage=(LOG, "the offsets partition"))
"""What is seen of a state; clients are not recorded, and what they were answered is not in the network any more."""
BEFORE = AFTER.extended(network=(NETWORK.only("requests", "late"), "requests on their way"))
"""What is seen of the state before a step: also what was asked."""
SHOWN = [p for p in MODEL.properties if p.kind in SAFETY and reads_only(MODEL, p, BEFORE, AFTER)]
TRANSITIONS = {function.__name__: MODEL.transition(Transition(function).name) for function in STEPS}


class View:
    """What properties see of a group before a step and after it.

    `before` and `after` are the group's records; `requests` the network before the step; `appended` the place of what
    the step has appended, -1 for nothing.
    """

    def __init__(
        self, group: Group, log: OffsetsLog, changes: list[bool], before: Plain, requests: Plain, appended: int
    ):
        self._group, self._log = group, log
        end = log.length if appended < 0 else appended + 1
        places = {place for place in self._of_interest(before) if 0 <= place < end}
        self._places = sorted(place for place in places if group.records_at(place))
        slots = [self._record(place) for place in self._places]
        ours = [place != appended for place in self._places]
        leaders = [0 if leads else 1 for leads in changes] + [1]
        leads = log.rules() or appended >= 0
        self._storage = {
            "epoch": len(changes) + (not leads),
            "leaders": leaders,
            "committed": bisect_left(self._places, log.committed),
        }
        self.before = self._state(before, [slot for slot, old in zip(slots, ours) if old])
        self.before.network = SimpleNamespace(requests=requests.requests, late=requests.late)
        self.after = self._state(group.record, slots)

    def _of_interest(self, before: Plain) -> Iterator[int]:
        group = self._group
        for record in (before, group.record):
            yield record.group.offset
            yield from (append.position for append in record.appends.slots[: record.appends.length])
        for kind in (GroupEntry, OffsetEntry, Tombstone):
            found = group.last_entry(kind)
            yield found[0] if found else NOWHERE
        yield next(
            (
                place
                for place in reversed(group.entries)
                if place < self._log.length and self._log.id(place) in group.storage.answered
            ),
            NOWHERE,
        )

    def _record(self, place):
        members = self._group.record.group.members
        numbers = {name: n for n, name in self._group.names.items() if members[n].status == MEMBER}
        record = self._group.as_record(self._group.records_at(place), numbers)
        record.owner = self._group.owners.get(self._log.id(place), record.owner)
        record.ghosts.answered = int(self._log.id(place) in self._group.storage.answered)
        record.ghosts.deleted = int(self._log.id(place) in self._group.storage.deleted)
        return record

    def _state(self, record, slots):
        """A state of *group*; a log has one slot more than it can hold records."""
        seen = record.copy()
        seen.group.offset = self._place(record.group.offset)
        for append in seen.appends.slots[: seen.appends.length]:
            append.position = self._place(append.position)
        storage = SimpleNamespace(
            log=SimpleNamespace(slots=[*slots, new_state(RECORD, SCOPE)], length=len(slots)),
            ghosts=self._group.storage.ghosts,
            **self._storage,
        )
        return SimpleNamespace(brokers=[seen], storage=storage)

    def _place(self, place):
        return self._places.index(place) if place in self._places else NOWHERE

    def broken_by_step(self, transition: Transition, arguments: dict[str, int]) -> Iterator[Property]:
        """The properties of steps that the step breaks."""
        values = [{**arguments, "b": 0}[name] for name in transition.arguments]
        for prop in SHOWN:
            concerns = prop.kind == "step" and prop.concerns(transition)
            if concerns and not prop.predicate(self.before, self.after, *(values if prop.of else ())):
                yield prop

    def broken(self) -> Iterator[Property]:
        """The properties of states that do not hold after it."""
        return (prop for prop in SHOWN if prop.kind == "always" and not prop.predicate(self.after))
