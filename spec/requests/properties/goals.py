"""What must be reachable in the requests system, so that its properties do not hold vacuously."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import sometimes
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.properties.goals import two_controllers
from kafkaproof.spec.requests.batch import BARE, LEADER_AND_ISR, NOTHING, STOP_REPLICA, UPDATE_METADATA
from kafkaproof.spec.requests.broker import is_news
from kafkaproof.spec.requests.context import STARTED
from kafkaproof.spec.requests.network import (
    ANSWERED,
    FAILED,
    LATE,
    arriving,
    broker_epoch_in,
    leader_epoch_in,
    leader_in,
)
from kafkaproof.spec.requests.properties.safety import expected_to_follow, has_settled, obeys


def arrives_stale(s, kind):
    """Whether a request of this kind, to the current registration, is of a lower epoch than its receiver has seen."""
    for epoch in range(len(s.network.senders)):
        for b in range(len(s.brokers)):
            broker = s.brokers[b]
            for delivery in range(LATE + 1):
                present = broker_epoch_in(s.network, epoch, b, delivery) == broker.epoch
                if (
                    broker.up
                    and present
                    and epoch < broker.seen_epoch
                    and arriving(s.network, epoch, b, delivery) == kind
                ):
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
                former = broker_epoch_in(s.network, epoch, b, delivery) < s.brokers[b].epoch
                if former and arriving(s.network, epoch, b, delivery) != NOTHING:
                    return True
    return False


def late_request(s):
    """A request of a discarded channel arrives after one of a later term."""
    for epoch in range(len(s.network.senders)):
        for b in range(len(s.brokers)):
            if epoch < s.brokers[b].seen_epoch and arriving(s.network, epoch, b, LATE) != NOTHING:
                return True
    return False


def unknown_leader(s):
    """A broker is about to refuse to follow, in a new leader epoch, a leader that it does not know as alive."""
    for epoch in range(len(s.network.senders)):
        for b in range(len(s.brokers)):
            broker = s.brokers[b]
            accepted = epoch >= broker.seen_epoch and broker_epoch_in(s.network, epoch, b, ANSWERED) >= broker.epoch
            if broker.up and accepted and arriving(s.network, epoch, b, ANSWERED) == LEADER_AND_ISR:
                leader = leader_in(s.network, epoch, b, ANSWERED)
                news = is_news(broker.replica, leader_epoch_in(s.network, epoch, b, ANSWERED))
                if news and leader != NOBODY and leader != b and not contains(broker.alive, leader):
                    return True
    return False


def storage_error_election(s):
    """According to its answer, the leader's log directory is offline: another leader is to be elected."""
    for broker in s.brokers:
        leader = broker.controller.leader
        if broker.controller.epoch > 0 and leader != NOBODY and contains(broker.controller.offline_dirs, leader):
            return True
    return False


def stale_answer(s):
    """An answer with a storage error waits in a term in which its sender has not answered yet."""
    for b in range(len(s.brokers)):
        for r in range(len(s.brokers)):
            epoch = s.brokers[b].controller.epoch
            if epoch > 0 and s.network.answers[b][r] == FAILED:
                if s.network.channels[epoch][r].queue.slots[0].update == BARE and s.brokers[r].seen_epoch < epoch:
                    return True
    return False


def sent_again(s):
    """The first request of a term is sent again to a broker that has accepted it already."""
    for b in range(len(s.brokers)):
        epoch = s.brokers[b].seen_epoch
        if epoch > 0 and s.network.channels[epoch][b].queue.slots[0].update == BARE:
            if not s.network.channels[epoch][b].queue.slots[0].leader_and_isr:
                return True
    return False


def left_behind(s):
    """The current controller has handled everything, and a replica that works differs from ZooKeeper."""
    for b in range(len(s.brokers)):
        if has_settled(s, b):
            for r in range(len(s.brokers)):
                if expected_to_follow(s, b, r) and not obeys(s, r):
                    return True
    return False


def deletes(s):
    """A controller has begun to delete the topic."""
    for broker in s.brokers:
        if broker.controller.deletion == STARTED:
            return True
    return False


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
    sometimes(left_behind, faults=2),
    sometimes(deletes, faults=1),
)
