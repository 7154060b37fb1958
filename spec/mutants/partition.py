"""Mutants of partitions: one deliberate mistake each, on the variant `fenced`.

Mutations known for P1 to P12, C4, C9 and C12 to C15, as far as this system can express them. A mutant is not
held to the rules of writing a transition.
"""

from spec.language.domains import NOBODY
from spec.language.model import first_paragraph
from spec.language.sets import contains, difference, intersection, is_empty, without_member
from spec.mutants.mutant import Mutant, everywhere, within
from spec.partition import context, isr, machines, network, replica, strategies, zookeeper
from spec.partition.context import (
    IDLE, NO_EPOCH, OFFLINE, WRITING_LEADER, Broker, Partition, end_election, forget, online, remember_leadership,
)
from spec.partition.legal import ONLINE_PARTITION, ONLINE_REPLICA
from spec.partition.network import put_request, wish
from spec.partition.strategies import first_in, replicas_of
from spec.partition.zookeeper import NONE, checked_set_state, create_state, delete_preferred, session_open, set_state
from spec.zookeeper import EXPIRED, FENCED, OK, Fate


def keep_leader(leader, replica):
    """A leader that goes offline leaves the ISR, and is named on."""
    return leader


def every_live_broker(assignment, live):
    """The first ISR is of all live brokers, assigned or not."""
    return live


def empty_isr(isr, replica):
    """The last member leaves the ISR like any other."""
    return without_member(isr, replica)


def create_unchecked(zk, b, p, epoch, leader, isr, fate):
    """The first state created without the check of the epoch."""
    return create_state(zk, b, p, epoch, leader, isr, fate)


def set_unchecked(zk, b, p, epoch, leader, isr, leader_epoch, fate):
    """A state written without the check of the epoch."""
    return set_state(zk, b, p, epoch, leader, isr, leader_epoch, fate)


def delete_unchecked(zk, b, epoch, fate):
    """The request for preferred leaders deleted without the check of the epoch."""
    return delete_preferred(zk, b, epoch, fate)


def raise_twice(result, leader, isr):
    """An election raises the leader epoch by two."""
    result.leader = leader
    result.isr = isr
    result.leader_epoch += 2
    result.unclean = 0


def keep_epoch(result, leader, isr):
    """An election keeps the leader epoch."""
    result.leader = leader
    result.isr = isr
    result.unclean = 0


def any_live_leader(assignment, isr, live, unclean):
    """The offline election takes any live replica."""
    return first_in(assignment, live)


def tell_before_writing(s, b: Broker, p: Partition):
    """A controller tells the brokers of an election before it has written it."""
    controller = s.brokers[b].controller
    if controller.doing != WRITING_LEADER or not contains(controller.todo, p):
        return False

    put_request(s.network, controller.epoch, p, controller.result.leader, controller.result.leader_epoch, controller.live)
    return True


def obey_any(broker, epoch):
    """A broker obeys whatever it is sent, whatever the epochs."""
    return False


def any_epoch(replica, leader_epoch):
    """A broker obeys whatever it is sent, whatever the epochs."""
    return leader_epoch != replica.leader_epoch


def accept_any(controller, partition, sender, leader_epoch):
    """A wish for an ISR is obeyed whatever the leader epoch in it."""
    return contains(controller.live, sender) and leader_epoch >= 0 and partition.leader_epoch >= 0


def alter_uncompared(s, b: Broker, p: Partition, sender: Broker, isr: isr.Isr, fate: Fate):
    """A wish for an ISR is obeyed whatever the leader epoch in it."""
    broker = s.brokers[b]
    cached = broker.controller.partitions[p]
    if broker.controller.epoch == 0 or broker.controller.doing != IDLE or wish(s.network, p, sender) == NO_EPOCH:
        return False
    if cached.leader_epoch == NO_EPOCH or not contains(isr, sender) or not is_empty(difference(isr, online(broker.controller))):
        return False

    epoch = broker.controller.epoch
    answer = checked_set_state(s.zk, b, p, epoch, sender, isr, cached.leader_epoch, fate)
    if answer == OK:
        remember_leadership(cached, sender, isr, cached.leader_epoch)
    elif answer == FENCED or answer == EXPIRED:
        forget(broker.controller)
    return True


def preferred_or_next(assignment, isr, live):
    """A preferred election falls through to the next replica."""
    return first_in(assignment, intersection(isr, live))


def leaver_stays(isr, leaving):
    """A broker that is shutting down stays in the new ISR."""
    return isr


def last_online(assignment, live):
    """A new partition is led by the last online replica."""
    leader = NOBODY
    for i in range(assignment.length):
        if contains(live, assignment.slots[i]):
            leader = assignment.slots[i]
    return leader


def trigger_nothing(controller):
    """A broker's failure takes its replicas out of the ISRs, and elects nobody first."""
    controller.strategy = OFFLINE
    controller.todo = 0


def put_later_request(network, epoch, p, leader, leader_epoch, to):
    """A controller sends the epoch after its own."""
    put_request(network, epoch + 1, p, leader, leader_epoch, to)


def list_without_watch(zk, b, reader):
    """/brokers/ids is listed without a new watch."""
    if not session_open(zk, b):
        return EXPIRED
    client = zk.clients[b]
    client.watch = NONE
    reader.joined = difference(zk.registered, reader.live)
    reader.gone = difference(reader.live, zk.registered)
    reader.bounced = difference(intersection(reader.live, zk.registered), client.seen)
    client.seen = zk.registered
    return OK


def start_live_replicas(broker):
    """A new controller puts no state to the replicas of dead brokers, and takes them offline from there."""
    controller = broker.controller
    for partition in controller.partitions:
        for r in range(len(partition.replicas)):
            if contains(intersection(replicas_of(broker.assignment), online(controller)), r):
                partition.replicas[r] = ONLINE_REPLICA
    controller.replicas = difference(replicas_of(broker.assignment), controller.live)
    controller.starting = 1


def end_as_online(controller, p):
    """A partition is Online although its election has failed."""
    controller.partitions[p].state = ONLINE_PARTITION
    end_election(controller, p)


def followers_only(broker):
    """The new leader is not told."""
    return without_member(intersection(replicas_of(broker.assignment), online(broker.controller)), broker.controller.result.leader)


def everyone_live(broker, r):
    """The replica that goes offline is told with the others."""
    return intersection(replicas_of(broker.assignment), broker.controller.live)


def scope(brokers, replicas, epochs, leader_epochs, faults):
    """A scope of one partition."""
    return {"brokers": brokers, "replicas": replicas, "partitions": 1, "epochs": epochs,
            "leader_epochs": leader_epochs, "faults": faults}


CALM, ONE, TWO = scope(2, 2, 1, 2, 0), scope(2, 2, 2, 2, 1), scope(2, 2, 2, 3, 2)
SPARE, EARLY = scope(3, 2, 1, 1, 0), scope(2, 2, 2, 2, 0)


def mutant(name, kills, replacements, at=ONE):
    """A mutant of `fenced`, told by the docstring of what replaces something."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


def mutant_within(name, kills, transition, replacements, at=ONE):
    """The same, in one transition alone."""
    told = first_paragraph(next(iter(replacements.values())))
    return Mutant(name, told, kills, within(transition, replacements), at)


UNRAISED = {machines.prepare: keep_epoch}
UNCHECKED = {zookeeper.checked_create_state: create_unchecked}
UNCHECKED_REQUEST = {zookeeper.checked_delete_preferred: delete_unchecked}
FALL_THROUGH = {strategies.preferred_leader: preferred_or_next}

MUTANTS = (
    mutant("leader-outside-isr", "leader_in_isr", {strategies.leader_after_removal: keep_leader}),
    mutant("isr-of-anybody", "isr_assigned", {strategies.new_topic_isr: every_live_broker}, SPARE),
    mutant("last-member-leaves", "isr_not_empty", {strategies.isr_after_removal: empty_isr}),
    mutant("first-state-unchecked", "no_stale_write", UNCHECKED),
    mutant("state-unchecked", "no_stale_write", {zookeeper.checked_set_state: set_unchecked}, TWO),
    mutant("request-unchecked", "no_stale_delete", UNCHECKED_REQUEST, TWO),
    mutant("epoch-raised-twice", "epoch_step", {machines.prepare: raise_twice}),
    mutant("wish-uncompared", "epoch_step", {isr.is_accepted: accept_any}),
    mutant("epoch-kept", "leader_raises_epoch", UNRAISED),
    mutant("epoch-used-twice", "unique_leader", UNRAISED),
    mutant("unclean-unasked", "clean", {strategies.offline_leader: any_live_leader}),
    mutant("told-before-written", "local_epoch", {machines.write_leader: tell_before_writing}),
    mutant("epochs-uncompared", "local_epoch_never_falls", {replica.is_stale: obey_any, replica.is_news: any_epoch}, TWO),
    mutant("wish-of-a-former-leader", "isr_writer", {isr.alter_partition: alter_uncompared}),
    mutant("preferred-falls-through", "strategy", FALL_THROUGH, TWO),
    mutant("leaver-stays", "strategy", {strategies.controlled_shutdown_isr: leaver_stays}),
    mutant("last-replica-leads", "first_state", {strategies.new_topic_leader: last_online}, CALM),
    mutant_within("nobody-elected-first", "leaderless_for_a_reason", "broker_failure", {context.trigger_online: trigger_nothing}),
    mutant("rebalanced-elsewhere", "rebalanced", FALL_THROUGH, TWO),
    mutant("epoch-sent-before-written", "epoch_bound", {network.put_request: put_later_request}, EARLY),
    mutant("watch-not-armed", "context_is_zookeeper", {zookeeper.list_brokers: list_without_watch}),
    mutant("dead-replicas-without-state", "legal_moves", {context.start_replicas: start_live_replicas}, TWO),
    mutant_within("online-without-leader", "online_has_leader", "read_for_election", {context.end_election: end_as_online}),
    mutant_within("leader-not-told", "recipients", "write_leader", {machines.recipients: followers_only}),
    mutant("leaver-told", "removal_recipients", {machines.others: everyone_live}),
)
