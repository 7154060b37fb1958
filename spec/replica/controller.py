"""Any controller: at any time it may move the leader within the ISR, or remove members from the ISR.

It stands for every controller that writes on the present version with the next leader epoch, and informs all brokers.
Which controller writes, why, and which brokers it believes are online is modelled in `partition`.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, only, without_member
from kafkaproof.spec.replica.broker import Broker
from kafkaproof.spec.replica.network import SENT, grant, put_request, refuse_proposals
from kafkaproof.spec.replica.zookeeper import OK, set_isr


def write_state(s, leader, isr):
    """Write leader and ISR with the next epoch, and inform all brokers, unless nobody leads."""
    epoch = s.zk.leader_epoch + 1
    s.zk.leader = leader
    s.zk.leader_epoch = epoch
    s.zk.isr = isr
    refuse_proposals(s.network)
    if leader != NOBODY:
        put_request(s.network, epoch, leader, isr)


def elect_leader(s, leader: Broker):
    """The controller moves leadership to another member of the ISR, in an offline, preferred or shutdown election.

    Guards:  `leader` is in the ISR and does not lead.
    Effects: a new epoch with this leader and the same ISR.
    Kafka:   PartitionStateMachine.electLeaderForPartition, 0.8 to 1.0; doElectLeaderForPartitions, 1.1 to 3.9.
    """
    if s.zk.leader == leader or not contains(s.zk.isr, leader):
        return False

    write_state(s, leader, s.zk.isr)
    return True


def remove_replica(s, replica: Broker):
    """The controller believes that a replica is dead: it removes it from the ISR, and from the leadership if it led.

    Guards:  `replica` leads, or is in the ISR with others.
    Effects: a new epoch; the last member stays in the ISR.
    Kafka:   KafkaController.removeReplicaFromIsr, 0.8 to 1.0; ReplicaStateMachine.doRemoveReplicasFromIsr, 1.1 to
             3.9.
    """
    if s.zk.leader != replica and (not contains(s.zk.isr, replica) or s.zk.isr == only(replica)):
        return False

    isr = s.zk.isr if s.zk.isr == only(replica) else without_member(s.zk.isr, replica)
    write_state(s, NOBODY if s.zk.leader == replica else s.zk.leader, isr)
    return True


def elect_unclean(s, leader: Broker):
    """The controller makes a replica outside the ISR leader.

    Guards:  nobody leads; `leader` is not in the ISR.
    Effects: a new epoch; the new leader alone is in the ISR.
    Kafka:   OfflinePartitionLeaderSelector.selectLeader, 0.8 to 1.0;
             PartitionLeaderElectionAlgorithms.offlinePartitionLeaderElection, 1.1 to 3.9.
    """
    if s.zk.leader != NOBODY or contains(s.zk.isr, leader):
        return False

    write_state(s, leader, only(leader))
    s.zk.unclean += 1
    return True


def alter_partition(s, sender: Broker):
    """The controller writes a proposed ISR.

    Guards:  AlterPartition of the present epoch is in flight. (One of an older epoch is refused with
             FENCED_LEADER_EPOCH, and its sender waits for LeaderAndIsr; that is not a step.)
    Request: OK.
    Effects: the answer is sent.
    Kafka:   KafkaController.processAlterIsr, 2.7 to 3.1; processAlterPartition, 3.2 to 3.9.
    """
    alter = s.network.alters[sender]
    if alter.state != SENT:
        return False

    answer = set_isr(s.zk, sender, alter.epoch, alter.isr)
    if answer == OK:
        grant(s.network, sender)
    return True
