"""Goals of the replica system: without these its safety properties would say little."""

from kafkaproof.spec.language.model import sometimes
from kafkaproof.spec.language.sets import contains, everybody, is_empty, only
from kafkaproof.spec.replica.broker import FETCHING, LEADER, enough_in_sync
from kafkaproof.spec.replica.network import DIVERGING, DONE, END, FETCH, REFUSED, is_request
from kafkaproof.spec.replica.properties.safety import holds_committed, leads_by_right


def leader_changes_after_commit(s):
    """A record is committed, and a leader of a later epoch leads by right."""
    for b in range(len(s.brokers)):
        if leads_by_right(s, b) and s.brokers[b].log.length > 0 and s.clients.places[0].ghosts.committed != 0:
            if s.brokers[b].log.slots[0].epoch < s.zk.leader_epoch:
                return True
    return False


def truncation(s):
    """An answer that is in flight will make a follower truncate."""
    for f in range(len(s.brokers)):
        message = s.network.messages[f]
        if message.kind == DIVERGING or message.kind == END:
            if message.end < s.brokers[f].log.length and message.epoch == s.brokers[f].leader_epoch:
                return True
    return False


def fetch_behind(s):
    """A fetch of an older leader epoch is about to reach a leader, which fences it if the release does so."""
    for message in s.network.messages:
        leader = s.brokers[message.peer]
        if message.kind == FETCH and leader.state == LEADER and message.epoch < leader.leader_epoch:
            return True
    return False


def fetch_ahead(s):
    """A fetch of a later leader epoch is about to reach a leader that does not know of that epoch."""
    for message in s.network.messages:
        leader = s.brokers[message.peer]
        if message.kind == FETCH and leader.state == LEADER and message.epoch > leader.leader_epoch:
            return True
    return False


def late_answer(s):
    """An answer is in flight to a follower that has a newer leader epoch, or none."""
    for f in range(len(s.brokers)):
        if s.network.messages[f].epoch < s.brokers[f].leader_epoch and not is_request(s.network, f):
            return s.network.messages[f].hw + s.network.messages[f].end > 0
    return False


def late_fetch(s):
    """A fetch is in flight although its sender has left that epoch, while its leader has not."""
    for f in range(len(s.brokers)):
        message = s.network.messages[f]
        if message.kind == FETCH and message.epoch < s.brokers[f].leader_epoch:
            if s.brokers[message.peer].state == LEADER and s.brokers[message.peer].leader_epoch == message.epoch:
                return True
    return False


def out_of_sync(s):
    """A follower that fetches from the leader by right is not in the ISR."""
    for b in range(len(s.brokers)):
        for f in range(len(s.brokers)):
            if leads_by_right(s, b) and not contains(s.zk.isr, f) and s.brokers[f].state == FETCHING:
                if s.brokers[f].leader_epoch == s.zk.leader_epoch:
                    return True
    return False


def isr_restored(s):
    """All replicas are in the ISR again, and the leader by right, which proposed that, does not know."""
    for b in range(len(s.brokers)):
        if leads_by_right(s, b) and s.brokers[b].isr != s.zk.isr and s.zk.isr == everybody(len(s.brokers)):
            return True
    return False


def read_then_failover(s):
    """The consumer has read a record of an older epoch than that of the leader by right."""
    for b in range(len(s.brokers)):
        if leads_by_right(s, b) and s.clients.position > 0 and s.brokers[b].log.length > 0:
            if s.brokers[b].log.slots[0].epoch < s.zk.leader_epoch:
                return True
    return False


def stale_leader_is_ahead(s):
    """A leader of an older epoch has a higher high watermark than the leader by right."""
    for b in range(len(s.brokers)):
        for l in range(len(s.brokers)):
            if leads_by_right(s, l) and s.brokers[b].state == LEADER and s.brokers[b].hw > s.brokers[l].hw:
                return True
    return False


def hw_behind_commits(s):
    """The high watermark of a new leader is below what is committed."""
    for b in range(len(s.brokers)):
        if leads_by_right(s, b):
            for i in range(len(s.clients.places)):
                if i >= s.brokers[b].hw and s.clients.places[i].ghosts.committed != 0:
                    return True
    return False


def too_few_in_sync(s):
    """A leader's ISR is below min.insync.replicas."""
    for broker in s.brokers:
        if broker.state == LEADER and not enough_in_sync(broker):
            return True
    return False


def written_unknown(s):
    """A leader's proposed ISR is written, but the leader does not know."""
    for b in range(len(s.brokers)):
        if s.network.alters[b].state == DONE and s.brokers[b].state == LEADER:
            return True
    return False


def alone_and_waiting(s):
    """A leader alone in ZooKeeper's ISR was refused its own write, and a producer waits for the other replica."""
    for b in range(len(s.brokers)):
        refused = s.network.alters[b].state == REFUSED
        if refused and leads_by_right(s, b) and s.zk.isr == only(b) and not is_empty(s.brokers[b].waiting):
            return True
    return False


def unclean_election(s):
    """A leader was elected outside the ISR."""
    return s.zk.unclean > 0


def unclean_loss(s):
    """A leader by right lacks a committed record, after an unclean election."""
    for b in range(len(s.brokers)):
        if s.zk.unclean > 0 and leads_by_right(s, b) and not holds_committed(s, b):
            return True
    return False


EPOCHS = (
    sometimes(leader_changes_after_commit, epochs=1),
    sometimes(fetch_behind, epochs=1),
    sometimes(fetch_ahead, epochs=1),
    sometimes(late_fetch, epochs=1),
    sometimes(out_of_sync),
    sometimes(read_then_failover, epochs=1),
    sometimes(stale_leader_is_ahead, epochs=1),
    sometimes(hw_behind_commits, epochs=1),
    sometimes(too_few_in_sync, min_isr=2),
    sometimes(unclean_election, unclean=1),
    sometimes(unclean_loss, unclean=1),
)
TOLD = EPOCHS + (sometimes(truncation, epochs=1),)
PROPOSED = TOLD + (sometimes(written_unknown), sometimes(isr_restored), sometimes(alone_and_waiting, faults=1))
LATE = (sometimes(late_answer, epochs=1),)
