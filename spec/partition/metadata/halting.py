"""A broker's side of StopReplica without delete. There are no fetches here; what they do is in `cluster`."""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.partition.context import Broker, Partition
from kafkaproof.spec.partition.metadata.network import halt_arrives, take_halt
from kafkaproof.spec.partition.replica import Epoch


def halt_replica(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker receives StopReplica without delete: it fetches no more.

    Guards:  a request of `epoch` arrives; the process lives.
    Effects: with a lower controller epoch than before it is refused (STALE_CONTROLLER_EPOCH), else that is remembered.
    Kafka:   ReplicaManager.stopReplicas, 0.8 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.up or not halt_arrives(s.network, epoch, p, b):
        return False

    take_halt(s.network, epoch, p, b)
    if not is_stale(broker, epoch):
        broker.seen_epoch = epoch
    return True
