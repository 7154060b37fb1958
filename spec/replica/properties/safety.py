"""Properties of replicas with real messages: D1 to D8, P8, and what KAFKA-2729 breaks.

The properties of data are claimed only if no unclean election was held, since that loses committed records by design.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.replica.broker import LEADER, NONE, in_sync
from kafkaproof.spec.replica.leader import ALL
from kafkaproof.spec.replication.replication import same_entry


def leads_by_right(s, b):
    """Whether both `b` and ZooKeeper say that `b` leads, in the same epoch."""
    broker = s.brokers[b]
    return broker.state == LEADER and s.zk.leader == b and broker.leader_epoch == s.zk.leader_epoch


def holds(log, offset, record):
    """Whether a log has this record (1 + id, 0 for none) at an offset."""
    return record == 0 or offset < log.length and log.slots[offset].id == record - 1


def holds_committed(s, b):
    """Whether the log of `b` has every committed record at its offset."""
    for i in range(len(s.clients.places)):
        if not holds(s.brokers[b].log, i, s.clients.places[i].ghosts.committed):
            return False
    return True


def holds_read(s, b):
    """Whether the log of `b` has every record that the consumer has read at its offset."""
    for i in range(len(s.clients.places)):
        if not holds(s.brokers[b].log, i, s.clients.places[i].ghosts.read):
            return False
    return True


def committed(s):
    """The leader by right has every committed record at its offset (D1)."""
    for b in range(len(s.brokers)):
        if s.zk.unclean == 0 and leads_by_right(s, b) and not holds_committed(s, b):
            return False
    return True


def committed_stays(before, after):
    """What is committed at an offset is never another record (D1)."""
    for i in range(len(after.clients.places)):
        old = before.clients.places[i].ghosts.committed
        if after.zk.unclean == 0 and old != 0 and after.clients.places[i].ghosts.committed != old:
            return False
    return True


def log_match(s):
    """Two replicas with a record of the same epoch at an offset have the same records up to it (D2)."""
    for a in range(len(s.brokers)):
        for b in range(a):
            if s.zk.unclean == 0 and not agree(s.brokers[a].log, s.brokers[b].log):
                return False
    return True


def agree(log, other):
    """Whether two logs are the same up to the last offset at which both have the same epoch."""
    same = True
    for i in range(len(log.slots)):
        if i < log.length and i < other.length:
            if not same_entry(log, other, i):
                same = False
            if not same and log.slots[i].epoch == other.slots[i].epoch:
                return False
    return True


def visible_match(s):
    """Two replicas have the same records below both high watermarks (D2)."""
    for a in range(len(s.brokers)):
        for b in range(a):
            visible = min(s.brokers[a].hw, s.brokers[b].hw)
            if s.zk.unclean == 0 and not same_below(s.brokers[a].log, s.brokers[b].log, visible):
                return False
    return True


def same_below(log, other, end):
    """Whether two logs have the same records below an offset."""
    for i in range(len(log.slots)):
        if i < end and not same_entry(log, other, i):
            return False
    return True


def isr_complete(s):
    """Every member of the ISR in ZooKeeper has every committed record at its offset (D3)."""
    for b in range(len(s.brokers)):
        if s.zk.unclean == 0 and contains(s.zk.isr, b) and not holds_committed(s, b):
            return False
    return True


def hw_in_log(s):
    """No high watermark is beyond its log's end (D4)."""
    for broker in s.brokers:
        if broker.hw > broker.log.length:
            return False
    return True


def leader_hw_never_falls(before, after):
    """A leader's high watermark never falls, and is not lowered when the leader begins to lead (D4)."""
    for b in range(len(after.brokers)):
        if after.brokers[b].state == LEADER and after.brokers[b].hw < before.brokers[b].hw:
            return False
    return True


def stable_read(s):
    """The leader by right has every record that the consumer has read at its offset (D5)."""
    for b in range(len(s.brokers)):
        if s.zk.unclean == 0 and leads_by_right(s, b) and not holds_read(s, b):
            return False
    return True


def acknowledged_is_visible(before, after):
    """A record that becomes committed is below the high watermark of a leader that has it (D6)."""
    for i in range(len(after.clients.places)):
        record = after.clients.places[i].ghosts.committed
        if record != before.clients.places[i].ghosts.committed:
            found = False
            for broker in after.brokers:
                if broker.state == LEADER and i < broker.hw and holds(broker.log, i, record):
                    found = True
            if not found:
                return False
    return True


def enough_replicas(before, after, b, acks):
    """With acks=all nothing is appended while the ISR is below min.insync.replicas (D6)."""
    grown = after.brokers[b].log.length > before.brokers[b].log.length
    return acks != ALL or not grown or in_sync(before.brokers[b]) >= len(before.brokers[b].required)


def stale_leader(before, after):
    """Every member of the ISR has what a leader of an older epoch has acknowledged with acks=all (D7)."""
    for b in range(len(after.brokers)):
        old = before.brokers[b]
        new = after.brokers[b]
        is_old = new.state == LEADER and new.leader_epoch < after.zk.leader_epoch
        if after.zk.unclean == 0 and is_old:
            for i in range(len(after.clients.places)):
                if i < new.hw and contains(old.waiting, new.log.slots[i].id):
                    record = after.clients.places[i].ghosts.committed
                    if record == new.log.slots[i].id + 1 and not all_in_sync_hold(after, i, record):
                        return False
    return True


def all_in_sync_hold(s, offset, record):
    """Whether every member of the ISR in ZooKeeper has a record at an offset."""
    for b in range(len(s.brokers)):
        if contains(s.zk.isr, b) and not holds(s.brokers[b].log, offset, record):
            return False
    return True


def is_cut(old, new):
    """Whether a log became shorter than it was, and shorter than it may be."""
    return new.log.length < old.log.length and new.log.length < old.hw


def truncated_above_hw(before, after):
    """No replica truncates below its own high watermark (D8)."""
    for b in range(len(after.brokers)):
        old = before.brokers[b]
        new = after.brokers[b]
        if after.zk.unclean == 0 and is_cut(old, new):
            return False
    return True


def local_epoch(s):
    """No broker has a leader epoch above the one in ZooKeeper (P8)."""
    for broker in s.brokers:
        if broker.leader_epoch > s.zk.leader_epoch:
            return False
    return True


def local_epoch_never_falls(before, after):
    """The leader epoch that a process has never falls (P8)."""
    for b in range(len(after.brokers)):
        if after.brokers[b].state != NONE and after.brokers[b].leader_epoch < before.brokers[b].leader_epoch:
            return False
    return True


def version_is_mended(s):
    """LeaderAndIsr is in flight to a leader that ZooKeeper names and that has a stale version: nothing else would
    correct the version on which it writes the ISR (KAFKA-2729).
    """
    if s.zk.leader == NOBODY:
        return True
    for b in range(len(s.brokers)):
        if s.zk.leader == b and s.brokers[b].state == LEADER and s.brokers[b].leader_epoch < s.zk.leader_epoch:
            if not contains(s.network.requests[s.zk.leader_epoch].to, b):
                return False
    return True


SAFETY = (
    always(committed),
    always_step(committed_stays),
    always(log_match),
    always(visible_match),
    always(isr_complete),
    always(hw_in_log),
    always_step(leader_hw_never_falls),
    always(stable_read),
    always_step(acknowledged_is_visible),
    always_step(enough_replicas, of=("produce",)),
    always_step(stale_leader),
    always_step(truncated_above_hw),
    always(local_epoch),
    always_step(local_epoch_never_falls),
    always(version_is_mended),
)
