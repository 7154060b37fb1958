"""What must be reachable in the requests system, so that its properties do not hold vacuously."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import sometimes
from kafkaproof.spec.language.sets import contains, is_empty
from kafkaproof.spec.partition.properties.goals import two_controllers
from kafkaproof.spec.partition.replica import is_news
from kafkaproof.spec.requests.batch import LEADER_AND_ISR, NOTHING, STOP_REPLICA, UPDATE_METADATA, has_leader_and_isr
from kafkaproof.spec.requests.network import ANSWERED, LATE, arriving, is_current, is_led_in, leader_epoch_in, leader_in
from kafkaproof.spec.requests.properties.handling import is_accepted
from kafkaproof.spec.requests.properties.safety import expected_to_follow, has_settled, obeys


def arrives_stale(s, kind):
    """Whether a request of this kind, to the current registration, is of a lower epoch than its receiver has seen."""
    for epoch in range(len(s.network.senders)):
        for b in range(len(s.brokers)):
            for delivery in range(LATE + 1):
                stale = s.brokers[b].up == 1 and epoch < s.brokers[b].seen_epoch
                current = is_current(s.network, epoch, b, delivery)
                if stale and current and arriving(s.network, epoch, b, delivery) == kind:
                    return True
    return False


def stale_leader_and_isr(s):
    """LeaderAndIsr is about to be refused with STALE_CONTROLLER_EPOCH."""
    return arrives_stale(s, LEADER_AND_ISR)


def stale_update_metadata(s):
    """UpdateMetadata is about to be refused with STALE_CONTROLLER_EPOCH."""
    return arrives_stale(s, UPDATE_METADATA)


def stale_stop_replica(s):
    """StopReplica is about to be refused with STALE_CONTROLLER_EPOCH."""
    return arrives_stale(s, STOP_REPLICA)


def former_request(s):
    """A request to a former registration of a broker arrives at its current process."""
    for epoch in range(len(s.network.senders)):
        for b in range(len(s.brokers)):
            for delivery in range(LATE + 1):
                arrives = s.brokers[b].up == 1 and arriving(s.network, epoch, b, delivery) != NOTHING
                if arrives and not is_current(s.network, epoch, b, delivery):
                    return True
    return False


def late_request(s):
    """A request of a discarded channel arrives after one of a later term."""
    for epoch in range(len(s.network.senders)):
        for b in range(len(s.brokers)):
            if epoch < s.brokers[b].seen_epoch and arriving(s.network, epoch, b, LATE) != NOTHING:
                return True
    return False


def is_of_unknown_leader(s, epoch, b, p):
    """Whether a broker is about to be told of a leader, in a new leader epoch, that it does not know as alive."""
    leader = leader_in(s.network, epoch, b, ANSWERED, p)
    news = is_news(s.brokers[b].replicas[p], leader_epoch_in(s.network, epoch, b, ANSWERED, p))
    named = is_led_in(s.network, epoch, b, ANSWERED, p) and news and leader != NOBODY and leader != b
    return named and not contains(s.brokers[b].metadata.alive, leader)


def unknown_leader(s):
    """A broker is about to refuse to follow, in a new leader epoch, a leader that it does not know as alive."""
    for epoch in range(len(s.network.senders)):
        for b in range(len(s.brokers)):
            arrives = s.brokers[b].up == 1 and arriving(s.network, epoch, b, ANSWERED) == LEADER_AND_ISR
            for p in range(len(s.zk.partitions)):
                if arrives and is_accepted(s, b, epoch, ANSWERED) and is_of_unknown_leader(s, epoch, b, p):
                    return True
    return False


def storage_error_election(s):
    """According to its answer, the leader's log directory is offline: another leader is to be elected."""
    for broker in s.brokers:
        for partition in broker.controller.partitions:
            if partition.leader != NOBODY and contains(partition.failed, partition.leader):
                return True
    return False


def stale_answer(s):
    """An answer with a storage error waits in a term in which its sender has not answered yet."""
    for b in range(len(s.brokers)):
        for r in range(len(s.brokers)):
            epoch = s.brokers[b].controller.epoch
            if epoch > 0 and not is_empty(s.network.errors[b][r]) and s.brokers[r].seen_epoch < epoch:
                return True
    return False


def sent_again(s):
    """The first request of a term is sent again to a broker that has accepted it already."""
    for b in range(len(s.brokers)):
        channel = s.network.channels[s.brokers[b].seen_epoch][b]
        first = channel.queue.slots[0]
        whole = first.update == 1 and not has_leader_and_isr(first) and channel.queue.length > 1
        if whole and s.brokers[b].metadata.alive == first.alive and not s.brokers[b].metadata.partitions[0].known:
            return True
    return False


def left_behind(s):
    """The current controller has handled everything, and a replica that works differs from ZooKeeper."""
    for p in range(len(s.zk.partitions)):
        for b in range(len(s.brokers)):
            for r in range(len(s.brokers)):
                if has_settled(s, b, p) and expected_to_follow(s, b, r, p) and not obeys(s, r, p):
                    return True
    return False


def deletes(s):
    """A controller has queued a topic for deletion."""
    for broker in s.brokers:
        if not is_empty(broker.controller.deleting):
            return True
    return False


def topic_is_gone(s):
    """A topic is deleted whole."""
    return not is_empty(s.zk.deleted)


GOALS = (
    sometimes(two_controllers, epochs=2, faults=1),
    sometimes(stale_leader_and_isr, epochs=2, faults=1),
    sometimes(stale_update_metadata, epochs=2, faults=1),
    sometimes(stale_stop_replica, epochs=2, faults=2),
    sometimes(former_request, faults=1),
    sometimes(late_request, epochs=2, faults=1),
    sometimes(unknown_leader, epochs=2, faults=1),
    sometimes(storage_error_election, faults=1),
    sometimes(stale_answer, epochs=2, faults=2),
    sometimes(sent_again, faults=1),
    sometimes(deletes, faults=1),
    sometimes(topic_is_gone, faults=1, leader_epochs=2),
)
LEFT_BEHIND = (sometimes(left_behind, faults=2),)
"""Where StopReplica of the leader epoch that a replica has is obeyed: not from 2.6 to 3.3."""
