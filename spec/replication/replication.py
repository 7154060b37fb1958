"""Partition replication, abstract: leaders, followers, high watermarks and the ISR of one partition.

The controller and ZooKeeper are one `quorum`. Control requests stay for ever, and any replica may take one at any later
time. A leader reads its followers' state atomically. Not modelled: messages and their loss, unclean election,
min.insync.replicas, acks, broker death, log start offsets, AlterPartition.

Source: the protocol of Kafka 2.1 to 2.6 with the fencing of KIP-320 (kafka.cluster.Partition,
kafka.server.ReplicaFetcherThread); earlier versions are in `spec/replication/history/`.
"""

from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.language.sets import contains, everybody, only, with_member, without_member

SEAMS_OF = ("log",)

Replica = Id("brokers")
Request = Number(0, Bound("epochs"))
Reason = Choice("FENCED", "BEHIND")
FENCED, BEHIND = Reason

ENTRY = Record(
    id=(Number(0, Bound("records", -1)), "which record"),
    epoch=(Number(0, Bound("epochs")), "epoch of the leader that accepted it"),
)
REPLICA = Record(
    log=(Sequence(ENTRY, Bound("log")), "the partition log; its length is the end offset"),
    hw=(Number(0, Bound("log")), "high watermark, kept through every change of role"),
    leader_epoch=(Number(-1, Bound("epochs")), "epoch of the last request taken, -1 before the first"),
    leader=(Id("brokers", nobody=True), "leader named by that request"),
    isr=(SetOf("brokers"), "ISR of that request; on a leader, including its own later changes"),
)
QUORUM = Record(
    leader_epoch=(Number(-1, Bound("epochs")), "leader epoch in the state znode, -1 before the first"),
    leader=(Id("brokers", nobody=True), "leader in the state znode"),
    isr=(SetOf("brokers"), "ISR in the state znode"),
)
REQUEST = Record(
    leader=(Id("brokers", nobody=True), "leader that the controller chose in this epoch"),
    isr=(SetOf("brokers"), "ISR at the time of that choice"),
)
STATE = Record(
    replicas=(Array(REPLICA, "brokers"), "what each replica knows"),
    quorum=(QUORUM, "the partition's state in ZooKeeper"),
    requests=(Sequence(REQUEST, Bound("epochs", 1)), "LeaderAndIsr request of each epoch, for ever"),
    next_record=(Number(0, Bound("records")), "id of the next record"),
)


def initial(s):
    """All logs are empty, all replicas are in the ISR, and there is no leader yet."""
    for replica in s.replicas:
        replica.leader_epoch = -1
        replica.leader = NOBODY
    s.quorum.leader_epoch = -1
    s.quorum.leader = NOBODY
    s.quorum.isr = everybody(len(s.replicas))


def presumes_leadership(s, r):
    """Whether `r` believes that it leads."""
    return s.replicas[r].leader == r


def is_true_leader(s, r):
    """Whether both `r` and the quorum say that `r` leads, in the same epoch."""
    quorum = s.quorum
    replica = s.replicas[r]
    return quorum.leader == r and replica.leader == r and replica.leader_epoch == quorum.leader_epoch


def following_epoch(s, leader, follower):
    """Whether `follower` follows `leader`, which believes it leads, in the same epoch."""
    f = s.replicas[follower]
    return presumes_leadership(s, leader) and f.leader == leader and f.leader_epoch == s.replicas[leader].leader_epoch


def reached_high_watermark(s, leader, follower):
    """Whether `follower`'s log is at least as long as `leader`'s high watermark."""
    return s.replicas[follower].log.length >= s.replicas[leader].hw


def reached_current_epoch(s, leader):
    """Whether `leader`'s high watermark has reached the first record of its own epoch (KAFKA-7128)."""
    l = s.replicas[leader]
    return l.hw == l.log.length or l.log.slots[l.hw].epoch == l.leader_epoch


def write_quorum(s, leader, isr):
    """The controller writes leader and ISR under a new epoch and sends them out."""
    epoch = s.requests.length
    s.quorum.leader_epoch = epoch
    s.quorum.leader = leader
    s.quorum.isr = isr
    s.requests.slots[epoch].leader = leader
    s.requests.slots[epoch].isr = isr
    s.requests.length += 1


def write_isr(s, leader, isr):
    """The leader writes the ISR to the quorum and adopts it; the epoch stays."""
    s.quorum.isr = isr
    s.replicas[leader].isr = isr


def append(log, id, epoch):
    """Append one record to a log."""
    log.slots[log.length].id = id
    log.slots[log.length].epoch = epoch
    log.length += 1


def truncate(log, offset):
    """Drop the records at `offset` and beyond."""
    for i in range(len(log.slots)):
        if i >= offset:
            log.slots[i].id = 0
            log.slots[i].epoch = 0
    log.length = offset


def same_entry(a, b, offset):
    """Whether both logs hold the same record at `offset`."""
    return (
        offset < a.length
        and offset < b.length
        and a.slots[offset].id == b.slots[offset].id
        and a.slots[offset].epoch == b.slots[offset].epoch
    )


def end_of_match(leader_log, follower_log):
    """One more than the largest offset at which both logs hold the same record; 0 if there is none."""
    end = 0
    for i in range(len(leader_log.slots)):
        if same_entry(leader_log, follower_log, i):
            end = i + 1
    return end


def adopt(replica, leader_epoch, leader, isr):
    """Take over what a LeaderAndIsr request says."""
    replica.leader_epoch = leader_epoch
    replica.leader = leader
    replica.isr = isr


def elect_leader(s, leader: Replica):
    """The controller moves leadership to another member of the ISR.

    Guards:  `leader` is in the ISR and does not lead. The old leader need not be dead.
    Effects: a new epoch with this leader and the same ISR.
    Kafka:   PartitionStateMachine.electLeaderForPartition, 0.8 to 1.0; doElectLeaderForPartitions, 1.1 to 2.6.
    """
    if s.quorum.leader == leader or not contains(s.quorum.isr, leader):
        return False

    write_quorum(s, leader, s.quorum.isr)
    return True


def controller_shrink_isr(s, replica: Replica):
    """The controller believes that a replica is dead: it removes it from the ISR, and from the leadership if it led.

    Guards:  `replica` leads or is in the ISR.
    Effects: a new epoch; if the leader is removed as the last member, it stays in the ISR.
    Kafka:   KafkaController.removeReplicaFromIsr, 0.8 to 1.0; ReplicaStateMachine.doRemoveReplicasFromIsr, 1.1 to
             2.6.
    """
    quorum = s.quorum
    if quorum.leader != replica and not contains(quorum.isr, replica):
        return False

    if quorum.leader != replica:
        write_quorum(s, quorum.leader, without_member(quorum.isr, replica))
    elif quorum.isr == only(replica):
        write_quorum(s, NOBODY, quorum.isr)
    else:
        write_quorum(s, NOBODY, without_member(quorum.isr, replica))
    return True


def become_leader(s, leader: Replica, request: Request):
    """A replica takes a request, not necessarily the newest, that makes it leader.

    Guards:  the request names `leader` and has a higher epoch than `leader` knows.
    Effects: `leader` adopts epoch and ISR; its log and high watermark stay.
    Kafka:   Partition.makeLeader, 0.8 to 2.6.
    """
    replica = s.replicas[leader]
    if request >= s.requests.length or s.requests.slots[request].leader != leader:
        return False
    if request <= replica.leader_epoch:
        return False

    adopt(replica, request, leader, s.requests.slots[request].isr)
    return True


def leader_write(s, leader: Replica):
    """A presumed leader, perhaps no longer the true one, appends a new record.

    Guards:  `leader` believes that it leads.
    Effects: one more record, in the leader's epoch.
    Kafka:   Partition.appendMessagesToLeader, 0.8 to 0.10.1; appendRecordsToLeader, 0.10.2 to 2.6.
    """
    if not presumes_leadership(s, leader):
        return False

    append(s.replicas[leader].log, s.next_record, s.replicas[leader].leader_epoch)
    s.next_record += 1
    return True


def leader_expand_isr(s, leader: Replica, follower: Replica):
    """The true leader adds to the ISR a follower that has caught up.

    Guards:  `follower` follows in the leader's epoch, has reached its high watermark, and that has
             reached the leader's own epoch.
    Effects: the follower joins the ISR, in the quorum and at the leader.
    Kafka:   Partition.maybeExpandIsr, 2.1 to 2.6 (KAFKA-7128).
    """
    isr = s.replicas[leader].isr
    if not is_true_leader(s, leader) or leader == follower or contains(isr, follower):
        return False
    if not following_epoch(s, leader, follower) or not reached_high_watermark(s, leader, follower):
        return False
    if not reached_current_epoch(s, leader):
        return False

    write_isr(s, leader, with_member(isr, follower))
    return True


def leader_shrink_isr(s, leader: Replica, follower: Replica, reason: Reason):
    """The true leader removes from the ISR a follower that is fenced or behind.

    Guards:  `follower` is not in the leader's epoch (FENCED), or has not reached its end offset (BEHIND).
    Effects: the follower leaves the ISR, in the quorum and at the leader.
    Kafka:   Partition.maybeShrinkIsr, 2.1 to 2.6.
    """
    isr = s.replicas[leader].isr
    if not is_true_leader(s, leader) or leader == follower or not contains(isr, follower):
        return False
    if reason == FENCED and following_epoch(s, leader, follower):
        return False
    if reason == BEHIND and s.replicas[follower].log.length >= s.replicas[leader].log.length:
        return False

    write_isr(s, leader, without_member(isr, follower))
    return True


def leader_inc_high_watermark(s, leader: Replica):
    """A presumed leader raises its high watermark by one record that its whole ISR has.

    Guards:  every member of the leader's local ISR follows in its epoch and has the record.
    Effects: the high watermark grows by one.
    Kafka:   Partition.maybeIncrementLeaderHW, 2.1 to 2.6.
    """
    l = s.replicas[leader]
    if l.hw >= l.log.length:
        return False
    for f in range(len(s.replicas)):
        if contains(l.isr, f):
            if not following_epoch(s, leader, f) or s.replicas[f].log.length <= l.hw:
                return False

    l.hw += 1
    return True


def become_follower(s, leader: Replica, follower: Replica, request: Request):
    """A replica takes a request that names another leader, and truncates to where the logs agree.

    Guards:  the request names `leader`, has a higher epoch than `follower` knows, and `leader` leads
             in exactly that epoch.
    Effects: the log ends after the last record that both have; the high watermark is not beyond it.
    Kafka:   ReplicaFetcherThread.truncate, Partition.makeFollower, 2.1 to 2.6 (KIP-279, KIP-320).
    """
    f = s.replicas[follower]
    l = s.replicas[leader]
    if l.leader != leader or leader == follower:
        return False
    if request >= s.requests.length or s.requests.slots[request].leader != leader:
        return False
    if request <= f.leader_epoch or l.leader_epoch != request:
        return False

    end = end_of_match(l.log, f.log)
    truncate(f.log, end)
    f.hw = min(end, f.hw)
    adopt(f, request, leader, s.requests.slots[request].isr)
    return True


def follower_fetch(s, leader: Replica, follower: Replica):
    """A follower fetches one record, and with it the leader's high watermark.

    Guards:  `follower` follows in the leader's epoch and lacks a record that the leader has.
    Effects: one more record; the high watermark becomes the leader's, as far as the log goes.
    Kafka:   ReplicaFetcherThread.processPartitionData, 2.1 to 2.6.
    """
    l = s.replicas[leader]
    f = s.replicas[follower]
    if not following_epoch(s, leader, follower) or f.log.length >= l.log.length:
        return False

    copy_entry(l.log, f.log)
    f.hw = min(l.hw, f.log.length)
    return True


def copy_entry(source, target):
    """Append to `target` the record that `source` has at that offset."""
    append(target, source.slots[target.length].id, source.slots[target.length].epoch)
