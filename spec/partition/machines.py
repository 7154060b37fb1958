"""The partition and the replica state machine: what moves through ZooKeeper, one partition a step.

An election reads the state first, decides by the strategy of the event, and writes on the version that was read; if
that is not the current one any more, it starts again with reading, once the other partitions are through. Partitions
and replicas are handled in the order of their ids; in Kafka all are read before any is written, in the order of a hash
map.
"""

from kafkaproof.spec.kafka.state_machines import NEW_PARTITION, OFFLINE_REPLICA, ONLINE_PARTITION
from kafkaproof.spec.kafka.strategies import leader_after_removal, new_topic_isr, new_topic_leader, new_topic_recipients
from kafkaproof.spec.kafka.zookeeper import BADVERSION, EXPIRED, FENCED, LOST, NONODE, OK, Delivery
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import (
    COLLECTED,
    ELECTING,
    EMPTY,
    REMOVING,
    STUCK,
    WRITING_LEADER,
    WRITING_REMOVAL,
    WRITTEN,
    Broker,
    Partition,
    drop_result,
    online,
    remember_leadership,
    remember_result,
)
from kafkaproof.spec.partition.elections import (
    chosen_isr,
    chosen_leader,
    end_in_vain,
    is_removal_told,
    isr_without,
    recipients,
    told_of_removal,
)
from kafkaproof.spec.partition.progress import end_removal, give_up, is_next
from kafkaproof.spec.partition.rounds import end_election, end_partition, retry_election
from kafkaproof.spec.partition.telling import stop_fetching, tell_leadership
from kafkaproof.spec.partition.triggers import end_failover
from kafkaproof.spec.partition.zookeeper import checked_create_state, checked_set_state, read_state


def removes(controller, p, r):
    """Whether replica `r` of partition `p` is the next to go offline."""
    return is_next(controller.replicas, r) and is_next(controller.removing, p)


def never_sent(batch):
    """What becomes of a batch when ControllerMovedException (from 2.1 on) ends the event: what was collected stays there
    for ever. What the same round has written was not collected yet.

    Kafka: PartitionStateMachine.handleStateChanges, ReplicaStateMachine.handleStateChanges, 0.8 to 2.2;
           ZkPartitionStateMachine.handleStateChanges, ZkReplicaStateMachine.handleStateChanges, 2.3 to 3.9.
    """
    return STUCK if batch == COLLECTED or batch == STUCK else EMPTY


def prepare(result, leader, isr):
    """What was read becomes what is to be written: a new leader and ISR, and the next leader epoch."""
    result.leader = leader
    result.isr = isr
    result.leader_epoch += 1
    result.unclean = 0


def fail_election(s, b, p):
    """An election has failed for want of a session: the partition stays as it is, and the event goes on.

    Kafka: PartitionStateMachine.doElectLeaderForPartitions, initializeLeaderAndIsrForPartitions, 1.1 to 3.9.
    """
    end_election(s.brokers[b].controller, p)
    end_failover(s, b)


def fail_removal(s, b, p, r):
    """A replica was not taken offline for want of a session: it stays as it is, its broker is told to fetch no more, and
    the event goes on.

    Kafka: ReplicaStateMachine.doRemoveReplicasFromIsr, 1.1 to 3.9.
    """
    stop_fetching(s, b, p, r)
    end_removal(s.brokers[b].controller, p, r)
    end_failover(s, b)


def read_for_election(s, b: Broker, p: Partition):
    """A controller reads the state of a partition, and elects by the strategy of the event.

    Guards:  an election is to be held; `p` is the next, and not New.
    Request: OK; NEWER when a controller of a higher epoch wrote it; EXPIRED.
    Effects: the result is to be written; when the election fails, or on NEWER, `p` stays as it is. (From 1.1 on Kafka gives
             the New partitions of an event their states before it elects for the others; here the lowest is next.)
    Kafka:   PartitionStateMachine.electLeaderForPartition, 0.8 to 1.0; doElectLeaderForPartitions, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != ELECTING or not is_next(controller.todo, p):
        return False
    if controller.partitions[p].state == NEW_PARTITION:
        return False

    partition = controller.partitions[p]
    result = controller.result
    answer = read_state(s.zk, b, p, controller.epoch, result)
    leader = chosen_leader(controller, partition, result.isr, result.unclean) if answer == OK else NOBODY
    if answer == EXPIRED:
        fail_election(s, b, p)
    elif leader == NOBODY:
        end_in_vain(controller, partition)
        end_election(controller, p)
        end_failover(s, b)
    else:
        prepare(result, leader, chosen_isr(controller, partition, result.isr, leader))
        controller.doing = WRITING_LEADER
    return True


def write_leader(s, b: Broker, p: Partition, delivery: Delivery):
    """A controller writes the result of an election on the version that it read.

    Guards:  it has read `p` and elected.
    Request: OK; FENCED; BADVERSION; EXPIRED; LOST.
    Effects: on OK `p` is Online, and LeaderAndIsr is sent to the replicas; on BADVERSION, perhaps of its own lost
             write, it is elected again when the others are through; on LOST it retries; on FENCED the term is over (in a
             controlled shutdown the event alone), and if the same event has created states, or elected in an earlier
             round, what was collected for that is never sent: the state machine is dead for the rest of the process.
    Kafka:   PartitionStateMachine.electLeaderForPartition, 0.8 to 1.0; doElectLeaderForPartitions, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != WRITING_LEADER or not is_next(controller.todo, p):
        return False

    result = controller.result
    epoch = controller.epoch
    answer = checked_set_state(s.zk, b, p, epoch, result.leader, result.isr, result.leader_epoch, delivery)
    if answer == OK:
        partition = controller.partitions[p]
        remember_result(controller, partition)
        tell_leadership(s, b, p, recipients(controller, partition))
        partition.state = ONLINE_PARTITION
        if controller.partition_batch == EMPTY:
            controller.partition_batch = WRITTEN
        end_election(controller, p)
        end_failover(s, b)
    elif answer == BADVERSION:
        retry_election(controller, p)
    elif answer == FENCED:
        controller.partition_batch = never_sent(controller.partition_batch)
        give_up(s, b, answer)
    elif answer == EXPIRED:
        fail_election(s, b, p)
    return True


def create_first_state(s, b: Broker, p: Partition, delivery: Delivery):
    """A controller creates the state of a new partition: its online replicas are the ISR, and the first of them leads.

    Guards:  `p` is New, and the next.
    Request: none when no replica is online, else OK; FENCED; NODEEXISTS, perhaps because of its own lost
             request; EXPIRED; LOST.
    Effects: on OK `p` is Online, and LeaderAndIsr is sent to the ISR; without a request or on NODEEXISTS it stays New;
             on LOST it retries.
    Kafka:   PartitionStateMachine.initializeLeaderAndIsrForPartition, 0.8 to 1.0;
             initializeLeaderAndIsrForPartitions, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != ELECTING or not is_next(controller.todo, p):
        return False
    if controller.partitions[p].state != NEW_PARTITION:
        return False

    partition = controller.partitions[p]
    candidates = online(controller, partition)
    leader = new_topic_leader(partition.assignment, candidates)
    isr = new_topic_isr(partition.assignment, candidates)
    epoch = controller.epoch
    answer = NONODE if leader == NOBODY else checked_create_state(s.zk, b, p, epoch, leader, isr, delivery)
    if answer == OK:
        remember_leadership(partition, leader, isr, 0)
        tell_leadership(s, b, p, new_topic_recipients(partition.assignment, candidates))
        partition.state = ONLINE_PARTITION
        controller.partition_batch = COLLECTED
    if answer == FENCED:
        give_up(s, b, answer)
    elif answer == EXPIRED:
        fail_election(s, b, p)
    elif answer != LOST:
        end_partition(controller, p)
        end_failover(s, b)
    return True


def read_for_removal(s, b: Broker, p: Partition, r: Broker):
    """A controller reads the state of a partition whose replica on `r` goes offline.

    Guards:  replicas are to go offline; partition `p` of broker `r` is the next.
    Request: OK; NEWER when a controller of a higher epoch wrote it; EXPIRED.
    Effects: if `r` is in the ISR it is to be removed; if not, LeaderAndIsr is sent to the other replicas once more (not
             before a deletion), and the replica is Offline; on NEWER it stays as it is.
    Kafka:   KafkaController.removeReplicaFromIsr, 0.8 to 1.0; ReplicaStateMachine.doRemoveReplicasFromIsr, 1.1 to
             3.9.
    """
    controller = s.brokers[b].controller
    result = controller.result
    if controller.doing != REMOVING or not removes(controller, p, r):
        return False

    answer = read_state(s.zk, b, p, controller.epoch, result)
    if answer == EXPIRED:
        fail_removal(s, b, p, r)
    elif answer == OK and contains(result.isr, r):
        prepare(result, leader_after_removal(result.leader, r), isr_without(result, r))
        controller.doing = WRITING_REMOVAL
    else:
        stop_fetching(s, b, p, r)
        if answer == OK:
            partition = controller.partitions[p]
            remember_result(controller, partition)
            if is_removal_told(controller, p):
                tell_leadership(s, b, p, told_of_removal(controller, partition, r))
            partition.replicas[r] = OFFLINE_REPLICA
        end_removal(controller, p, r)
        end_failover(s, b)
    return True


def write_removal(s, b: Broker, p: Partition, r: Broker, delivery: Delivery):
    """A controller writes a state without a replica that goes offline, on the version that it read.

    Guards:  it has read `p`, with `r` in the ISR.
    Request: OK; FENCED; BADVERSION; EXPIRED; LOST.
    Effects: on OK the replica is Offline, and LeaderAndIsr is sent to the others (not before a deletion); on
             BADVERSION, perhaps because of its own lost write, it reads again; on LOST it retries; on FENCED the term
             is over (in a controlled shutdown the event alone), and StopReplica, which was collected before, is never
             sent: the state machine is dead for the rest of the process.
    Kafka:   KafkaController.removeReplicaFromIsr, 0.8 to 1.0; ReplicaStateMachine.doRemoveReplicasFromIsr,
             doHandleStateChanges, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != WRITING_REMOVAL or not removes(controller, p, r):
        return False

    result = controller.result
    epoch = controller.epoch
    answer = checked_set_state(s.zk, b, p, epoch, result.leader, result.isr, result.leader_epoch, delivery)
    if answer == OK:
        partition = controller.partitions[p]
        stop_fetching(s, b, p, r)
        remember_result(controller, partition)
        if is_removal_told(controller, p):
            tell_leadership(s, b, p, told_of_removal(controller, partition, r))
        partition.replicas[r] = OFFLINE_REPLICA
        end_removal(controller, p, r)
        end_failover(s, b)
    elif answer == BADVERSION:
        drop_result(controller)
        controller.doing = REMOVING
    elif answer == FENCED:
        controller.replica_batch = never_sent(COLLECTED)
        give_up(s, b, answer)
    elif answer == EXPIRED:
        fail_removal(s, b, p, r)
    return True
