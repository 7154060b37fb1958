"""Deliberate mistakes in the composed cluster: where the parts meet, and those of the parts once more."""

from dataclasses import replace

from kafkaproof.spec.cluster import faults, zookeeper
from kafkaproof.spec.cluster.model import scope
from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere
from kafkaproof.spec.language.sets import difference, everybody, is_empty, without_member
from kafkaproof.spec.partition import faults as partition_faults
from kafkaproof.spec.partition import replica as replica_requests
from kafkaproof.spec.partition.history.recordings import may_become_anything
from kafkaproof.spec.partition.mutants import partition
from kafkaproof.spec.replica import leader, network
from kafkaproof.spec.replica.broker import LEADER, follow, lead, rest
from kafkaproof.spec.replica.history.leaderless import obey_or_rest
from kafkaproof.spec.replica.leader import Broker, may_change_isr
from kafkaproof.spec.replica.mutants import replica
from kafkaproof.spec.replica.network import NO_MESSAGE, SENT, drop_answer, proposal_state, propose, withdraw
from kafkaproof.spec.replica.replica import obey
from kafkaproof.spec.replica.storage import NO_EPOCH

SMALL, TERMS = scope(epochs=1, leader_epochs=1), scope(leader_epochs=2)


def as_old_as_may_be(zk, b, p):
    """A controller says from its cache, however old, that the ISR is what a leader proposes."""
    return True


def note_leader(data, state):
    """The data plane is not told of a new ISR."""
    data.zk.leader = state.leader
    data.zk.leader_epoch = state.leader_epoch


def keep_role(data, b):
    """A process that ends leads on."""
    drop_answer(data.network, b)


def propose_without_self(s, b: Broker, follower: Broker):
    """A leader proposes an ISR without itself."""
    broker = s.brokers[b]
    if not may_change_isr(broker) or follower == b:
        return False

    propose(s.network, b, broker.leader_epoch, without_member(broker.isr, b))
    return True


def keep_proposal(data, b):
    """What a process has proposed still stands when it has ended."""
    rest(data.brokers[b], NO_EPOCH)
    drop_answer(data.network, b)


def tell_nothing(network, b):
    """A leader is not told that what it proposes is written."""
    pass


def tell_no_refusal(network, b):
    """A leader whose controller has an old version hears nothing, and asks again."""
    pass


def take_as_written(s, b: Broker):
    """A leader whose new member is refused takes its proposal for written."""
    broker = s.brokers[b]
    if broker.state != LEADER or proposal_state(s.network, b) != SENT:
        return False
    if is_empty(difference(broker.pending, broker.isr)):
        return False

    broker.isr = broker.pending
    broker.pending = 0
    withdraw(s.network, b)
    return True


def note_without_refusal(data, state):
    """A new leader epoch leaves proposals of older ones on their way."""
    data.zk.leader = state.leader
    data.zk.leader_epoch = state.leader_epoch
    data.zk.isr = state.isr


def allow_unclean(s):
    """An operator allows unclean elections again and again."""
    s.zk.unclean = 1
    return True


def highest_again(replica, hw):
    """A new process finds the high watermark that the former one had, whatever was checkpointed."""
    return replica.hw


def begin_with_former(broker, b, leader, epoch, isr):
    """A leader begins with everybody in its ISR, whatever the request says."""
    if leader == b:
        lead(broker, b, epoch, everybody(len(broker.ends)))
        return False
    follow(broker, leader, epoch)
    return True


def clear_kind(network, f):
    """A message that is gone leaves what it said."""
    network.messages[f].kind = NO_MESSAGE


OBEYS_ALL = {replica_requests.may_become: may_become_anything, obey: obey_or_rest}


def mutant(name, kills, replacements, at=SMALL):
    """A mutant of `fenced`, told by the docstring of what replaces something."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


def once_more(part, names, at):
    """Mutants of a part, in the composed cluster."""
    return tuple(replace(m, scope=at) for m in part.MUTANTS if m.name in names)


OF_PARTITION = (
    "last-member-leaves",
    "epoch-kept",
    "epoch-used-twice",
    "unclean-unasked",
    "leaver-stays",
    "last-replica-leads",
    "nobody-elected-first",
    "leader-not-told",
    "assignments-unread",
)
IN_TWO_TERMS = (
    "leader-outside-isr",
    "epoch-raised-twice",
    "watch-not-armed",
    "first-state-unchecked",
    "epoch-sent-before-written",
)
OF_REPLICA = ("counted-before-appended", "hw-by-shrunk-isr", "hw-without-max", "acknowledged-by-leader")
FENCED = (
    mutant("confirmed-from-an-old-cache", "isr_complete", {zookeeper.is_not_older: as_old_as_may_be}, TERMS),
    mutant("isr-not-noted", "one_state", {zookeeper.note_state: note_leader}),
    mutant("role-kept", "leads_as_told", {faults.end_replica: keep_role}),
    mutant("leader-leaves-isr", "proposals_hold", {leader.shrink_isr: propose_without_self}),
    mutant("proposal-outlives-process", "logs_outlive_process", {faults.end_replica: keep_proposal}),
    mutant("proposal-outlives-directory", "log_outlives_directory", {faults.end_replica: keep_proposal}),
    mutant("leader-untold", "written_is_granted", {network.grant: tell_nothing}),
    mutant("leader-untold-again", "known_is_granted", {network.grant: tell_nothing}, TERMS),
    mutant("asked-again", "stale_version_is_refused", {network.refuse: tell_no_refusal}),
    mutant("refused-taken", "ineligible_is_refused", {leader.learn_refusal: take_as_written}),
    mutant("rests-without-leader", "role_by_leader", OBEYS_ALL, TERMS),
    mutant("old-proposals-stay", "epoch_ends_proposals", {zookeeper.note_state: note_without_refusal}),
    mutant("allowed-again", "unclean_allowed_once", {partition_faults.allow_unclean: allow_unclean}),
    mutant("checkpoint-ignored", "restarts", {faults.checkpointed: highest_again}),
    mutant("isr-of-request-ignored", "obeys", {obey: begin_with_former}, TERMS),
    mutant("message-left", "nothing_left_over", {network.clear: clear_kind}),
)
FENCED += once_more(partition, OF_PARTITION, SMALL) + once_more(partition, IN_TWO_TERMS, TERMS)
FENCED += once_more(replica, OF_REPLICA, SMALL)
MUTANTS = {"fenced": FENCED}
