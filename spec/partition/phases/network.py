"""Which replicas LeaderAndIsr names, and StopReplica(delete) without a leader epoch (up to 2.5).

A leader adds to the ISR the replicas that were named to it. A request of the leader epoch that it has already is
ignored, so the first one with the newest leader epoch counts.
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import SetOf
from kafkaproof.spec.language.sets import difference, is_empty
from kafkaproof.spec.partition.context import Broker, Partition
from kafkaproof.spec.partition.deletion.network import put_stop
from kafkaproof.spec.partition.history.leader_zk import change_isr as change_any
from kafkaproof.spec.partition.telling import tell_leadership as tell_else

Isr = SetOf("brokers")


def name_replicas(network, p, partition):
    """LeaderAndIsr is sent, with the assignment as the controller knows it."""
    named = network.named[p]
    if partition.leader_epoch > named.leader_epoch:
        named.leader_epoch = partition.leader_epoch
        named.replicas = replicas_of(partition.assignment)


def named(network, p):
    """The replicas that were named to the leader of the newest leader epoch."""
    return network.named[p].replicas


def proposable(network, p, partition):
    """The replicas of which a leader may propose an ISR: those that were named to it, assigned or not."""
    return named(network, p)


def tell_leadership(s, b, p, to):
    """LeaderAndIsr of a partition to some brokers, with its replicas, and UpdateMetadata to all that are live."""
    name_replicas(s.network, p, s.brokers[b].controller.partitions[p])
    tell_else(s, b, p, to)


def put_removal(network, epoch, p, leader_epoch, to):
    """Send StopReplica(delete) to a set of brokers: no leader epoch goes with it."""
    put_stop(network, epoch, p, to)


def change_isr(s, b: Broker, p: Partition, isr: Isr):
    """A leader writes the ISR that it proposes, of replicas that were named to it.

    Guards:  those of `leader_zk.change_isr`; the ISR consists of replicas that LeaderAndIsr has named.
    Request: OK; BADVERSION; EXPIRED.
    Effects: none at the broker in the model; on OK there is a notification.
    Kafka:   Partition.updateIsr, 0.8 to 2.3.
    """
    if not is_empty(difference(isr, named(s.network, p))):
        return False
    if not change_any(s, b, p, isr):
        return False

    return True
