"""The deletion of a topic in the composed cluster: StopReplica(delete) deletes a log, and states go."""

from kafkaproof.spec.cluster.cluster import DATA_PLANE, LEADER_EPOCHS
from kafkaproof.spec.cluster.network import NETWORK
from kafkaproof.spec.cluster.zookeeper import note_deletion, note_state
from kafkaproof.spec.kafka.zookeeper import Fate
from kafkaproof.spec.language.domains import Array, Record, renamed
from kafkaproof.spec.partition.context import NO_EPOCH, Broker, Partition
from kafkaproof.spec.partition.deletion.deletion import delete_state as delete_znode
from kafkaproof.spec.partition.deletion.replica import stop_replica as stop
from kafkaproof.spec.partition.deletion.state import BROKER, STOPS, ZOOKEEPER
from kafkaproof.spec.partition.replica import Epoch
from kafkaproof.spec.replica.broker import rest
from kafkaproof.spec.replica.network import clear, withdraw
from kafkaproof.spec.replica.storage import remove

STATE = Record(
    zk=(ZOOKEEPER, "ZooKeeper"),
    brokers=(Array(BROKER, "brokers"), "what each broker knows"),
    network=(NETWORK.extended(**STOPS), "requests on their way"),
    planes=(Array(renamed(DATA_PLANE, LEADER_EPOCHS), "partitions"), "the data plane of each partition"),
)


def is_removed(broker, epoch, p):
    """Whether a StopReplica was obeyed: neither refused, nor overtaken by LeaderAndIsr, and the directory works."""
    replica = broker.replicas[p]
    return broker.seen_epoch == epoch and replica.leader_epoch == NO_EPOCH and not replica.failed


def stop_replica(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker receives StopReplica(delete): the replica and its log are deleted.

    Guards:  those of `replica.stop_replica` of a deletion.
    Effects: its effects; unless it is refused, the log is deleted, and so is what the replica has sent or waits for.
    Kafka:   ReplicaManager.stopReplicas, LogManager.asyncDelete, 0.8 to 3.9.
    """
    if not stop(s, b, epoch, p):
        return False

    if is_removed(s.brokers[b], epoch, p):
        note_deletion(s.planes[p])
        end_log(s.planes[p].brokers[b])
        clear(s.planes[p].network, b)
        withdraw(s.planes[p].network, b)
    return True


def end_log(replica):
    """A log is deleted, and with it all that its replica knew."""
    remove(replica.log)
    replica.hw = 0
    rest(replica, NO_EPOCH)


def delete_state(s, b: Broker, p: Partition, fate: Fate):
    """A controller deletes the state of a partition.

    Guards:  those of `deletion.delete_state`.
    Request: its answers.
    Effects: its effects.
    Kafka:   see there.
    """
    if not delete_znode(s, b, p, fate):
        return False

    note_state(s.planes[p], s.zk.partitions[p])
    return True
