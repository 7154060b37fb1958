"""What the creation of a topic under the name of a deleted one adds to the state: the id of each topic (KIP-516).

An id is the number of the creation: a topic that is created again has the next one. The topic znode has it, the
context of a controller that has read it, LeaderAndIsr from 2.8 on, and the directory of a log (partition.metadata). A
StopReplica has none.
"""

from kafkaproof.spec.language.domains import Array, Bound, Number, Record, SetOf
from kafkaproof.spec.partition.deletion import state as deletion
from kafkaproof.spec.partition.deletion.state import initial as begin
from kafkaproof.spec.partition.zookeeper import partitions_of_topics

Incarnation = Number(0, Bound("topics"))


def with_ids(state: Record) -> Record:
    """A state in which topics have ids, and a StopReplica may arrive twice."""
    state = state.extended_at(
        "zk",
        ids=(Array(Incarnation, "partitions"), "id of the topic that a partition belongs to, or did last; 0 for none"),
        configured=(SetOf("partitions"), "partitions whose topic has a configuration in /config/topics"),
        created=(Incarnation, "how many topics were created, those of the beginning counted as one"),
    )
    state = state.extended_at("brokers.replicas", topic=(Incarnation, "id of the topic of its log, 0 without a log"))
    state = state.extended_at(
        "brokers.controller.partitions", topic=(Incarnation, "id of its topic, 0 while it is not known")
    )
    state = state.extended_at("network.requests", topic=(Incarnation, "id of the topic in it"))
    return state.extended_at(
        "network.stops", late=(SetOf("brokers"), "brokers to which it is on its way once more, after its answer")
    )


STATE = with_ids(deletion.STATE)


def initial(s):
    """As without, and each partition belongs to a topic with the first id."""
    begin(s)
    number_topics(s.zk)


def number_topics(zk):
    """The topics that there are have the first id, and configurations."""
    zk.created = 1
    zk.configured = partitions_of_topics(zk)
    for p in range(len(zk.ids)):
        zk.ids[p] = 1 if zk.assignments[p].length > 0 else 0
