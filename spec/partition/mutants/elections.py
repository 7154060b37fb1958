"""Mutants of partitions: who is elected, who is told, and what a write of the ISR leaves alone."""

from kafkaproof.spec.kafka import strategies
from kafkaproof.spec.kafka.strategies import first_in, replicas_of
from kafkaproof.spec.kafka.zookeeper import EXPIRED, LOST_DROPPED, OK, Delivery, outcome
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, with_member
from kafkaproof.spec.partition import brokers, elections, isr, zookeeper
from kafkaproof.spec.partition.brokers import is_moved_away
from kafkaproof.spec.partition.context import CONTROLLED_SHUTDOWN, Broker, Partition, remember_leadership
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.mutants.partition_mutant import TWO, mutant, mutant_within
from kafkaproof.spec.partition.network import leaves, proposed_epoch
from kafkaproof.spec.partition.progress import at_work, proceed, take_offline
from kafkaproof.spec.partition.verdicts import NONE, SAME, alter_error
from kafkaproof.spec.partition.zookeeper import checked_set_state, put_state, session_open

THREE_REPLICAS = scope(brokers=3, replicas=3, epochs=1, leader_epochs=2)


def last_in(sequence, members):
    """The order of the assignment does not decide: who is last in it is elected."""
    found = NOBODY
    for i in range(sequence.length):
        if contains(members, sequence.slots[i]):
            found = sequence.slots[i]
    return found


def elect_a_leaver(assignment, isr, online_or_leaving, leaving):
    """A controlled shutdown elects whoever is in the ISR, brokers that are shutting down too."""
    return first_in(assignment, intersection(isr, online_or_leaving))


def keep_isr(isr, online, leader):
    """The ISR of an unclean election is what is left of the old one, without the new leader."""
    return intersection(isr, online)


def tell_the_isr(controller, partition):
    """Only the ISR is told of an election."""
    return intersection(partition.isr, controller.live)


def set_any_version(zk, b, p, epoch, leader, isr, leader_epoch, delivery):
    """A state is written whatever its version."""
    if not session_open(zk, b):
        return EXPIRED
    if delivery != LOST_DROPPED:
        put_state(zk, b, p, epoch, leader, isr, leader_epoch, delivery)
    return outcome(zk, OK, delivery)


def set_isr_of_any_version(zk, b, p, leader_epoch, isr):
    """A leader writes its ISR whatever the version of the state."""
    if not session_open(zk, b):
        return EXPIRED
    state = zk.partitions[p]
    state.leader = b
    state.isr = isr
    state.readers = 0
    zk.isr_changed = with_member(zk.isr_changed, p)
    return OK


def remove_first(s, b: Broker, leaver: Broker):
    """A controlled shutdown takes the broker out of the ISRs, and moves no leader before."""
    controller = s.brokers[b].controller
    if not at_work(controller) or not leaves(s.network, leaver) or not contains(controller.live, leaver):
        return False
    if contains(controller.leaving, leaver):
        return False

    controller.leaving = with_member(controller.leaving, leaver)
    controller.strategy = CONTROLLED_SHUTDOWN
    hosted = 0
    for p in range(len(controller.partitions)):
        if is_moved_away(controller, p, leaver):
            hosted = with_member(hosted, p)
    take_offline(controller, leaver, hosted)
    proceed(controller)
    return True


def may_propose(s, b, p, sender, proposed):
    """Whether a controller obeys a proposal of an ISR of replicas, whether or not the sender is in it."""
    controller = s.brokers[b].controller
    cached = controller.partitions[p]
    error = alter_error(controller, cached, sender, proposed_epoch(s.network, p, sender), proposed, SAME)
    return error == NONE and is_empty(difference(proposed, replicas_of(cached.assignment)))


def alter_without_sender(s, b: Broker, p: Partition, sender: Broker, isr: isr.Isr, delivery: Delivery):
    """A leader takes itself out of the ISR."""
    controller = s.brokers[b].controller
    cached = controller.partitions[p]
    if not may_propose(s, b, p, sender, isr) or isr == cached.isr or is_empty(isr):
        return False

    answer = checked_set_state(s.zk, b, p, controller.epoch, sender, isr, cached.leader_epoch, delivery)
    if answer == OK:
        remember_leadership(cached, sender, isr, cached.leader_epoch)
    return True


def alter_with_epoch(s, b, p, sender, isr, leader_epoch, delivery):
    """The controller writes the ISR that a leader proposes, and this leader epoch."""
    controller = s.brokers[b].controller
    cached = controller.partitions[p]
    if not may_propose(s, b, p, sender, isr) or isr == cached.isr or not contains(isr, sender):
        return False

    answer = checked_set_state(s.zk, b, p, controller.epoch, sender, isr, leader_epoch, delivery)
    if answer == OK:
        remember_leadership(cached, sender, isr, leader_epoch)
    return True


def alter_and_raise(s, b: Broker, p: Partition, sender: Broker, isr: isr.Isr, delivery: Delivery):
    """A change of the ISR raises the leader epoch."""
    known = s.brokers[b].controller.partitions[p].leader_epoch
    return alter_with_epoch(s, b, p, sender, isr, known + 1, delivery)


def alter_and_reset(s, b: Broker, p: Partition, sender: Broker, isr: isr.Isr, delivery: Delivery):
    """A change of the ISR begins to count leader epochs again."""
    return alter_with_epoch(s, b, p, sender, isr, 0, delivery)


MUTANTS = (
    mutant("last-of-the-isr", "strategy", {strategies.first_in: last_in}, THREE_REPLICAS),
    mutant("leaver-elected", "strategy", {strategies.controlled_shutdown_leader: elect_a_leaver}, TWO),
    mutant("removed-before-moved", "leaderless_for_a_reason", {brokers.controlled_shutdown: remove_first}),
    mutant("unclean-leader-outside", "leader_in_isr", {strategies.offline_isr: keep_isr}),
    mutant_within("isr-alone-told", "recipients", "write_leader", {elections.recipients: tell_the_isr}),
    mutant("leader-leaves-isr", "leader_in_isr", {isr.alter_partition: alter_without_sender}),
    mutant("proposal-raises-epoch", "raised_by_election", {isr.alter_partition: alter_and_raise}),
    mutant("proposal-resets-epoch", "epoch_step", {isr.alter_partition: alter_and_reset}),
)
LEGACY_MUTANTS = (
    mutant("state-unversioned", "clean", {zookeeper.set_state: set_any_version}),
    mutant("isr-unversioned", "isr_writer", {leader_zk.set_isr: set_isr_of_any_version}),
    mutant("former-leader-writes", "unique_leader", {leader_zk.set_isr: set_isr_of_any_version}),
)
"""Where nothing checks the epoch, versions alone keep leaders apart."""
