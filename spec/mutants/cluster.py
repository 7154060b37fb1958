"""Deliberate mistakes in the composed cluster: where the parts meet, and those of the parts once more."""

from dataclasses import replace

from spec.cluster import faults, zookeeper
from spec.language.model import first_paragraph
from spec.language.sets import without_member
from spec.mutants import partition, replica
from spec.mutants.mutant import Mutant, everywhere
from spec.replica import leader
from spec.replica.leader import Broker, may_change_isr
from spec.replica.network import drop_answer, propose

BESIDES = {"log": 1, "records": 1, "min_isr": 1}
SMALL = {"brokers": 2, "replicas": 2, "partitions": 1, "epochs": 1, "leader_epochs": 1, "faults": 1} | BESIDES
REIGNS = SMALL | {"epochs": 2, "leader_epochs": 2}


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


def mutant(name, kills, replacements, at=SMALL):
    """A mutant of `fenced`, told by the docstring of what replaces something."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


def once_more(part, names, at):
    """Mutants of a part, in the composed cluster."""
    return tuple(replace(m, scope=at) for m in part.MUTANTS if m.name in names)


OF_PARTITION = (
    "last-member-leaves", "epoch-kept", "epoch-used-twice", "unclean-unasked", "leaver-stays", "last-replica-leads",
    "nobody-elected-first", "leader-not-told", "assignments-unread",
)
IN_TWO_REIGNS = (
    "leader-outside-isr", "epoch-raised-twice", "watch-not-armed", "first-state-unchecked",
    "epoch-sent-before-written",
)
OF_REPLICA = ("counted-before-appended", "hw-by-shrunk-isr", "hw-without-max", "acknowledged-by-leader")
MUTANTS = (
    mutant("confirmed-from-an-old-cache", "isr_complete", {zookeeper.is_not_older: as_old_as_may_be}, REIGNS),
    mutant("isr-not-noted", "one_state", {zookeeper.note_state: note_leader}),
    mutant("role-kept", "leads_as_told", {faults.end_replica: keep_role}),
    mutant("leader-leaves-isr", "wishes_hold", {leader.shrink_isr: propose_without_self}),
)
MUTANTS += once_more(partition, OF_PARTITION, SMALL) + once_more(partition, IN_TWO_REIGNS, REIGNS)
MUTANTS += once_more(replica, OF_REPLICA, SMALL)
