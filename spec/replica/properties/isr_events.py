"""What a step may and must do with leaders, ISRs, LeaderAndIsr and AlterPartition of the replica system.

These properties are about single steps, while D1 to D8 are about records. Kafka's source is that of 3.9.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import contains, difference, everybody, is_empty, only, with_member, without_member
from kafkaproof.spec.replica.broker import LEADER, UNKNOWN_END, epoch_start
from kafkaproof.spec.replica.network import DONE, NO_MESSAGE, NO_PROPOSAL, REFUSED, SENT, is_request
from kafkaproof.spec.replica.properties.log_events import leads_on, same_log


def epoch_with_leader(before, after):
    """A leader is written with the next leader epoch, and its election is unclean if it was not in the ISR (TopicZNode,
    PartitionLeaderElectionAlgorithms.offlinePartitionLeaderElection).
    """
    old = before.zk
    new = after.zk
    if new.leader_epoch == old.leader_epoch:
        return new.leader == old.leader and new.unclean == old.unclean
    if new.leader_epoch != old.leader_epoch + 1:
        return False
    if new.leader == NOBODY or contains(old.isr, new.leader):
        return new.unclean == old.unclean
    return new.unclean == old.unclean + 1 and old.leader == NOBODY and new.isr == only(new.leader)


def isr_by_proposal(before, after):
    """While the leader epoch stays, the ISR changes only to what the leader of that epoch has proposed
    (KafkaController.processAlterPartition).
    """
    if after.zk.leader_epoch != before.zk.leader_epoch or after.zk.isr == before.zk.isr:
        return True
    if after.zk.leader == NOBODY:
        return False
    alter = before.network.alters[after.zk.leader]
    return alter.state == SENT and alter.epoch == after.zk.leader_epoch and alter.isr == after.zk.isr


def everybody_is_told(before, after):
    """A leader that is written is sent to all brokers, with its ISR; proposals in flight are refused
    (ControllerBrokerRequestBatch.addLeaderAndIsrRequestForBrokers).
    """
    epoch = after.zk.leader_epoch
    if epoch == before.zk.leader_epoch:
        return True
    for alter in after.network.alters:
        if alter.state == SENT:
            return False
    if after.zk.leader == NOBODY:
        return True
    request = after.network.requests[epoch]
    told = request.leader == after.zk.leader and request.isr == after.zk.isr
    return told and request.to == everybody(len(after.brokers))


def elects_another(before, after, leader):
    """An election makes another replica the leader."""
    return before.zk.leader != leader and after.zk.leader == leader


def elects_from_isr(before, after, leader):
    """The elected leader is another member of the ISR, which stays (PartitionLeaderElectionAlgorithms)."""
    return elects_another(before, after, leader) and contains(before.zk.isr, leader) and after.zk.isr == before.zk.isr


def removes_replica(before, after, replica):
    """A dead replica is no longer the leader, nor in the ISR unless it is the last member; nothing else changes
    (ReplicaStateMachine.doRemoveReplicasFromIsr).
    """
    isr = before.zk.isr if before.zk.isr == only(replica) else without_member(before.zk.isr, replica)
    leader = NOBODY if before.zk.leader == replica else before.zk.leader
    if after.zk.isr != isr or after.zk.leader != leader:
        return False
    return before.zk.leader == replica or before.zk.isr != isr


def request_stays(before, after):
    """LeaderAndIsr is in flight to a process until the process has received it or a later one
    (ControllerChannelManager).
    """
    for e in range(len(after.network.requests)):
        old = before.network.requests[e]
        new = after.network.requests[e]
        for b in range(len(after.brokers)):
            gone = contains(old.to, b) and not contains(new.to, b)
            if gone and after.brokers[b].leader_epoch < e and after.zk.faults == before.zk.faults:
                return False
            if contains(old.to, b) and contains(new.to, b) and (old.leader != new.leader):
                return False
        if contains(old.to, old.leader) and contains(new.to, old.leader) and old.isr != new.isr:
            return False
    return True


def begins(before, after, b, isr):
    """Whether a broker begins its role: a leader with this ISR, nothing proposed and no follower heard of; a follower
    with its former high watermark. Neither waits for an answer.
    """
    old = before.brokers[b]
    new = after.brokers[b]
    kind = after.network.messages[b].kind
    if not same_log(old.log, new.log) or after.network.alters[b].state != NO_PROPOSAL:
        return False
    if kind != NO_MESSAGE and not is_request(after.network, b):
        return False
    if new.state != LEADER:
        return new.hw == old.hw
    return new.isr == isr and is_empty(new.pending) and is_empty(new.heard)


def obeys(before, after, b, epoch):
    """LeaderAndIsr of a higher epoch is obeyed: a leader begins with the ISR of the request, nothing proposed and no
    follower heard of; a follower keeps its high watermark. Neither waits for an answer (Partition.makeLeader,
    makeFollower).
    """
    request = before.network.requests[epoch]
    new = after.brokers[b]
    if not contains(request.to, b) or epoch <= before.brokers[b].leader_epoch:
        return False
    return new.leader_epoch == epoch and new.leader == request.leader and begins(before, after, b, request.isr)


def keeps_known_ends(before, after):
    """Who is told to lead and leads already goes on with the ends of its followers that it knows, whatever happened in
    leader epochs that it missed. Who begins to lead knows none (Partition.makeLeader, Replica.resetReplicaState).
    """
    for b in range(len(after.brokers)):
        old = before.brokers[b]
        new = after.brokers[b]
        for f in range(len(new.ends)):
            end = old.ends[f] if old.state == LEADER else UNKNOWN_END
            if new.state == LEADER and not leads_on(old, new) and new.ends[f] != end:
                return False
    return True


def isr_by_answer(before, after):
    """Within its epoch, a leader's ISR changes to what it has proposed once it learns that this is written. Until it
    learns that, or that it is refused, it proposes nothing else (Partition.handleAlterPartitionUpdate,
    handleAlterPartitionError).
    """
    for b in range(len(after.brokers)):
        old = before.brokers[b]
        new = after.brokers[b]
        alter = before.network.alters[b]
        if leads_on(old, new):
            if new.isr != old.isr and (alter.state != DONE or new.isr != old.pending):
                return False
            if new.pending != old.pending and not is_empty(old.pending):
                heard = alter.state == SENT or new.isr == old.pending
                if not heard or not is_empty(new.pending) or after.network.alters[b].state != NO_PROPOSAL:
                    return False
    return True


def proposes(before, after, b, follower):
    """A leader with nothing proposed proposes to add to its ISR a follower that has fetched in its leader epoch, and has
    reached its high watermark and the start of that epoch, or to remove one whose end differs from its own. Its ISR
    stays until that is written (Partition.maybeExpandIsr, maybeShrinkIsr, submitAlterPartition).
    """
    old = before.brokers[b]
    new = after.brokers[b]
    alter = after.network.alters[b]
    end = old.ends[follower]
    if old.state != LEADER or not is_empty(old.pending) or follower == b or new.isr != old.isr:
        return False
    if alter.state != SENT or alter.epoch != old.leader_epoch or alter.isr != new.pending or new.hw != old.hw:
        return False
    if contains(old.isr, follower):
        return new.pending == without_member(old.isr, follower) and end != old.log.length
    reached = contains(old.heard, follower) and end >= old.hw and end >= epoch_start(old)
    return new.pending == with_member(old.isr, follower) and reached


def proposal_is_written(before, after, sender):
    """The controller writes a proposed ISR of the present leader epoch, and answers so. It does not write one of an
    older epoch (KafkaController.processAlterPartition, FENCED_LEADER_EPOCH).
    """
    alter = before.network.alters[sender]
    if alter.state != SENT:
        return False
    if before.zk.leader != sender or before.zk.leader_epoch != alter.epoch:
        return after.zk.isr == before.zk.isr and after.network.alters[sender].state == SENT
    return after.zk.isr == alter.isr and after.network.alters[sender].state == DONE


def gives_up(old, new, sender):
    """Whether a leader is refused, keeps its ISR and its proposal, and sends no further request."""
    was = old.brokers[sender]
    leader = new.brokers[sender]
    refused = old.network.alters[sender].state == SENT and new.network.alters[sender].state == REFUSED
    return refused and leader.isr == was.isr and leader.pending == was.pending


def own_write_is_refused(before, after, sender):
    """If a leader's proposal is written but ZooKeeper's answer is lost, the leader is refused and sends no further
    request. It goes on with both ISRs (KafkaController.processAlterPartition, INVALID_UPDATE_VERSION).
    """
    written = after.zk.isr == before.network.alters[sender].isr
    return written and gives_up(before, after, sender)


def learns_what_is_written(before, after, b):
    """A leader that learns that its proposal is written adopts it as its ISR (Partition.handleAlterPartitionUpdate)."""
    written = before.network.alters[b].state == DONE and after.brokers[b].isr == before.brokers[b].pending
    return written and is_empty(after.brokers[b].pending)


def refusal_ends_proposal(before, after, b):
    """A leader whose new member is refused keeps its ISR, and no longer has a proposal
    (Partition.handleAlterPartitionError, INELIGIBLE_REPLICA).
    """
    old = before.brokers[b]
    refused = before.network.alters[b].state == SENT and after.brokers[b].isr == old.isr
    return refused and is_empty(after.brokers[b].pending) and not is_empty(difference(old.pending, old.isr))


ALWAYS = (
    always_step(epoch_with_leader),
    always_step(everybody_is_told),
    always_step(elects_from_isr, of=("elect_leader",)),
    always_step(elects_another, of=("elect_unclean",)),
    always_step(removes_replica, of=("remove_replica",)),
    always_step(request_stays),
)
ENDS = (always_step(keeps_known_ends),)
OBEYED = (always_step(obeys, of=("leader_and_isr",)),)
PROPOSALS = (
    always_step(isr_by_proposal),
    always_step(isr_by_answer),
    always_step(proposes, of=("expand_isr", "shrink_isr")),
    always_step(proposal_is_written, of=("alter_partition",)),
    always_step(own_write_is_refused, of=("lose_answer",)),
    always_step(learns_what_is_written, of=("learn_isr",)),
    always_step(refusal_ends_proposal, of=("learn_refusal",)),
)
