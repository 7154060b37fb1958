"""A broker's side: LeaderAndIsr makes a log, StopReplica(delete) deletes it."""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.partition.context import NO_EPOCH, Broker, Partition, lose_replica
from kafkaproof.spec.partition.deletion.network import is_overtaken, put_stopped, stop_arrives, take_stop
from kafkaproof.spec.partition.network import put_proposals
from kafkaproof.spec.partition.replica import Epoch, is_lost


def make_log(replica):
    """A log is made, whether its broker then leads or follows or not (KAFKA-1647)."""
    replica.ghosts.log = 1


def delete_replica(s, b, p):
    """A broker hosts a replica no more, and deletes its log."""
    lose_replica(s.brokers[b].replicas[p])
    s.brokers[b].replicas[p].ghosts.log = 0
    put_proposals(s.network, p, b, NO_EPOCH)


def stop_replica(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker receives StopReplica(delete): the replica and its log are deleted.

    Guards:  a request of `epoch` arrives; the process lives.
    Effects: with a lower controller epoch than before it is refused, and no answer is awaited; where the log directory
             has failed the answer is KAFKA_STORAGE_ERROR, and where its leader epoch is too old FENCED_LEADER_EPOCH.
    Kafka:   ReplicaManager.stopReplicas, 0.8 to 3.9 (from 2.6 on with a leader epoch, which never is too old in a
             deletion).
    """
    broker = s.brokers[b]
    if not broker.up or not stop_arrives(s.network, epoch, p, b):
        return False

    overtaken = is_overtaken(s.network, epoch, p, b, broker.replicas[p].leader_epoch)
    take_stop(s.network, epoch, p, b)
    if not is_stale(broker, epoch):
        broker.seen_epoch = epoch
        if not overtaken and not is_lost(broker.replicas[p]):
            delete_replica(s, b, p)
        put_stopped(s.network, epoch, p, b, 1 if overtaken else broker.replicas[p].failed)
    return True
