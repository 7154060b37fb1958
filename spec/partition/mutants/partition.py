"""Mutants of partitions: one deliberate mistake each, on the variant `fenced`.

Mutations known for P1 to P12, C4, C9 and C12 to C17, as far as this system can express them; those of triggers,
log directories and the deletion of the topic are in `triggers`. A mutant is not held to the rules of
writing a transition.
"""

from kafkaproof.spec.kafka import strategies
from kafkaproof.spec.kafka.state_machines import NEW_PARTITION, OFFLINE_PARTITION, ONLINE_PARTITION, ONLINE_REPLICA
from kafkaproof.spec.kafka.strategies import first_in, replicas_of
from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, OK, Delivery
from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, within
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, without_member
from kafkaproof.spec.partition import elections, isr, machines, network, progress, replica, rounds, verdicts, zookeeper
from kafkaproof.spec.partition.context import (
    IDLE,
    NO_EPOCH,
    OFFLINE,
    WRITING_LEADER,
    Broker,
    Partition,
    alive,
    forget,
    has_leader,
    is_known,
    remember_leadership,
)
from kafkaproof.spec.partition.mutants import elections as partition_elections
from kafkaproof.spec.partition.mutants import failovers
from kafkaproof.spec.partition.mutants import triggers as partition_triggers
from kafkaproof.spec.partition.mutants.elections import last_in
from kafkaproof.spec.partition.mutants.partition_mutant import CALM, EARLY, ONE, SPARE, TWO, mutant, mutant_within
from kafkaproof.spec.partition.network import proposed_epoch, put_request
from kafkaproof.spec.partition.progress import hosts
from kafkaproof.spec.partition.rounds import end_election
from kafkaproof.spec.partition.verdicts import FENCED_LEADER_EPOCH
from kafkaproof.spec.partition.verdicts import NONE as ACCEPTED
from kafkaproof.spec.partition.znodes import ARMED, NONE
from kafkaproof.spec.partition.zookeeper import (
    checked_set_state,
    create_state,
    get_state,
    list_brokers,
    load_partition,
    session_open,
    set_state,
)


def keep_leader(leader, replica):
    """A leader that goes offline leaves the ISR, and is named on."""
    return leader


def every_live_broker(assignment, live):
    """The first ISR is of all live brokers, assigned or not."""
    return live


def empty_isr(isr, replica):
    """The last member leaves the ISR like any other."""
    return without_member(isr, replica)


def create_unchecked(zk, b, p, epoch, leader, isr, delivery):
    """The first state created without the check of the epoch."""
    return create_state(zk, b, p, epoch, leader, isr, delivery)


def set_unchecked(zk, b, p, epoch, leader, isr, leader_epoch, delivery):
    """A state written without the check of the epoch."""
    return set_state(zk, b, p, epoch, leader, isr, leader_epoch, delivery)


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


def tell_before_writing(s, b: Broker, p: Partition, delivery: Delivery):
    """A controller tells the brokers of an election before it has written it."""
    controller = s.brokers[b].controller
    if controller.doing != WRITING_LEADER or not contains(controller.todo, p):
        return False

    result = controller.result
    put_request(s.network, controller.epoch, p, result.leader, result.leader_epoch, result.isr, controller.live)
    return True


def obey_any(broker, epoch):
    """A broker obeys whatever it is sent, whatever the epochs."""
    return False


def any_epoch(replica, leader_epoch):
    """A broker obeys whatever it is sent, whatever the epochs."""
    return leader_epoch != replica.leader_epoch


def accept_any(partition, leader_epoch, version):
    """A proposal of an ISR is obeyed whatever the leader epoch in it."""
    return FENCED_LEADER_EPOCH if leader_epoch < 0 else ACCEPTED


def alter_uncompared(s, b: Broker, p: Partition, sender: Broker, isr: isr.Isr, delivery: Delivery):
    """A proposal of an ISR is obeyed whatever the leader epoch in it."""
    broker = s.brokers[b]
    cached = broker.controller.partitions[p]
    if (
        broker.controller.epoch == 0
        or broker.controller.doing != IDLE
        or proposed_epoch(s.network, p, sender) == NO_EPOCH
    ):
        return False
    if cached.leader_epoch == NO_EPOCH or not contains(isr, sender):
        return False
    if not is_empty(difference(isr, alive(broker.controller))):
        return False

    epoch = broker.controller.epoch
    answer = checked_set_state(s.zk, b, p, epoch, sender, isr, cached.leader_epoch, delivery)
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
    return last_in(assignment, live)


def trigger_nothing(controller):
    """A broker's failure takes its replicas out of the ISRs, and elects nobody first."""
    controller.strategy = OFFLINE
    controller.todo = 0


def put_later_request(network, epoch, p, leader, leader_epoch, isr, to):
    """A controller sends the epoch after its own."""
    put_request(network, epoch + 1, p, leader, leader_epoch, isr, to)


def list_without_watch(zk, b, reader):
    """/brokers/ids is listed without a new watch."""
    answer = list_brokers(zk, b, reader)
    if zk.clients[b].watch == ARMED:
        zk.clients[b].watch = NONE
    return answer


def list_of_an_earlier_event(zk, b, reader):
    """A change of /brokers/ids is handled with the list that an earlier event has brought."""
    earlier = zk.clients[b].seen
    answer = list_brokers(zk, b, reader)
    if answer == OK:
        reader.joined = difference(earlier, reader.live)
        reader.gone = difference(reader.live, earlier)
        reader.bounced = 0
    return answer


def load_and_arm(zk, b, p, partition, reader):
    """A new controller reads /brokers/ids first, and arms its watch when it reads the states."""
    if session_open(zk, b):
        zk.clients[b].watch = ARMED
    return load_partition(zk, b, p, partition, reader)


def read_before_arming(model):
    """The mutation: the list of brokers is read in one step, and watched from the next on."""
    unwatched = within("load_brokers", {zookeeper.list_brokers: list_without_watch})(model)
    return within("load_state", {zookeeper.load_partition: load_and_arm})(unwatched)


def leave_unassigned(zk, b, p, partition, reader):
    """A new controller does not read the assignments."""
    return get_state(zk, b, p, reader)


def start_live_replicas(controller):
    """A new controller puts no state to the replicas of dead brokers, and takes them offline from there."""
    for partition in controller.partitions:
        for r in range(len(partition.replicas)):
            if contains(intersection(replicas_of(partition.assignment), alive(controller)), r):
                partition.replicas[r] = ONLINE_REPLICA
    controller.replicas = difference(hosts(controller), controller.live)
    controller.starting = 1


def start_without_elections(controller):
    """The partition state machine starts up, and triggers no elections."""
    for partition in controller.partitions:
        if not is_known(partition):
            partition.state = NEW_PARTITION
        else:
            partition.state = ONLINE_PARTITION if has_leader(controller, partition) else OFFLINE_PARTITION
    controller.starting = 0


def end_as_online(controller, p):
    """A partition is Online although its election has failed."""
    controller.partitions[p].state = ONLINE_PARTITION
    end_election(controller, p)


def followers_only(controller, partition):
    """The new leader is not told."""
    return without_member(intersection(replicas_of(partition.assignment), alive(controller)), partition.leader)


def everyone_live(controller, partition, r):
    """The replica that goes offline is told with the others."""
    return intersection(replicas_of(partition.assignment), controller.live)


UNCOMPARED = {replica.is_stale: obey_any, replica.is_news: any_epoch}
UNTRIGGERED = {progress.trigger_online: trigger_nothing}
AS_ONLINE = {rounds.end_election: end_as_online}
UNRAISED = {machines.prepare: keep_epoch}
UNCHECKED = {zookeeper.checked_create_state: create_unchecked}
FALL_THROUGH = {strategies.preferred_leader: preferred_or_next}

MUTANTS = (
    (
        mutant("leader-outside-isr", "leader_in_isr", {strategies.leader_after_removal: keep_leader}),
        mutant("isr-of-anybody", "isr_assigned", {strategies.new_topic_isr: every_live_broker}, SPARE),
        mutant("last-member-leaves", "isr_not_empty", {strategies.isr_after_removal: empty_isr}),
        mutant("first-state-unchecked", "no_stale_write", UNCHECKED),
        mutant("state-unchecked", "no_stale_write", {zookeeper.checked_set_state: set_unchecked}, TWO),
        mutant("epoch-raised-twice", "epoch_step", {machines.prepare: raise_twice}),
        mutant("proposal-uncompared", "epoch_step", {verdicts.leadership_error: accept_any}),
        mutant("epoch-kept", "leader_raises_epoch", UNRAISED),
        mutant("epoch-used-twice", "unique_leader", UNRAISED),
        mutant("unclean-unasked", "clean", {strategies.offline_leader: any_live_leader}),
        mutant("told-before-written", "local_epoch", {machines.write_leader: tell_before_writing}),
        mutant("epochs-uncompared", "local_epoch_never_falls", UNCOMPARED, TWO),
        mutant("proposal-of-a-former-leader", "isr_writer", {isr.alter_partition: alter_uncompared}),
        mutant("preferred-falls-through", "strategy", FALL_THROUGH, TWO),
        mutant("leaver-stays", "strategy", {strategies.controlled_shutdown_isr: leaver_stays}),
        mutant("last-replica-leads", "first_state", {strategies.new_topic_leader: last_online}, CALM),
        mutant_within("nobody-elected-first", "leaderless_for_a_reason", "broker_failure", UNTRIGGERED),
        mutant("rebalanced-elsewhere", "rebalanced", FALL_THROUGH, TWO),
        mutant("epoch-sent-before-written", "epoch_bound", {network.put_request: put_later_request}, EARLY),
        mutant("watch-not-armed", "context_is_zookeeper", {zookeeper.list_brokers: list_without_watch}),
        mutant("dead-replicas-without-state", "legal_moves", {progress.start_replicas: start_live_replicas}, TWO),
        mutant_within(
            "earlier-list", "context_is_zookeeper", "broker_change", {zookeeper.list_brokers: list_of_an_earlier_event}
        ),
        Mutant("armed-after-reading", first_paragraph(load_and_arm), "context_is_zookeeper", read_before_arming, ONE),
        mutant_within("online-without-leader", "online_has_leader", "read_for_election", AS_ONLINE),
        mutant_within("leader-not-told", "recipients", "write_leader", {elections.recipients: followers_only}),
        mutant("leaver-told", "removal_recipients", {elections.told_of_removal: everyone_live}),
        mutant("assignments-unread", "context_is_zookeeper", {zookeeper.load_partition: leave_unassigned}, CALM),
        mutant(
            "started-without-elections", "led_if_possible", {progress.start_partitions: start_without_elections}, CALM
        ),
    )
    + failovers.MUTANTS
    + partition_elections.MUTANTS
    + partition_triggers.MUTANTS
)
