"""The reassignment of a partition in the composed cluster: states are written, and logs of removed replicas deleted."""

from kafkaproof.spec.cluster.deletion import end_log, is_removed
from kafkaproof.spec.cluster.network import NETWORK
from kafkaproof.spec.cluster.state import DATA_PLANE, LEADER_EPOCHS
from kafkaproof.spec.cluster.state import initial as begin
from kafkaproof.spec.cluster.zookeeper import note_deletion, note_written
from kafkaproof.spec.language.combine import then
from kafkaproof.spec.language.domains import Array, Record, renamed
from kafkaproof.spec.partition.context import Broker, Partition
from kafkaproof.spec.partition.deletion.replica import stop_replica as stop
from kafkaproof.spec.partition.reassignment import reassignment
from kafkaproof.spec.partition.reassignment.network import is_of_deletion
from kafkaproof.spec.partition.reassignment.state import (
    ALTERATIONS,
    BROKER,
    STOPS,
    ZOOKEEPER,
    keep_replicas,
    number_stops,
)
from kafkaproof.spec.partition.replica import Epoch
from kafkaproof.spec.replica.network import clear, withdraw

STATE = Record(
    zk=(ZOOKEEPER, "ZooKeeper"),
    brokers=(Array(BROKER, "brokers"), "what each broker knows"),
    network=(NETWORK.extended(**STOPS, **ALTERATIONS), "requests on their way"),
    planes=(Array(renamed(DATA_PLANE, LEADER_EPOCHS), "partitions"), "the data plane of each partition"),
)


def initial(s):
    """As without reassignments, but each partition has as many replicas as the scope says."""
    begin(s)
    keep_replicas(s)
    number_stops(s)


tell_replicas = then(reassignment.tell_replicas, note_written)


def stop_replica(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker receives StopReplica(delete): the replica and its log are deleted.

    Guards:  those of `replica.stop_replica` of a deletion.
    Effects: its effects; unless it is refused, or too old, the log is deleted, and so is what the replica has sent or
             waits for.
    Kafka:   ReplicaManager.stopReplicas, LogManager.asyncDelete, 2.6 to 3.9.
    """
    of_deletion = is_of_deletion(s.network, epoch, p, b)
    if not stop(s, b, epoch, p):
        return False

    if is_removed(s.brokers[b], epoch, p):
        if of_deletion:
            note_deletion(s.planes[p])
        end_log(s.planes[p].brokers[b])
        clear(s.planes[p].network, b)
        withdraw(s.planes[p].network, b)
    return True
