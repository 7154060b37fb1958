"""One topic, whose partitions get their replicas from brokers with racks or without.

Brokers register with a rack, or with none. What assigns is `kafka.placement`, which the controller's creation and
expansion of topics and running brokers call, too. Who asks and who writes is in *partition*. Not modelled: brokers in
another order than that of their ids (as caches had them up to 2.0, which matters without racks alone), and operators
who choose the replicas or pass over racks (--disable-rack-aware).
"""

from kafkaproof.spec.kafka.placement import assign_among, place_by_id, place_of, size_of
from kafkaproof.spec.language.domains import Array, Bound, Budget, Flag, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.language.sets import contains, difference, everybody, with_member, without_member

Broker = Id("brokers")
Rack = Number(0, Bound("racks"))
Count = Number(1, Bound("partitions"))
Replicas = Number(1, Bound("replicas"))
NO_RACK = 0

STATE = Record(
    clients=(Array(Record(rack=(Rack, "its rack, 0 without one")), "brokers"), "what each broker has registered with"),
    live=(SetOf("brokers"), "the brokers that are registered"),
    assignments=(Array(Sequence(Broker, Bound("replicas")), "partitions"), "replicas of each partition of the topic"),
    changes=(Number(0, Budget("changes")), "brokers that were gone so far"),
    changed=(Flag(), "a broker came or went since the topic was created"),
)


def initial(s):
    """No broker is registered, and there is no topic."""


def partitions_of(s):
    """How many partitions the topic has."""
    count = 0
    for assignment in s.assignments:
        if assignment.length > 0:
            count += 1
    return count


def racks_are_known(s):
    """Whether all registered brokers have a rack, or none has."""
    some = False
    none = False
    for r in range(len(s.clients)):
        if contains(s.live, r):
            some = some or s.clients[r].rack != NO_RACK
            none = none or s.clients[r].rack == NO_RACK
    return not (some and none)


def place_among_racks(s, live, r):
    """The place of a registered broker in the order that counts, 0 for one that is not registered."""
    return place_of(s, live, r) if contains(live, r) else 0


def register(s, b: Broker, rack: Rack):
    """A broker registers.

    Guards:  it is not registered.
    Effects: it is, with a rack or without (broker.rack).
    Kafka:   KafkaHealthcheck.register, 0.10.0 to 1.0; KafkaServer.createBrokerInfo, 1.1 to 3.9 (KIP-36).
    """
    if contains(s.live, b):
        return False

    s.live = with_member(s.live, b)
    s.clients[b].rack = rack
    s.changed = partitions_of(s) > 0
    return True


def leave(s, b: Broker):
    """The registration of a broker ends.

    Guards:  it is registered, and the topic exists.
    Effects: it is not; when it comes back it may have another rack.
    """
    if not contains(s.live, b) or partitions_of(s) == 0:
        return False

    s.live = without_member(s.live, b)
    s.clients[b].rack = NO_RACK
    s.changed = 1
    s.changes += 1
    return True


def create_topic(s, count: Count, replicas: Replicas, start: Broker, shift: Broker):
    """The topic is created with `count` partitions.

    Guards:  there is none; as many brokers are registered as there are to be replicas, and all of them have a rack, or
             none has (otherwise Kafka throws AdminOperationException); `start` and `shift` are below their number.
    Effects: each partition has replicas.
    Kafka:   AdminUtils.assignReplicasToBrokers, 0.10.0 to 3.9 (`start` and `shift` are drawn at random).
    """
    size = size_of(s, s.live)
    if partitions_of(s) > 0 or replicas > size or not racks_are_known(s):
        return False
    if start >= size or shift >= size:
        return False

    assign_among(s, s, everybody(count), 0, replicas, start, shift, s.live)
    s.changed = 0
    return True


def add_partitions(s, count: Count):
    """The topic gets `count` more partitions.

    Guards:  it exists; there is room; as many brokers are registered as its first partition has replicas, and all of
             them have a rack, or none has.
    Effects: they have replicas. Start and shift are the place of the preferred replica of the first partition among the
             ids of brokers, with racks, too, where another order counts.
    Kafka:   AdminUtils.addPartitions, 0.10.0 to 1.0; AdminZkClient.addPartitions, 1.1 to 3.9.
    """
    there = partitions_of(s)
    replicas = s.assignments[0].length
    if there == 0 or there + count > len(s.assignments):
        return False
    if replicas > size_of(s, s.live) or not racks_are_known(s):
        return False

    start = place_by_id(s, s.live, s.assignments[0].slots[0])
    new = difference(everybody(there + count), everybody(there))
    assign_among(s, s, new, there, replicas, start, start, s.live)
    return True
