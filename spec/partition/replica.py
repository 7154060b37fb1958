"""A broker's side of LeaderAndIsr: fenced by the controller epoch, then by the leader epoch.

Both are kept in memory: a restarted process accepts any epoch once. A broker becomes a follower of any leader; that it
must know the leader as alive is not modelled. A replica whose log directory has failed is lost until the process
restarts, and has forgotten its leader.
"""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.language.domains import Bound, Number
from kafkaproof.spec.partition.context import NO_EPOCH, Broker, Partition
from kafkaproof.spec.partition.network import (
    arriving,
    leader_epoch_in,
    leader_in,
    put_error,
    put_proposals,
    take_request,
)

Epoch = Number(0, Bound("epochs"))


def is_lost(replica):
    """Whether the log directory of a replica has failed."""
    return replica.failed == 1


def is_news(replica, leader_epoch):
    """Whether a leader epoch is above the one that the replica has."""
    return leader_epoch > replica.leader_epoch


def leader_and_isr(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker receives LeaderAndIsr: it leads or follows, unless it has seen higher epochs.

    Guards:  a request of `epoch` arrives; the process lives.
    Effects: with a lower controller epoch than before it is refused (STALE_CONTROLLER_EPOCH); where the log directory
             has failed the answer is KAFKA_STORAGE_ERROR; without a higher leader epoch only the controller epoch
             changes.
    Kafka:   ReplicaManager.becomeLeaderOrFollower, 0.8 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.up or not arriving(s.network, epoch, p, b):
        return False

    replica = broker.replicas[p]
    leader = leader_in(s.network, epoch, p)
    leader_epoch = leader_epoch_in(s.network, epoch, p)
    take_request(s.network, epoch, p, b)
    if not is_stale(broker, epoch):
        broker.seen_epoch = epoch
        if is_lost(replica):
            put_error(s.network, epoch, p, b)
        elif is_news(replica, leader_epoch):
            replica.leader = leader
            replica.leader_epoch = leader_epoch
            put_proposals(s.network, p, b, leader_epoch if leader == b else NO_EPOCH)
    return True
