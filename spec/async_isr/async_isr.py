"""Asynchronous ISR changes, abstract: one leader, one controller, and a high watermark that waits for both ISRs.

The leader asks the controller for another ISR and goes on before it has the answer; the controller also removes members
on its own. Each write of the controller has the next version, and is sent to the leader. The high watermark is the
least offset of the maximal ISR: the leader's ISR together with all that it has asked for on the version that it knows.

Requests and updates are sets that only grow, so each may arrive late, again, or never. On one version the leader asks
for its ISR with one member more or less, so a request is a version and that member; an update is the ISR of a version.
Pending requests are always on the leader's version, so their version is not kept. The leader reads its followers'
offsets atomically. Not modelled: other leaders and leader epochs, truncation, refusals, clients, what a record is.

Source: the protocol of KIP-497, simplified (kafka.cluster.Partition, kafka.controller.KafkaController, 2.7 to 3.9).
"""

from kafkaproof.spec.language.domains import Array, Bound, Id, Number, Record, SetOf
from kafkaproof.spec.language.sets import contains, everybody, only, union, with_member, without_member

Replica = Id("brokers")
Version = Number(0, Bound("versions"))
LEADER = 0

CONTROLLER = Record(
    isr=(SetOf("brokers"), "the ISR as the controller has written it"),
    version=(Version, "its version (the partition epoch)"),
)
LEADER_STATE = Record(
    isr=(SetOf("brokers"), "the ISR of the last update that it has applied"),
    version=(Version, "the version of that update"),
    pending=(SetOf("brokers"), "the members of all ISRs that it has asked for since; empty if none"),
)
STATE = Record(
    controller=(CONTROLLER, "what the controller knows"),
    leader=(LEADER_STATE, "what the leader knows"),
    offsets=(Array(Number(0, Bound("log")), "brokers"), "log end offset of each replica"),
    requests=(
        Array(SetOf("brokers"), Bound("versions", 1)),
        "for each version the members that the leader has asked to add or remove, one for each request",
    ),
    updates=(Array(SetOf("brokers"), Bound("versions", 1)), "the ISR of each version; version 0 is not sent"),
)


def initial(s):
    """All logs are empty, all replicas are in the ISR, and there are no requests."""
    everyone = everybody(len(s.offsets))
    s.controller.isr = everyone
    s.leader.isr = everyone
    s.updates[0] = everyone


def is_counted(leader, replica):
    """Whether a replica is in the maximal ISR: in the leader's ISR, or in one that it has asked for."""
    return contains(leader.isr, replica) or contains(leader.pending, replica)


def high_watermark(s):
    """The least offset of the maximal ISR."""
    hw = s.offsets[LEADER]
    for r in range(len(s.offsets)):
        if is_counted(s.leader, r):
            hw = min(hw, s.offsets[r])
    return hw


def has_reached(s, replica):
    """Whether a replica has all that is below the high watermark."""
    return s.offsets[replica] >= high_watermark(s)


def changed(isr, replica):
    """An ISR with a member added, or removed if it was there."""
    return without_member(isr, replica) if contains(isr, replica) else with_member(isr, replica)


def is_current(s, version):
    """Whether a request is on the version that the controller has."""
    return version == s.controller.version


def is_news(s, version):
    """Whether an update is of a higher version than the leader has."""
    return version > s.leader.version


def write_isr(s, isr):
    """The controller writes an ISR under the next version, and sends it to the leader."""
    s.controller.version += 1
    s.controller.isr = isr
    s.updates[s.controller.version] = isr


def ask(s, replica):
    """The leader asks for its ISR with `replica` added or removed, and counts the members of that ISR from now on."""
    version = s.leader.version
    s.requests[version] = union(s.requests[version], only(replica))
    s.leader.pending = union(s.leader.pending, changed(s.leader.isr, replica))


def controller_shrink_isr(s, replica: Replica):
    """The controller believes that a follower is dead, and removes it from the ISR.

    Guards:  `replica` is in the ISR, and not the leader.
    Effects: an ISR without it, with the next version.
    Kafka:   ReplicaStateMachine.doRemoveReplicasFromIsr, 2.7 to 3.9.
    """
    if replica == LEADER or not contains(s.controller.isr, replica):
        return False

    write_isr(s, without_member(s.controller.isr, replica))
    return True


def controller_handle_request(s, version: Version, replica: Replica):
    """The controller writes the ISR that the leader has asked for.

    Guards:  the request was sent; it is on the version that the controller has.
    Effects: that ISR, with the next version.
    Kafka:   KafkaController.processAlterIsr, 2.7 to 3.1; processAlterPartition, 3.2 to 3.9.
    """
    if not contains(s.requests[version], replica) or not is_current(s, version):
        return False

    write_isr(s, changed(s.updates[version], replica))
    return True


def leader_request_shrink(s, replica: Replica):
    """The leader asks the controller to remove a follower, however far behind that is.

    Guards:  `replica` is in the leader's ISR, and not the leader.
    Effects: the request is sent; the high watermark still waits for the follower.
    Kafka:   Partition.maybeShrinkIsr, 2.7 to 3.9.
    """
    if replica == LEADER or not contains(s.leader.isr, replica):
        return False

    ask(s, replica)
    return True


def leader_request_expand(s, replica: Replica):
    """The leader asks the controller to add a follower that has reached the high watermark.

    Guards:  `replica` is not in the leader's ISR; its offset is no lower than the high watermark.
    Effects: the request is sent; the high watermark waits for the follower from now on.
    Kafka:   Partition.maybeExpandIsr, 2.7 to 3.9.
    """
    if contains(s.leader.isr, replica) or not has_reached(s, replica):
        return False

    ask(s, replica)
    return True


def leader_handle_update(s, version: Version):
    """The leader applies an update, not necessarily the newest.

    Guards:  it was sent; its version is higher than the leader's.
    Effects: ISR and version are those of the update; what the leader has asked for on a lower version no longer counts,
             since the controller refuses it from now on.
    Kafka:   Partition.makeLeader, 2.7 to 3.9; handleAlterIsrResponse, 2.7 to 3.0; handleAlterIsrUpdate, 3.1;
             handleAlterPartitionUpdate, 3.2 to 3.9.
    """
    if version > s.controller.version or not is_news(s, version):
        return False

    s.leader.isr = s.updates[version]
    s.leader.version = version
    s.leader.pending = 0
    return True


def leader_write(s):
    """The leader appends a record.

    Guards:  none.
    Effects: its log has one more record.
    Kafka:   Partition.appendRecordsToLeader, 2.7 to 3.9.
    """
    s.offsets[LEADER] += 1
    return True


def follower_replicate(s, replica: Replica):
    """A follower fetches one record.

    Guards:  its log is shorter than the leader's (so it is not the leader).
    Effects: its log has one more record.
    Kafka:   ReplicaFetcherThread.processPartitionData, 2.7 to 3.9.
    """
    if s.offsets[replica] >= s.offsets[LEADER]:
        return False

    s.offsets[replica] += 1
    return True
