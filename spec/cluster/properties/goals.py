"""What must be reachable in the composed cluster: where controllers and data meet."""

from kafkaproof.spec.language.model import sometimes
from kafkaproof.spec.language.sets import contains, union
from kafkaproof.spec.partition.properties.goals import two_controllers
from kafkaproof.spec.replica.broker import LEADER
from kafkaproof.spec.replica.network import DIVERGING, SENT
from kafkaproof.spec.replica.properties.goals import alone_and_waiting
from kafkaproof.spec.replica.properties.safety import holds_committed, leads_by_right


def committed_then_failover(s):
    """A record is committed, and the current leader is a later one, elected by a later controller."""
    for p in range(len(s.planes)):
        data = s.planes[p]
        for b in range(len(s.brokers)):
            log = data.brokers[b].log
            if leads_by_right(data, b) and data.clients.places[0].ghosts.committed != 0 and log.length > 0:
                if log.slots[0].epoch < data.zk.leader_epoch and s.zk.epoch > 1:
                    return True
    return False


def zombie_leader_appends(s):
    """A broker that ZooKeeper no longer names has a record of its former epoch, which the current leader lacks."""
    for data in s.planes:
        for old in data.brokers:
            for new in range(len(data.brokers)):
                if old.state == LEADER and old.leader_epoch < data.zk.leader_epoch and leads_by_right(data, new):
                    if old.log.length > data.brokers[new].log.length:
                        return True
    return False


def follower_diverges(s):
    """A follower is told to truncate its log."""
    for data in s.planes:
        for message in data.network.messages:
            if message.kind == DIVERGING:
                return True
    return False


def unclean_loses(s):
    """After an unclean election the current leader lacks a committed record."""
    for data in s.planes:
        for b in range(len(data.brokers)):
            if data.zk.unclean == 1 and leads_by_right(data, b) and not holds_committed(data, b):
                return True
    return False


def dead_leader_leads_again(s):
    """A restarted process leads in the epoch in which its predecessor led, with its record."""
    for p in range(len(s.planes)):
        for b in range(len(s.brokers)):
            replica = s.planes[p].brokers[b]
            if replica.state == LEADER and s.brokers[b].seen_epoch > 1 and replica.log.length > 0:
                if replica.log.slots[0].epoch == replica.leader_epoch and replica.hw == 0:
                    return True
    return False


def proposal_to_nobody(s):
    """A leader has proposed an ISR while there is no controller."""
    for broker in s.brokers:
        if broker.controller.epoch > 0:
            return False
    for data in s.planes:
        for alter in data.network.alters:
            if alter.state == SENT:
                return True
    return False


def alone_and_refused(s):
    """A leader alone in ZooKeeper's ISR was refused its own write, and a producer waits for the other replica."""
    for data in s.planes:
        if alone_and_waiting(data):
            return True
    return False


def rejoined(s):
    """A leader of a later epoch has brought a follower, which has its record, back into the ISR."""
    for data in s.planes:
        for b in range(len(data.brokers)):
            if leads_by_right(data, b) and data.brokers[b].leader_epoch > 0 and data.brokers[b].hw > 0:
                for f in range(len(data.brokers)):
                    if f != b and contains(data.zk.isr, f) and data.brokers[f].log.length > 0:
                        return True
    return False


def failure_dealt_with(s):
    """A broker has notified the controller of a failed log directory, and the controller has dealt with that."""
    waiting = union(s.zk.log_dir_events, s.zk.log_dir_read)
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        for replica in broker.replicas:
            if replica.failed and not broker.unnotified and not broker.deaf and not contains(waiting, b):
                return True
    return False


GOALS = (
    sometimes(two_controllers, epochs=2),
    sometimes(committed_then_failover, epochs=2),
    sometimes(zombie_leader_appends),
    sometimes(follower_diverges, leader_epochs=2),
    sometimes(unclean_loses),
    sometimes(dead_leader_leads_again, epochs=2),
    sometimes(proposal_to_nobody),
    sometimes(rejoined),
    sometimes(alone_and_refused, faults=1),
    sometimes(failure_dealt_with, faults=1),
)
