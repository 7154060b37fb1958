"""Kinds of tampering with a migration: of ZooKeeper's log, or of the quorum's; each with the record that shows it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from kafkaproof.traces.migration.metadata_log import MetadataLog
from kafkaproof.traces.zookeeper.transactions import Check, Create, Delete, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.quorum import CONTROLLER, EPOCH, MIGRATION, claim_in, progress_in
from tests.traces.tampering import Log, dropped

THIRD = 2
"""A driver writes /migration when it has claimed the rule, perhaps when it has copied, and then with each record."""


class Tampered(NamedTuple):
    """A log and the quorum's, altered, and the record of the original by which that must be found."""

    log: Log
    metadata: MetadataLog
    at: int


@dataclass
class Scene:
    """A recording of a migration: its records, and the log of its quorum."""

    log: Log
    metadata: MetadataLog

    @property
    def claims(self) -> list[Transaction]:
        """The records in which controllers of the quorum claim the rule."""
        return [each for each in self.log if claim_in(each, "")]

    @property
    def alone(self) -> list[Transaction]:
        """Writes of /migration that stand alone."""
        return [each for each in self.log if not each.multi and is_progress(each.first)]

    def guarded(self, type_: type, path: str) -> Iterator[Transaction]:
        """Changes of metadata by the quorum of znodes whose path ends so."""
        for each in self.log:
            if guards(each) == [EPOCH, MIGRATION] and not each.failed:
                change = each.operations[2]
                if isinstance(change, type_) and path in change.path:
                    yield each

    def next_alone(self, record: Transaction) -> Transaction:
        """The first write of /migration that stands alone behind a record of its session."""
        return next(each for each in self.alone if each.zxid > record.zxid and each.session == record.session)

    def written(self, record: Transaction, *operations, **header) -> Log:
        """The log with a record that is written otherwise."""
        changed = replace(record, **header, **({"operations": operations} if operations else {}))
        return [changed if each.zxid == record.zxid else each for each in self.log]

    def with_json(self, record: Transaction, place: int, **values) -> Log:
        """The log with values changed in the JSON that an operation of a record writes."""
        operations = list(record.operations)
        content = json.loads(operations[place].data) | values
        operations[place] = replace(operations[place], data=json.dumps(content).encode())
        return self.written(record, *operations)


def is_progress(operation) -> bool:
    return isinstance(operation, SetData) and operation.path == MIGRATION


def guards(record: Transaction) -> list[str]:
    first = record.operations[:2]
    return [each.path for each in first] if all(isinstance(each, Check | SetData) for each in first) else []


Kind = Callable[[Scene], Tampered]
KINDS: dict[str, Kind] = {}


def kind(function: Kind) -> Kind:
    """Register a kind of tampering."""
    KINDS[function.__name__] = function
    return function


def last(scene: Scene, log: Log, record: Transaction) -> Tampered:
    return Tampered(log, scene.metadata, record.zxid)


# The claim


@kind
def claim_that_does_not_raise_the_epoch(scene):
    claim = scene.claims[1]
    raised, *others = claim.operations
    same = str(int(raised.data) - 1).encode()
    return last(scene, scene.written(claim, replace(raised, data=same), *others), claim)


@kind
def claim_that_raises_the_epoch_twice(scene):
    claim = scene.claims[0]
    raised, *others = claim.operations
    return last(scene, scene.written(claim, replace(raised, data=str(int(raised.data) + 1).encode()), *others), claim)


@kind
def claim_in_an_epoch_that_is_over(scene):
    first, second = scene.claims[:2]
    epoch = claim_in(first, "").epoch
    return last(scene, scene.with_json(second, 2, kraftControllerEpoch=epoch), second)


@kind
def claim_of_one_who_does_not_lead(scene):
    claim = scene.claims[0]
    return last(scene, scene.with_json(claim, 2, brokerid=claim_in(claim, "").id + 7), claim)


@kind
def claim_that_goes_with_its_session(scene):
    claim = scene.claims[0]
    *others, made = claim.operations
    return last(scene, scene.written(claim, *others, replace(made, ephemeral=True)), claim)


@kind
def claim_that_leaves_the_former_controller(scene):
    claim = scene.claims[0]
    raised, _, made = claim.operations
    return last(scene, scene.written(claim, raised, made), claim)


@kind
def claim_before_a_broker_is_registered(scene):
    claim = scene.claims[0]
    entries = [each for each in scene.metadata.entries if each.record.name != "RegisterBroker"]
    return Tampered(scene.log, replace(scene.metadata, entries=entries), claim.zxid)


# /migration


@kind
def first_write_of_a_claim_lost(scene):
    after = scene.next_alone(scene.claims[1])
    return last(scene, dropped(scene.log, after.zxid), scene.next_alone(after))


@kind
def first_write_of_a_claim_with_another_offset(scene):
    after = scene.next_alone(scene.claims[1])
    offset = progress_in(after.first.data).offset
    return last(scene, scene.with_json(after, 0, kraft_metadata_offset=offset + 1), after)


@kind
def end_of_the_copy_elsewhere(scene):
    after = copy_of(scene)
    offset = progress_in(after.first.data).offset
    return last(scene, scene.with_json(after, 0, kraft_metadata_offset=offset - 1), after)


@kind
def end_of_the_copy_lost(scene):
    after = copy_of(scene)
    following = next(each for each in scene.log if each.zxid > after.zxid and each.session == after.session)
    return last(scene, dropped(scene.log, after.zxid), following)


@kind
def offset_that_falls(scene):
    after = scene.alone[-1]
    offset = progress_in(after.first.data).offset
    return last(scene, scene.with_json(after, 0, kraft_metadata_offset=offset - 5), after)


@kind
def offset_of_another_epoch(scene):
    after = scene.alone[-1]
    epoch = progress_in(after.first.data).epoch
    return last(scene, scene.with_json(after, 0, kraft_metadata_epoch=epoch - 1), after)


@kind
def offset_written_for_another_controller(scene):
    after = scene.alone[-2]
    return last(scene, scene.with_json(after, 0, kraft_controller_id=7), after)


@kind
def offset_before_the_change_is_written(scene):
    change = next(each for each in scene.guarded(SetData, "/state") if is_progress(each.operations[1]))
    before = max((each for each in scene.alone if each.zxid < change.zxid), key=lambda each: each.zxid)
    offset = progress_in(scene.next_alone(change).first.data).offset
    epoch = progress_in(scene.next_alone(change).first.data).epoch
    changed = scene.with_json(before, 0, kraft_metadata_offset=offset, kraft_metadata_epoch=epoch)
    return last(scene, changed, before)


@kind
def offset_raised_with_a_change(scene):
    change = next(each for each in scene.guarded(SetData, "/state") if is_progress(each.operations[1]))
    offset = progress_in(change.operations[1].data).offset
    return last(scene, scene.with_json(change, 1, kraft_metadata_offset=offset + 1), change)


def copy_of(scene: Scene) -> Transaction:
    """The record that says that the copy is complete."""
    found = [(progress_in(each.first.data), each) for each in scene.alone]
    return next(each for progress, each in found if progress.offset >= 0)


# Changes of metadata


def dual(scene: Scene, type_: type, path: str, ends: bool) -> Transaction:
    """A change by who writes to both stores already; `ends`: it ends its batch."""
    begun = dict[int, int]()
    for claim in scene.claims:
        after = [each for each in scene.alone if each.zxid > claim.zxid and each.session == claim.session]
        if len(after) > THIRD:
            begun[claim.session] = after[THIRD].zxid
    return next(
        each
        for each in scene.guarded(type_, path)
        if each.zxid > begun.get(each.session, each.zxid) and is_progress(each.operations[1]) == ends
    )


@kind
def change_lost(scene):
    change = dual(scene, SetData, "/state", True)
    return last(scene, dropped(scene.log, change.zxid), scene.next_alone(change))


@kind
def creation_of_a_state_lost(scene):
    change = dual(scene, Create, "/state", True)
    return last(scene, dropped(scene.log, change.zxid), scene.next_alone(change))


@kind
def deletion_of_a_topic_left_undone(scene):
    change = dual(scene, Delete, "/brokers/topics", True)
    return last(scene, dropped(scene.log, change.zxid), scene.next_alone(change))


@kind
def state_with_another_leader(scene):
    change = dual(scene, SetData, "/state", True)
    leader = json.loads(change.operations[2].data)["leader"]
    return last(scene, scene.with_json(change, 2, leader=1 - max(leader, 0)), change)


@kind
def state_with_another_isr(scene):
    change = dual(scene, SetData, "/state", True)
    isr = json.loads(change.operations[2].data)["isr"]
    return last(scene, scene.with_json(change, 2, isr=[5, *isr]), change)


@kind
def state_with_the_epoch_of_zookeeper(scene):
    change = dual(scene, SetData, "/state", True)
    return last(scene, scene.with_json(change, 2, controller_epoch=99), change)


@kind
def state_whose_leader_epoch_falls(scene):
    change = dual(scene, SetData, "/state", True)
    epoch = json.loads(change.operations[2].data)["leader_epoch"]
    return last(scene, scene.with_json(change, 2, leader_epoch=epoch - 1), change)


@kind
def topic_with_another_id(scene):
    change = dual(scene, Create, "/brokers/topics/", False)
    return last(scene, scene.with_json(change, 2, topic_id="AAAAAAAAAAAAAAAAAAAAAA"), change)


@kind
def topic_with_other_replicas(scene):
    change = dual(scene, Create, "/brokers/topics/", False)
    return last(scene, scene.with_json(change, 2, partitions={"0": [1]}), change)


@kind
def configuration_with_another_value(scene):
    change = next(each for each in scene.guarded(SetData, "/config/topics/"))
    return last(scene, scene.with_json(change, 2, config={"retention.ms": "1"}), change)


@kind
def change_without_a_check_of_migration(scene):
    change = dual(scene, SetData, "/state", False)
    return last(scene, scene.written(change, change.operations[0], change.operations[2]), change)


@kind
def change_without_any_check(scene):
    change = dual(scene, SetData, "/state", False)
    return last(scene, scene.written(change, change.operations[2], multi=False), change)


@kind
def change_of_what_no_quorum_writes(scene):
    change = dual(scene, SetData, "/state", True)
    foreign = replace(change.operations[2], path="/cluster/id")
    return last(scene, scene.written(change, *change.operations[:2], foreign), change)


@kind
def deletion_that_nobody_asked_for(scene):
    change = dual(scene, SetData, "/state", True)
    gone = Delete("/config/topics/kept")
    made = replace(change, operations=(*change.operations[:2], gone))
    place = scene.log.index(change)
    log = [*scene.log[: place + 1], made, *scene.log[place + 1 :]]
    return last(scene, log, change)


# Who writes


@kind
def change_by_a_leader_who_is_deposed(scene):
    change = dual(scene, SetData, "/state", True)
    return last(scene, scene.written(change, session=scene.claims[0].session), change)


@kind
def change_by_a_broker(scene):
    change = dual(scene, SetData, "/state", True)
    checked, _, written = change.operations
    return last(scene, scene.written(change, checked, written, session=broker_of(scene)), change)


@kind
def offset_written_by_a_broker(scene):
    after = scene.alone[-2]
    return last(scene, scene.written(after, session=broker_of(scene)), after)


def broker_of(scene: Scene) -> int:
    """The session of a broker that owned /controller."""
    made = [(each, each.operations[0]) for each in scene.log if each.multi and each.operations]
    return next(each.session for each, first in made if isinstance(first, Create) and first.path == CONTROLLER)


# The quorum's log


def without(scene: Scene, name: str, at: Callable[[int], bool] = lambda offset: True, place: int = -1) -> MetadataLog:
    """The quorum's log without one record of a kind."""
    found = [each for each in scene.metadata.entries if each.record.name == name and at(each.offset)]
    return replace(scene.metadata, entries=[each for each in scene.metadata.entries if each != found[place]])


def in_copy(scene: Scene) -> Callable[[int], bool]:
    end = progress_in(copy_of(scene).first.data).offset
    begin = max(
        each.offset for each in scene.metadata.entries if each.record.name == "BeginTransaction" and each.offset < end
    )
    return lambda offset: begin < offset < end


@kind
def partition_missing_in_the_copy(scene):
    return Tampered(scene.log, without(scene, "Partition", in_copy(scene)), copy_of(scene).zxid)


@kind
def configuration_missing_in_the_copy(scene):
    return Tampered(scene.log, without(scene, "Config", in_copy(scene)), copy_of(scene).zxid)


@kind
def change_missing_in_the_log(scene):
    change = dual(scene, SetData, "/state", True)
    offset = progress_in(scene.next_alone(change).first.data).offset
    found = [
        each for each in scene.metadata.entries if each.record.name == "PartitionChange" and each.offset <= offset
    ][-1]
    fields = found.record.fields
    names = {
        each.record.fields["topic_id"]: each.record.fields["name"]
        for each in scene.metadata.entries
        if each.record.name == "Topic"
    }
    path = f"/{names[fields['topic_id']]}/partitions/{fields['partition_id']}/state"
    shown = max(
        (each for each in scene.guarded(SetData, path) if each.zxid < scene.next_alone(change).zxid),
        key=lambda each: each.zxid,
    )
    entries = [each for each in scene.metadata.entries if each != found]
    return Tampered(scene.log, replace(scene.metadata, entries=entries), shown.zxid)


@kind
def deletion_missing_in_the_log(scene):
    change = dual(scene, Delete, "/state", False)
    return Tampered(scene.log, without(scene, "RemoveTopic"), change.zxid)


@kind
def leader_of_another_epoch_in_the_log(scene):
    claim = scene.claims[-1]
    epoch = claim_in(claim, "").epoch
    leaders = {each: leader for each, leader in scene.metadata.leaders.items() if each != epoch}
    return Tampered(scene.log, replace(scene.metadata, leaders=leaders), claim.zxid)


@kind
def snapshot_without_a_topic(scene):
    image = scene.metadata.images[0]
    records = tuple(each for each in image.records if each.name != "Config")
    shown = next(each for each in scene.alone if progress_in(each.first.data).offset >= image.end - 1)
    return Tampered(scene.log, replace(scene.metadata, images=[image._replace(records=records)]), shown.zxid)
