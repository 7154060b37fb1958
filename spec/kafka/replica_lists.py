"""Which brokers get the replicas of a topic's partitions, as lists: `placement` for who has no state of a model.

Brokers are given in Kafka's order: by id; up to 2.0 as the cache of the broker had them. With racks it does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from kafkaproof.spec.kafka.placement import assign_among, broker_at, place_by_id, rack_of, racks_of, registered_rack
from kafkaproof.spec.language.domains import Array, Bound, Id, Number, Record
from kafkaproof.spec.language.domains import Sequence as SequenceOf
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.sets import everybody, with_member

STATE = Record(
    clients=(Array(Record(rack=(Number(0, Bound("racks")), "its rack")), "brokers"), "the brokers to choose from"),
    assignments=(Array(SequenceOf(Id("brokers"), Bound("replicas")), "partitions"), "the replicas of each partition"),
)
TO_RACKS = rebind(assign_among, {rack_of: registered_rack})


def broker_in_order(zk, live, place):
    """The broker at a place, where all are there and none has a rack: what `broker_at` counts."""
    return place


def one_rack(zk, live):
    """How many racks there are, where none has one: what `racks_of` counts."""
    return 1


WITHOUT_RACKS = rebind(assign_among, {broker_at: broker_in_order, racks_of: one_rack})
"""The same as `assign_among`, without the count: logs of large clusters ask for it many times."""


class SomeWithoutRack(ValueError):
    """Some brokers have a rack and others have none (Kafka's AdminOperationException)."""


def is_numbered(partitions: Sequence[int]) -> bool:
    """Whether the partitions of a new topic are numbered from 0 on, without a gap: otherwise it is refused.

    Kafka: AdminZkClient.validateTopicCreate, 2.3 to 3.9.
    """
    return sorted(partitions) == list(range(len(partitions)))


def assign_replicas(
    brokers: Sequence[int],
    partitions: int,
    replicas: int,
    start: int,
    shift: int,
    first: int = 0,
    racks: Mapping[int, str] | None = None,
) -> list[list[int]]:
    """The replicas of each partition, the preferred one first, of a topic that has `first` partitions already.

    `racks` has the names of brokers' racks. Raises ValueError for impossible sizes, SomeWithoutRack.

    Source: AdminUtils.assignReplicasToBrokers, 0.8 to 3.9.
    """
    size = len(brokers)
    if partitions <= 0 or not 0 < replicas <= size:
        raise ValueError(f"no {partitions} partitions with {replicas} replicas on {size} brokers")
    if racks and not racks.keys() >= set(brokers):
        raise SomeWithoutRack(f"no rack of broker {min(set(brokers) - racks.keys())}, but of others")
    order = sorted(brokers) if racks else list(brokers)
    names = sorted({racks[b] for b in order}) if racks else []
    state = new_state(STATE, {"brokers": size, "racks": len(names), "partitions": partitions, "replicas": replicas})
    for client, b in zip(state.clients, order):
        client.rack = names.index(racks[b]) if racks else 0
    count = first if first < size else size + first % size
    assign = TO_RACKS if racks else WITHOUT_RACKS
    assign(
        state, state, everybody(partitions), count, replicas, start % size, shift % max(size - 1, 1), everybody(size)
    )
    return [[order[r] for r in assignment.slots[:replicas]] for assignment in state.assignments]


def place_of_added(brokers: Sequence[int], preferred: int) -> int:
    """Where partitions that are added begin: their start and shift; `preferred` is the first broker of partition 0."""
    size = max((*brokers, preferred)) + 1
    state = new_state(STATE, {"brokers": size, "racks": 0, "partitions": 0, "replicas": 0})
    return place_by_id(state, reduce(with_member, brokers, 0), preferred)
