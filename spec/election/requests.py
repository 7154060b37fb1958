"""A broker's side of control requests: a request with a lower controller epoch is refused.

The highest epoch seen is in memory only: a restarted process accepts any request (until KIP-380, 2.2).
"""

from kafkaproof.spec.election.broker_state import DOWN
from kafkaproof.spec.election.network import Epoch, Receiver, arriving, take_request


def is_stale(broker, epoch):
    """Whether the broker has accepted a request with a higher controller epoch."""
    return epoch < broker.seen_epoch


def obey(broker, epoch):
    """Accept the request, and remember its epoch."""
    broker.seen_epoch = epoch
    broker.ghosts.applied = epoch


def may_receive(s, b, epoch):
    """Whether a request of a controller epoch arrives at a process that lives."""
    return s.brokers[b].session != DOWN and arriving(s.network, b, epoch)


def receive(s, b, epoch):
    """A broker takes a request, and obeys it unless it has seen a higher controller epoch."""
    take_request(s.network, b, epoch)
    if not is_stale(s.brokers[b], epoch):
        obey(s.brokers[b], epoch)


def leader_and_isr(s, b: Receiver, epoch: Epoch):
    """A broker receives LeaderAndIsr, and accepts it unless it has seen a higher controller epoch.

    Guards:  a request of `epoch` arrives; the process lives.
    Request: taken from the network.
    Effects: accepted, or refused with STALE_CONTROLLER_EPOCH.
    Kafka:   ReplicaManager.becomeLeaderOrFollower, 0.8 to 3.9.
    """
    if not may_receive(s, b, epoch):
        return False

    receive(s, b, epoch)
    return True


def update_metadata(s, b: Receiver, epoch: Epoch):
    """A broker receives UpdateMetadata, and accepts it unless it has seen a higher controller epoch.

    Guards:  a request of `epoch` arrives; the process lives.
    Request: taken from the network.
    Effects: accepted, or refused with STALE_CONTROLLER_EPOCH.
    Kafka:   ReplicaManager.becomeLeaderOrFollower, 0.8 to 3.9; maybeUpdateMetadataCache, 0.8.2 to 3.9.
    """
    if not may_receive(s, b, epoch):
        return False

    receive(s, b, epoch)
    return True


def stop_replica(s, b: Receiver, epoch: Epoch):
    """A broker receives StopReplica, and accepts it unless it has seen a higher controller epoch.

    Guards:  a request of `epoch` arrives; the process lives.
    Request: taken from the network.
    Effects: accepted, or refused with STALE_CONTROLLER_EPOCH.
    Kafka:   ReplicaManager.stopReplicas, 0.8 to 3.9.
    """
    if not may_receive(s, b, epoch):
        return False

    receive(s, b, epoch)
    return True
