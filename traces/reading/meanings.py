"""What Kafka means by znodes: to whom they belong by their paths, and what brokers, controllers and states say."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkaproof.traces.reading.schema import column_of
from kafkaproof.traces.zookeeper.znodes.consumers import MemberPlace, PartitionPlace, place_in_group
from kafkaproof.traces.zookeeper.znodes.contents import USUAL, broker_in, listed_ids, number_in, state_in
from kafkaproof.traces.zookeeper.znodes.json_parts import is_number
from kafkaproof.traces.zookeeper.znodes.topics import NO_NUMBER, place_of

_LIMIT = 1 << 31
_SAYING = "state", "controller", "epoch"
_SAID = "broker", "leader", "leader_epoch", "controller_epoch", "isr"
_IDS = "/brokers/ids/"


class _Known(NamedTuple):
    """Where a znode belongs: the chroot of its cluster, its kind, and what its path says."""

    chroot: str | None = None
    kind: str | None = None
    group: str | None = None
    topic: str | None = None
    partition: int | None = None
    broker: int | None = None


def as_kafka(paths: pa.DictionaryArray, contents: pa.Array) -> dict[str, pa.Array]:
    """What Kafka means by znodes: chroot, kind, group, topic, partition, broker, and the numbers of a state."""
    known = [_known(path) for path in paths.dictionary.to_pylist()] + [_Known()]
    codes = paths.indices.fill_null(len(known) - 1).to_numpy()
    found = {
        name: column_of(name, list(column)).take(pa.array(codes)) for name, column in zip(_Known._fields, zip(*known))
    }
    kinds = np.array([_SAYING.index(each.kind) if each.kind in _SAYING else -1 for each in known])[codes]
    different = contents.dictionary_encode()
    pairs = different.indices.fill_null(-1).to_numpy() * len(_SAYING) + kinds
    pairs = pa.array(pairs, mask=(kinds < 0) | (pairs < 0)).dictionary_encode()
    places, kinds = np.divmod(pairs.dictionary.to_numpy(), len(_SAYING))
    for name, told in _said(kinds, different.dictionary.take(pa.array(places))).items():
        told = told.take(pairs.indices)
        found[name] = pc.coalesce(found[name], told) if name in found else told
    return found


@lru_cache(maxsize=100_000)
def _known(path: str) -> _Known:
    """Where a znode belongs; the shortest chroot counts."""
    below, chroot = path, ""
    while below:
        if below in ("/controller", "/controller_epoch"):
            return _Known(chroot, "controller" if below == "/controller" else "epoch")
        if below.startswith(_IDS) and is_number(below[len(_IDS) :]):
            return _Known(chroot, "broker", broker=_fitting(int(below[len(_IDS) :])))
        if place := place_of(below):
            number = None if place.number == NO_NUMBER else _fitting(place.number)
            return _Known(chroot, place.kind, topic=place.topic or None, partition=number)
        if of_group := place_in_group(below):
            return _in_group(chroot, of_group)
        cut = below.find("/", 1)
        chroot, below = chroot + below[:cut], below[cut:] if cut > 0 else ""
    return _Known()


def _in_group(chroot: str, place: MemberPlace | PartitionPlace) -> _Known:
    """Where a znode of a group of old consumers belongs."""
    if isinstance(place, MemberPlace):
        return _Known(chroot, "member", place.group)
    kind = "offset" if place.of_offset else "owner"
    return _Known(chroot, kind, place.group, place.topic, _fitting(place.partition))


def _said(kinds: np.ndarray, contents: pa.Array) -> dict[str, pa.Array]:
    """What contents say, each of a znode of a kind (its place in _SAYING): the columns _SAID."""
    states = taken_apart(contents)
    is_usual = states.is_valid().to_numpy(zero_copy_only=False) & (kinds == _SAYING.index("state"))
    usual = _usual(states.filter(pa.array(is_usual)))
    others = np.flatnonzero(~is_usual)
    told = [_told(_SAYING[kinds[place]], contents[place].as_py()) for place in others.tolist()]
    order = np.empty(len(kinds), np.int64)
    order[np.concatenate([np.flatnonzero(is_usual), others])] = np.arange(len(kinds))
    rest = {name: column_of(name, [each[number] for each in told]) for number, name in enumerate(_SAID)}
    return {name: pa.concat_arrays([usual[name], rest[name]]).take(pa.array(order)) for name in _SAID}


def _usual(states: pa.StructArray) -> dict[str, pa.Array]:
    """The columns of states as USUAL takes them apart."""
    isrs = states.field("isr").dictionary_encode()
    listed = column_of("isr", [list(listed_ids(each)) for each in isrs.dictionary.to_pylist()]).take(isrs.indices)
    numbers = {name: number_in_states(states, name) for name in _SAID[1:-1]}
    return {"broker": pa.nulls(len(states), pa.int32()), **numbers, "isr": listed}


def taken_apart(contents: pa.Array) -> pa.StructArray:
    """The parts of states as USUAL takes them out of contents, null where something else is written."""
    return pc.extract_regex(contents, USUAL)


def number_in_states(states: pa.StructArray, name: str) -> pa.Array:
    """A number that is in each of some states which have been taken apart."""
    return states.field(name).cast(pa.string()).cast(pa.int32())


def _told(kind: str, content: bytes) -> tuple:
    """What a content says: the values of _SAID."""
    if kind == "state" and (state := state_in(content)):
        leader, leader_epoch, controller_epoch, isr = state
        return None, leader, leader_epoch, controller_epoch, list(isr)
    if kind == "controller":
        return broker_in(content), *(None,) * 4
    return None, None, None, number_in(content) if kind == "epoch" else None, None


def _fitting(number: int) -> int | None:
    """A number that fits its column; None for one that no cluster has."""
    return int(number) if -_LIMIT <= number < _LIMIT else None
