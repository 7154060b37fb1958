"""Mutants of UpdateMetadata: who is not told, what is told wrongly, and what a broker does with it."""

from dataclasses import replace

from kafkaproof.spec.election import requests
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant
from kafkaproof.spec.language.sets import difference, intersection, only, union
from kafkaproof.spec.partition import isr, replica, telling
from kafkaproof.spec.partition.context import NO_EPOCH, Broker, alive
from kafkaproof.spec.partition.deletion import deletion
from kafkaproof.spec.partition.history import updates
from kafkaproof.spec.partition.history.recordings import may_become_anything
from kafkaproof.spec.partition.metadata import cache, network
from kafkaproof.spec.partition.metadata.cache import begin, forget_cached
from kafkaproof.spec.partition.metadata.network import drop_others, put_halt, put_update, take_update, update_arrives
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.mutants.partition_mutant import CALM, mutant, mutant_within
from kafkaproof.spec.partition.replica import Epoch
from kafkaproof.spec.partition.telling import send_leadership, tell_brokers, tell_partition
from kafkaproof.spec.partition.zookeeper import known_as_they_are

TWO_TERMS = scope(leader_epochs=2)
SMALL, LEADS = scope(replicas=1, epochs=1, leader_epochs=1), scope(epochs=1, leader_epochs=2)
ONE_FAULT = scope(epochs=1, leader_epochs=2)
UNLED = scope(brokers=3, replicas=1, epochs=1, leader_epochs=1, faults=2)


def know_all(broker, leader):
    """A broker follows a leader whether it was told that it is alive or not."""
    return True


def tell_nobody(s, b, to):
    """A new controller tells nobody who is live."""
    return 0


def tell_replicas_alone(s, b, p, to):
    """Only replicas are told of an election."""
    send_leadership(s, b, p, to)
    controller = s.brokers[b].controller
    tell_partition(s, b, p, intersection(replicas_of(controller.partitions[p].assignment), controller.live))


def tell_those_who_stay(s, b, p, to):
    """A broker that is shutting down is told of no election."""
    send_leadership(s, b, p, to)
    tell_partition(s, b, p, alive(s.brokers[b].controller))


def tell_started_alone(s, b, p, to):
    """When replicas are started only their brokers are told who leads."""
    send_leadership(s, b, p, to)
    tell_partition(s, b, p, to)


def tell_others_alone(s, b, joined):
    """A broker that comes is told nothing."""
    tell_brokers(s, b, difference(s.brokers[b].controller.live, joined))


def tell_who_lives(s, b, joined):
    """A broker that comes is told who is live, and not who leads."""
    tell_brokers(s, b, s.brokers[b].controller.live)


def tell_joined_alone(s, b, joined):
    """When a broker comes the others are not told."""
    for p in range(len(s.brokers[b].controller.partitions)):
        tell_partition(s, b, p, joined)
    tell_brokers(s, b, joined)


def tell_no_failure(controller, dead):
    """That a broker without replicas is dead is told to nobody."""
    return False


def tell_no_change(s, b, p, to):
    """Nobody is told of a changed ISR."""
    return 0


def tell_if_written(s, b, p, answer):
    """Nobody is told of an ISR that is not written."""
    return 0


def tell_the_next(net, epoch, p, leader, leader_epoch, isr, alive, to):
    """What is told is a leader epoch ahead of what was written."""
    put_update(net, epoch, p, leader, leader_epoch + 1, isr, alive, to)


def obey_all(broker, epoch):
    """A broker takes what a deposed controller tells."""
    return False


def fetch_on(s, b, p, r):
    """A replica that goes offline is not told to fetch no more."""
    return 0


def fetch_out_of_isr(s, b, p, r):
    """A replica that goes offline, and is not in the ISR, is not told to fetch no more."""
    return 0


def fetch_while_leaving(s, b, p, r):
    """A broker that is shutting down is not told to fetch no more before the ISR is written."""
    return 0


def stop_in_any_epoch(s, b, p, r):
    """StopReplica without delete carries no leader epoch."""
    controller = s.brokers[b].controller
    to = known_as_they_are(s.zk, b, intersection(only(r), controller.live))
    put_halt(s.network, controller.epoch, p, NO_EPOCH, to)


def tell_no_topic(s, b, partitions):
    """Nobody is told that a topic is deleted."""
    return 0


def lead_though_queued(controller, p):
    """That a topic is queued for deletion is not looked at when brokers are told."""
    return False


def learn_nothing_but_epoch(s, b: Broker, epoch: Epoch):
    """Of UpdateMetadata a broker keeps the controller epoch alone."""
    if not s.brokers[b].up or not update_arrives(s.network, epoch, b):
        return False

    if epoch >= s.brokers[b].seen_epoch:
        s.brokers[b].seen_epoch = epoch
    take_update(s.network, epoch, b)
    return True


def untold(name, transition, replacements, at, kills="metadata_converges"):
    """A mutant of one transition, in which functions are replaced of which it calls copies."""

    def mutate(model):
        changed = model.rebound(replacements).transition(transition)
        return replace(
            model, transitions=tuple(changed if t.function.__name__ == transition else t for t in model.transitions)
        )

    told = first_paragraph(next(iter(replacements.values())))
    return Mutant(name, told, kills, mutate, at)


def tell_whoever_waits(net, epoch, p, leader, leader_epoch, isr, alive, to):
    """Whoever waits for an older UpdateMetadata is told what is newer, also if he is dead."""
    waiting = net.updates[epoch][p].to
    put_update(net, epoch, p, leader, leader_epoch, isr, alive, to)
    net.updates[epoch][p].to = union(net.updates[epoch][p].to, waiting)


def drop_leadership_alone(net, b):
    """A new process is told what its predecessor was to be told."""
    drop_others(net, b)


def take_nothing(net, epoch, b):
    """UpdateMetadata is taken again and again."""
    pass


def stop_again(net, epoch, p, b):
    """StopReplica without delete is taken again and again."""
    pass


def remember_the_live(broker):
    """A process that starts again remembers who was live."""
    begin(broker)
    for cached in broker.metadata.partitions:
        forget_cached(cached)


MUTANTS = (
    mutant("dead-told", "told_by_context", {network.put_update: tell_whoever_waits}, ONE_FAULT),
    mutant("told-after-death", "requests_end_with_process", {network.drop_requests: drop_leadership_alone}, ONE_FAULT),
    mutant_within("told-again", "update_taken_once", "update_metadata", {network.take_update: take_nothing}, CALM),
    mutant_within("stopped-again", "halt_taken_once", "halt_replica", {network.take_halt: stop_again}, ONE_FAULT),
    mutant("live-remembered", "metadata_ends_with_process", {cache.start_process: remember_the_live}, ONE_FAULT),
    untold("start-untold", "load_state", {telling.tell_brokers: tell_nobody}, SMALL),
    mutant("replicas-told", "metadata_converges", {telling.tell_leadership: tell_replicas_alone}, SMALL),
    mutant("leaving-untold", "metadata_converges", {telling.tell_leadership: tell_those_who_stay}, LEADS),
    mutant("newcomer-untold", "metadata_converges", {telling.tell_newcomers: tell_others_alone}, SMALL),
    mutant("newcomer-told-no-leader", "metadata_converges", {telling.tell_newcomers: tell_who_lives}, SMALL),
    mutant("others-untold", "metadata_converges", {telling.tell_newcomers: tell_joined_alone}, SMALL),
    mutant("failure-untold", "metadata_converges", {telling.is_failure_told: tell_no_failure}, SMALL),
    mutant("untold-while-unled", "metadata_converges", {telling.is_failure_told: updates.is_no_leader_missing}, UNLED),
    untold("isr-untold", "alter_partition", {telling.tell_partition: tell_no_change}, LEADS),
    mutant("refused-untold", "told_when_refused", {isr.answer_leader: tell_if_written}, CALM),
    untold("unwritten-untold", "alter_partition", {isr.answer_leader: tell_if_written}, TWO_TERMS, "told_when_altered"),
    mutant("learns-nothing", "metadata_converges", {cache.update_metadata: learn_nothing_but_epoch}, CALM),
    mutant("told-ahead", "told_as_written", {network.put_update: tell_the_next}, CALM),
    mutant_within("deposed-obeyed", "deposed_tells_nothing", "update_metadata", {requests.is_stale: obey_all}),
    untold("removed-fetches", "write_removal", {telling.stop_fetching: fetch_on}, LEADS, "stopped_when_removed"),
    untold(
        "offline-fetches", "read_for_removal", {telling.stop_fetching: fetch_out_of_isr}, LEADS, "stopped_when_offline"
    ),
    untold(
        "leaver-fetches",
        "controlled_shutdown",
        {telling.stop_fetching: fetch_while_leaving},
        LEADS,
        "leaver_is_stopped",
    ),
    mutant("follows-anybody", "follows_the_living", {cache.knows_as_alive: know_all}, TWO_TERMS),
    mutant("leads-no-more", "follows_the_living", {replica.may_become: may_become_anything}, LEADS),
    mutant("stopped-in-any-epoch", "leaver_is_stopped", {telling.stop_fetching: stop_in_any_epoch}, LEADS),
)
DELETIONS = (
    mutant("topic-not-told", "told_of_deletion", {telling.tell_topic: tell_no_topic}, SMALL),
    mutant_within(
        "queued-told-as-led", "told_of_deletion", "resume_deletion", {telling.is_queued: lead_though_queued}, SMALL
    ),
    mutant("waiting-told", "waiting_untold", {deletion.announce: telling.tell_topic}, ONE_FAULT),
    mutant("newcomer-told-to-forget", "queued_untold", {telling.tell_newcomers: updates.tell_newcomers_all}, SMALL),
    mutant("topic-remembered", "deleted_is_forgotten", {telling.tell_topic: tell_no_topic}, CALM),
)
