"""StopReplica without delete in the composed cluster: a follower fetches no more, until a higher leader epoch."""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.kafka.control_requests import NONE as STOPPED
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.partition.context import Broker, Partition
from kafkaproof.spec.partition.metadata.halting import halt_replica as accept
from kafkaproof.spec.partition.metadata.halting import stop_error
from kafkaproof.spec.partition.metadata.network import halt_epoch
from kafkaproof.spec.partition.replica import Epoch
from kafkaproof.spec.replica.broker import LEADER, NONE
from kafkaproof.spec.replica.network import leave_leader


def halt_replica(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker receives StopReplica without delete: it fetches no more.

    Guards:  those of `halting.halt_replica` of `partition`.
    Effects: its effects; unless it is refused, or too old, or the log directory has failed, a follower fetches no more,
             and takes no answer to what it has asked. A leader goes on.
    Kafka:   ReplicaManager.stopReplicas, 3.4 to 3.9.
    """
    broker = s.brokers[b]
    stale = is_stale(broker, epoch)
    error = stop_error(broker.replicas[p], halt_epoch(s.network, epoch, p, b))
    if not accept(s, b, epoch, p):
        return False

    replica = s.planes[p].brokers[b]
    if not stale and error == STOPPED and replica.state != LEADER:
        replica.state = NONE
        leave_leader(s.planes[p].network, b)
    return True


def has_role(told, found, b):
    """Whether a replica leads as it was told; one that follows may have been told to fetch no more."""
    idle = found.state == NONE or told.leader != NOBODY
    return (found.state == LEADER) == (told.leader == b) and idle
