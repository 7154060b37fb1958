"""What holds for requests and records in the replication system with KIP-320, and what each step must do.

Kafka's source is that of 2.1, with the fencing of KIP-320.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains, difference, is_empty, only, with_member, without_member
from kafkaproof.spec.replication.properties.invariants import (
    follower_log_is_prefix,
    hw_is_in_log,
    leader_has_state_isr,
    logs_match,
    newest_request_is_state,
    replica_took_a_request,
)
from kafkaproof.spec.replication.properties.safety import has_all_committed
from kafkaproof.spec.replication.replication import (
    FENCED,
    following_epoch,
    is_true_leader,
    presumes_leadership,
    reached_high_watermark,
    same_entry,
)


def log_matching(s):
    """Logs that hold the same record at an offset are the same before it, and a follower's log is a prefix of its
    leader's. No high watermark is beyond its log (KIP-101, KIP-320).
    """
    for r in range(len(s.replicas)):
        if not hw_is_in_log(s, r):
            return False
        for other in range(len(s.replicas)):
            if not logs_match(s, r, other) or not follower_log_is_prefix(s, r, other):
                return False
    return True


def written_once(s):
    """A record is written once: it has the same offset and epoch in every log, and its number is below the next one."""
    for replica in s.replicas:
        for i in range(len(replica.log.slots)):
            if i < replica.log.length:
                if replica.log.slots[i].id >= s.next_record:
                    return False
                for other in s.replicas:
                    if not is_once_in(other.log, replica.log.slots[i], i):
                        return False
    return True


def is_once_in(log, record, offset):
    """Whether a log that has a record has it at the record's offset and epoch."""
    for i in range(len(log.slots)):
        if i < log.length and log.slots[i].id == record.id:
            if i != offset or log.slots[i].epoch != record.epoch:
                return False
    return True


def known_from_requests(s):
    """What a replica knows is from a request: the epoch, the leader, and (unless it leads) the ISR. The newest request
    matches the state in ZooKeeper, and the leader of that epoch knows the ISR there.
    """
    if not newest_request_is_state(s):
        return False
    for r in range(len(s.replicas)):
        replica = s.replicas[r]
        if not replica_took_a_request(s, r) or not leader_has_state_isr(s, r):
            return False
        if replica.leader_epoch >= 0 and replica.leader != r:
            if replica.isr != s.requests.slots[replica.leader_epoch].isr:
                return False
    return True


def is_log(old, new):
    """Whether a log is as it was."""
    for i in range(len(old.slots)):
        if old.slots[i].id != new.slots[i].id or old.slots[i].epoch != new.slots[i].epoch:
            return False
    return old.length == new.length


def is_replica(old, new):
    """Whether a replica is as it was."""
    same = old.leader_epoch == new.leader_epoch and old.leader == new.leader and old.isr == new.isr
    return same and old.hw == new.hw and is_log(old.log, new.log)


def one_replica(before, after):
    """A step belongs to one replica or to the controller: the others keep their logs, high watermarks and roles."""
    changed = 0
    for r in range(len(after.replicas)):
        if not is_replica(before.replicas[r], after.replicas[r]):
            changed += 1
    return changed <= 1 and (changed == 0 or after.quorum.leader_epoch == before.quorum.leader_epoch)


def next_epoch(before, after):
    """A leader is written with the next epoch, and sent with the written ISR. Within an epoch the leader stays."""
    epoch = after.quorum.leader_epoch
    if epoch == before.quorum.leader_epoch:
        return after.requests.length == before.requests.length and after.quorum.leader == before.quorum.leader
    if epoch != before.quorum.leader_epoch + 1 or after.requests.length != epoch + 1:
        return False
    return after.requests.slots[epoch].isr == after.quorum.isr


def elected_from_isr(before, after, leader):
    """Another member of the ISR leads in the next epoch, with the same ISR (doElectLeaderForPartitions)."""
    old = before.quorum
    new = after.quorum
    if old.leader == leader or new.leader != leader or new.leader_epoch != old.leader_epoch + 1:
        return False
    return new.isr == old.isr and contains(new.isr, leader)


def removed_by_controller(before, after, replica):
    """A replica that the controller believes dead led, or was in the ISR. It no longer leads, and is out of the ISR
    unless it led as the last member. Another leader stays (removeReplicasFromIsr).
    """
    old = before.quorum
    new = after.quorum
    if new.leader_epoch != old.leader_epoch + 1 or old.leader != replica and not contains(old.isr, replica):
        return False
    if new.leader != (NOBODY if old.leader == replica else old.leader):
        return False
    if old.leader == replica and old.isr == only(replica):
        return new.isr == old.isr
    return new.isr == without_member(old.isr, replica)


def led_as_told(before, after, leader, request):
    """A replica leads because a later request than it knew says so. It keeps its log and its high watermark
    (Partition.makeLeader).
    """
    old = before.replicas[leader]
    new = after.replicas[leader]
    sent = before.requests.slots[request]
    told = request < before.requests.length and sent.leader == leader and request > old.leader_epoch
    adopted = new.leader == leader and new.leader_epoch == request and new.isr == sent.isr
    return told and adopted and new.hw == old.hw and is_log(old.log, new.log)


def followed_as_told(before, after, leader, follower, request):
    """A replica follows another because a later request than it knew says so. It keeps exactly what both logs have in
    common (ReplicaFetcherThread.truncate).
    """
    old = before.replicas[follower]
    new = after.replicas[follower]
    sent = before.requests.slots[request]
    told = request < before.requests.length and sent.leader == leader and request > old.leader_epoch
    if not told or leader == follower or before.replicas[leader].leader_epoch != request:
        return False
    if new.leader != leader or new.leader_epoch != request or new.isr != sent.isr:
        return False
    for i in range(len(new.log.slots)):
        if (i < new.log.length) != same_entry(before.replicas[leader].log, old.log, i):
            return False
    return new.hw == min(old.hw, new.log.length)


def is_grown(old, new, id, epoch):
    """Whether a log is as it was, with one record more."""
    if new.length != old.length + 1:
        return False
    for i in range(len(old.slots)):
        if i < old.length and not same_entry(old, new, i):
            return False
    return new.slots[old.length].id == id and new.slots[old.length].epoch == epoch


def appended_by_leader(before, after, leader):
    """A replica that believes it leads appends the next record, in its epoch (Partition.appendRecordsToLeader)."""
    old = before.replicas[leader]
    grown = is_grown(old.log, after.replicas[leader].log, before.next_record, old.leader_epoch)
    return old.leader == leader and grown and after.next_record == before.next_record + 1


def fetched_in_order(before, after, leader, follower):
    """A follower fetches the record at its end offset from the leader of its epoch, and learns the high watermark as far
    as its log goes (ReplicaFetcherThread.processPartitionData).
    """
    source = before.replicas[leader]
    old = before.replicas[follower]
    new = after.replicas[follower]
    if not following_epoch(before, leader, follower) or old.log.length >= source.log.length:
        return False
    record = source.log.slots[old.log.length]
    return is_grown(old.log, new.log, record.id, record.epoch) and new.hw == min(source.hw, new.log.length)


def committed_one(before, after, leader):
    """The high watermark rises by one record, which every member of the ISR that the leader knows has, as a follower in
    its epoch (Partition.maybeIncrementLeaderHW).
    """
    old = before.replicas[leader]
    for m in range(len(before.replicas)):
        if contains(old.isr, m):
            if not following_epoch(before, leader, m) or not same_entry(old.log, before.replicas[m].log, old.hw):
                return False
    return old.leader == leader and after.replicas[leader].hw == old.hw + 1


def is_written(before, after, leader, isr):
    """Whether the true leader has written an ISR in its epoch, and adopted it."""
    kept = after.quorum.leader_epoch == before.quorum.leader_epoch
    return is_true_leader(before, leader) and kept and after.quorum.isr == isr and after.replicas[leader].isr == isr


def joined_isr(before, after, leader, follower):
    """A follower in the leader's epoch joins the ISR if it has all that is committed, and the leader has committed all
    its records of former epochs (Partition.maybeExpandIsr, KAFKA-7128).
    """
    l = before.replicas[leader]
    if contains(l.isr, follower) or not is_written(before, after, leader, with_member(l.isr, follower)):
        return False
    for i in range(len(l.log.slots)):
        if l.hw <= i < l.log.length and l.log.slots[i].epoch < l.leader_epoch:
            return False
    reached = reached_high_watermark(before, leader, follower) and has_all_committed(before, leader, follower)
    return reached and following_epoch(before, leader, follower)


def left_isr(before, after, leader, follower, reason):
    """A follower leaves the ISR only if it is not in the leader's epoch, or lacks a record (Partition.maybeShrinkIsr)."""
    l = before.replicas[leader]
    if leader == follower or not contains(l.isr, follower):
        return False
    if not is_written(before, after, leader, without_member(l.isr, follower)):
        return False
    if reason == FENCED:
        return not following_epoch(before, leader, follower)
    return before.replicas[follower].log.length < l.log.length


def isr_of_epoch(s):
    """The ISR in which the present epoch began."""
    return s.requests.slots[s.quorum.leader_epoch].isr


def isr_has_shrunk(s):
    """A leader has removed a follower from the ISR."""
    return s.quorum.leader_epoch >= 0 and not is_empty(difference(isr_of_epoch(s), s.quorum.isr))


def isr_has_grown(s):
    """A leader has added a follower to the ISR."""
    return s.quorum.leader_epoch >= 0 and not is_empty(difference(s.quorum.isr, isr_of_epoch(s)))


def leaderless(s):
    """The controller has found no replica that may lead."""
    return s.quorum.leader_epoch >= 0 and s.quorum.leader == NOBODY


def logs_differ(s):
    """Two logs have different records at the same offset; one of them will be truncated."""
    for a in s.replicas:
        for b in s.replicas:
            for i in range(len(a.log.slots)):
                if i < a.log.length and i < b.log.length and not same_entry(a.log, b.log, i):
                    return True
    return False


def follower_knows_committed(s):
    """A follower knows that a record is committed, and follows in the newest epoch."""
    for r in range(len(s.replicas)):
        if s.replicas[r].hw > 0 and not presumes_leadership(s, r):
            if s.replicas[r].leader_epoch == s.quorum.leader_epoch:
                return True
    return False


KNOWN = (always(log_matching), always(written_once), always(known_from_requests))
STEPS = (
    always_step(one_replica),
    always_step(next_epoch),
    always_step(elected_from_isr, of=("elect_leader",)),
    always_step(removed_by_controller, of=("controller_shrink_isr",)),
    always_step(led_as_told, of=("become_leader",)),
    always_step(followed_as_told, of=("become_follower",)),
    always_step(appended_by_leader, of=("leader_write",)),
    always_step(fetched_in_order, of=("follower_fetch",)),
    always_step(committed_one, of=("leader_inc_high_watermark",)),
    always_step(joined_isr, of=("leader_expand_isr",)),
    always_step(left_isr, of=("leader_shrink_isr",)),
)
REACHED = (
    sometimes(isr_has_shrunk, brokers=2),
    sometimes(isr_has_grown, brokers=2, epochs=1),
    sometimes(leaderless),
    sometimes(logs_differ, brokers=2, records=2, epochs=1),
    sometimes(follower_knows_committed, brokers=2),
)
