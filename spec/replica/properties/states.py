"""What the state of a broker, a message or a client may be in the replica system, and that nothing is left over.

These properties are about single parts of a state, while D1 to D8 are about records. Kafka's source is that of 3.9.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always
from kafkaproof.spec.language.sets import contains, is_empty, without_member
from kafkaproof.spec.replica.broker import LEADER, NONE, UNKNOWN_END
from kafkaproof.spec.replica.network import DIVERGING, DONE, END, NO_MESSAGE, NO_PROPOSAL, NO_RECORD, RECORD, REFUSED
from kafkaproof.spec.replica.properties.safety import leads_by_right
from kafkaproof.spec.replica.storage import NO_EPOCH


def role_by_leader(s):
    """A broker leads if its LeaderAndIsr names it, and follows if that names another. A new process does neither before
    it gets one (ReplicaManager.becomeLeaderOrFollower).
    """
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        if (broker.state == LEADER) != (broker.leader == b) or (broker.state == NONE) != (broker.leader == NOBODY):
            return False
        if (broker.state == NONE) != (broker.leader_epoch == NO_EPOCH):
            return False
    return True


def only_leaders_lead(s):
    """Only a leader has an ISR, a proposal, ends of followers, and producers that wait for it; of whom it has heard in its
    leader epoch it knows the end (Partition.makeFollower, ReplicaManager.completeDelayedOperationsWhenNotPartitionLeader).
    """
    for broker in s.brokers:
        if broker.state != LEADER:
            if not is_empty(broker.isr) or not is_empty(broker.pending) or not is_empty(broker.waiting):
                return False
        for f in range(len(broker.ends)):
            if broker.state != LEADER and broker.ends[f] != UNKNOWN_END:
                return False
            if contains(broker.heard, f) and broker.ends[f] == UNKNOWN_END:
                return False
    return True


def leader_in_isr(s):
    """A leader is in its ISR and in the one that it proposes, and the leader in ZooKeeper is in the ISR there (P1),
    which is never empty (ReplicaStateMachine.doRemoveReplicasFromIsr).
    """
    if is_empty(s.zk.isr) or s.zk.leader != NOBODY and not contains(s.zk.isr, s.zk.leader):
        return False
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        if broker.state == LEADER:
            if not contains(broker.isr, b) or not is_empty(broker.pending) and not contains(broker.pending, b):
                return False
    return True


def isr_is_known(s):
    """The leader by right has the ISR that is in ZooKeeper, or has proposed it and not received the answer, or was
    refused because of the version that its own write made (Partition.handleAlterPartitionUpdate,
    handleAlterPartitionError).
    """
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        if leads_by_right(s, b) and s.zk.isr != broker.isr:
            state = s.network.alters[b].state
            if s.zk.isr != broker.pending or state != DONE and state != REFUSED:
                return False
    return True


def proposal_is_pending(s):
    """AlterPartition carries its leader's epoch and the ISR that it has proposed. While it leads by right, its proposal
    is in flight, answered or refused (Partition.submitAlterPartition).
    """
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        alter = s.network.alters[b]
        if broker.state == LEADER and alter.state != NO_PROPOSAL:
            if alter.epoch != broker.leader_epoch or alter.isr != broker.pending or is_empty(alter.isr):
                return False
        if leads_by_right(s, b) and alter.state == NO_PROPOSAL and not is_empty(broker.pending):
            return False
    return True


def requests_are_news(s):
    """LeaderAndIsr in flight has a leader epoch that was written, the leader of that epoch, and a higher epoch than its
    receiver. It holds the ISR for as long as that leader has not read it (ControllerBrokerRequestBatch).
    """
    for e in range(len(s.network.requests)):
        request = s.network.requests[e]
        if not is_empty(request.to):
            if e > s.zk.leader_epoch or e == s.zk.leader_epoch and request.leader != s.zk.leader:
                return False
            if contains(request.to, request.leader) != contains(request.isr, request.leader):
                return False
        for b in range(len(s.brokers)):
            if contains(request.to, b) and e <= s.brokers[b].leader_epoch:
                return False
    return True


def follower_asks(s):
    """A follower has sent a request, or an answer is in flight to it (AbstractFetcherThread.doWork)."""
    for f in range(len(s.brokers)):
        broker = s.brokers[f]
        if broker.state != NONE and broker.state != LEADER and s.network.messages[f].kind == NO_MESSAGE:
            return False
    return True


def is_whole(network):
    """Whether each fetch, answer and proposal has the fields of its kind, and no others."""
    for message in network.messages:
        is_answer = message.kind == RECORD or message.kind == NO_RECORD
        if message.kind == NO_MESSAGE and message.peer + message.epoch + message.offset + message.last != 0:
            return False
        if message.id != 0 and message.kind != RECORD or message.hw != 0 and not is_answer:
            return False
        if message.end != 0 and message.kind != DIVERGING and message.kind != END:
            return False
    for alter in network.alters:
        if alter.state == NO_PROPOSAL and (alter.epoch != 0 or not is_empty(alter.isr)):
            return False
    return True


def nothing_left_over(s):
    """A message has the fields of its kind, and no others. An absent one has none."""
    for request in s.network.requests:
        if is_empty(request.to) and not is_empty(request.isr):
            return False
    return is_whole(s.network)


def below_hw_is_committed(s):
    """What is below the high watermark of the leader by right is committed, unless its election was unclean."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        for i in range(len(broker.log.slots)):
            if s.zk.unclean == 0 and leads_by_right(s, b) and i < broker.hw:
                if s.clients.places[i].ghosts.committed != broker.log.slots[i].id + 1:
                    return False
    return True


def waits_for_hw(s):
    """Producers wait only for records that their leader has and its high watermark has not passed (DelayedProduce)."""
    for broker in s.brokers:
        left = broker.waiting
        for i in range(len(broker.log.slots)):
            if i < broker.log.length:
                id = broker.log.slots[i].id
                if i < broker.hw and contains(broker.waiting, id):
                    return False
                left = without_member(left, id)
        if not is_empty(left):
            return False
    return True


def read_up_to_position(s):
    """The consumer has a record at each offset below its position, and at no other."""
    for i in range(len(s.clients.places)):
        if (s.clients.places[i].ghosts.read != 0) != (i < s.clients.position):
            return False
    return True


STATES = (
    always(role_by_leader),
    always(only_leaders_lead),
    always(leader_in_isr),
    always(requests_are_news),
    always(follower_asks),
    always(nothing_left_over),
    always(below_hw_is_committed),
    always(waits_for_hw),
    always(read_up_to_position),
    always(isr_is_known),
)
PROPOSALS = (always(proposal_is_pending),)
