"""The deletion of a topic in the composed cluster: StopReplica(delete) deletes logs, and states are deleted."""

from kafkaproof.spec.cluster.network import NETWORK
from kafkaproof.spec.cluster.state import DATA_PLANE, LEADER_EPOCHS
from kafkaproof.spec.cluster.zookeeper import note_deletion, note_written
from kafkaproof.spec.language.combine import then
from kafkaproof.spec.language.domains import Array, Record, renamed
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.partition.deletion import deletion, replica
from kafkaproof.spec.partition.deletion.state import BROKER, STOPS, ZOOKEEPER
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
    """Whether a StopReplica was accepted: neither refused, nor overtaken by LeaderAndIsr, and the directory works."""
    replica = broker.replicas[p]
    return broker.seen_epoch == epoch and replica.leader_epoch == NO_EPOCH and not replica.failed


def remove_log(s, b, epoch, p):
    """Unless the request is refused or too old, delete the log and what the replica has sent or waits for."""
    if is_removed(s.brokers[b], epoch, p):
        note_deletion(s.planes[p])
        end_log(s.planes[p].brokers[b])
        clear(s.planes[p].network, b)
        withdraw(s.planes[p].network, b)


def end_log(replica):
    """A log is deleted, and with it everything that its replica knew."""
    remove(replica.log)
    replica.hw = 0
    rest(replica, NO_EPOCH)


stop_replica = then(replica.stop_replica, remove_log)
delete_state = then(deletion.delete_state, note_written)
