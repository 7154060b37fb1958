"""A broker's side of LeaderAndIsr: fenced by the controller epoch, then by the leader epoch.

Both are kept in memory: a restarted process accepts any epoch once. Where nobody leads (leader -1), or the broker does
not know the leader as alive, it keeps its leader and leader epoch: a leader leads on. What it knows as alive is in
`metadata`; here that is every broker. A replica whose log directory has failed is lost until the process restarts, and
has forgotten its leader.
"""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.kafka.control_requests import KAFKA_STORAGE_ERROR, NONE, STALE_CONTROLLER_EPOCH
from kafkaproof.spec.language.domains import NOBODY, Bound, Number
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


def is_early(s, b, epoch, leader):
    """Whether a request of the same controller that makes a difference is still on its way: here none does."""
    return False


def knows_as_alive(broker, leader):
    """Whether a broker knows another one as alive: here always."""
    return True


def may_become(broker, b, leader):
    """Whether a broker leads, or follows a leader that there is, and that it knows as alive."""
    return leader == b or leader != NOBODY and knows_as_alive(broker, leader)


def make_log(replica):
    """The log is made if it is not there: only `deletion` looks at it."""
    return 0


def become_error(replica, leader_epoch):
    """The error code for a partition in a LeaderAndIsr that is accepted."""
    if is_lost(replica):
        return KAFKA_STORAGE_ERROR
    return NONE if is_news(replica, leader_epoch) else STALE_CONTROLLER_EPOCH


def become(s, b, p, leader, leader_epoch):
    """A broker obeys LeaderAndIsr of a partition: it has a log, and leads or follows in the new leader epoch if it may.

    Kafka: ReplicaManager.becomeLeaderOrFollower, 0.8 to 3.9; Partition.makeFollower, 0.8.0; ReplicaManager.makeFollowers,
           0.8.2 to 3.9.
    """
    broker = s.brokers[b]
    replica = broker.replicas[p]
    make_log(replica)
    if may_become(broker, b, leader):
        replica.leader = leader
        replica.leader_epoch = leader_epoch
        put_proposals(s.network, p, b, leader_epoch if leader == b else NO_EPOCH)


def leader_and_isr(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker receives LeaderAndIsr: it leads or follows, unless it has seen higher epochs.

    Guards:  a request of `epoch` arrives, behind those that were sent before; the process lives.
    Effects: with a lower controller epoch than before it is refused (STALE_CONTROLLER_EPOCH); where the log directory
             has failed the answer is KAFKA_STORAGE_ERROR; without a higher leader epoch only the controller epoch
             changes. Without a leader that is known as alive nothing changes besides but that there is a log.
    Kafka:   ReplicaManager.becomeLeaderOrFollower, 0.8 to 3.9; Partition.makeFollower, 0.8.0; ReplicaManager.makeFollowers,
             0.8.2 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.up or not arriving(s.network, epoch, p, b):
        return False

    leader = leader_in(s.network, epoch, p)
    leader_epoch = leader_epoch_in(s.network, epoch, p)
    if is_early(s, b, epoch, leader):
        return False

    take_request(s.network, epoch, p, b)
    if not is_stale(broker, epoch):
        broker.seen_epoch = epoch
        error = become_error(broker.replicas[p], leader_epoch)
        if error == KAFKA_STORAGE_ERROR:
            put_error(s.network, epoch, p, b)
        elif error == NONE:
            become(s, b, p, leader, leader_epoch)
    return True
