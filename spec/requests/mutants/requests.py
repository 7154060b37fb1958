"""Mutants of control requests: one deliberate mistake each, on the variant `current`.

Mutations known for C6, C9, C11, C15, C16, P6, P8, T4 and L3. A mutant is not held to the rules of writing a
transition.
"""

from dataclasses import replace

from kafkaproof.spec.kafka.zookeeper import EXPIRED, OK
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Model, Transition, first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere, within
from kafkaproof.spec.language.sets import difference, only, union, without_member
from kafkaproof.spec.partition.zookeeper import session_open
from kafkaproof.spec.requests import broker, context, events, faults, network, zookeeper
from kafkaproof.spec.requests.batch import FULL, NO_STOP
from kafkaproof.spec.requests.context import Broker, Leader, live_replicas, recipients, start_process
from kafkaproof.spec.requests.history import shared_queue
from kafkaproof.spec.requests.model import scope
from kafkaproof.spec.requests.network import send, send_leadership, send_metadata
from kafkaproof.spec.requests.zookeeper import register, win_election


def never_stale(candidate, epoch):
    """The controller epoch is not compared."""
    return False


def see_nothing(candidate, epoch):
    """The controller epoch is not remembered."""
    candidate.ghosts.applied = epoch


def never_former(candidate, broker_epoch):
    """The broker epoch is not compared."""
    return False


def restart_with_epoch_zero(s, b: Broker):
    """A broker serves before it knows its broker epoch."""
    if s.brokers[b].up:
        return False

    register(s.zk, b)
    start_process(s.brokers[b], 0)
    return True


def win_with_next_epoch(zk, b, reader):
    """A controller rules in the epoch after the one that it writes."""
    answer = win_election(zk, b, reader)
    reader.epoch += 1
    return answer


def others_than_leader(candidate):
    """The new leader is not told."""
    leader = candidate.controller.leader
    members = difference(live_replicas(candidate), candidate.controller.offline_dirs)
    return members if leader == NOBODY else without_member(members, leader)


def leader_alone(candidate):
    """Only the new leader is told of an election, not the followers."""
    leader = candidate.controller.leader
    return 0 if leader == NOBODY else only(leader)


def everybody_live(candidate):
    """LeaderAndIsr is sent to every live broker."""
    return candidate.controller.live


def replicas_first(channels, controller, replicas):
    """A new controller starts the replica state machine before it tells who lives."""
    send_leadership(channels, controller, replicas)
    send_metadata(channels, controller, controller.live)


def replicas_first_of_new(channels, controller, others, joined, replicas):
    """A broker that comes is sent LeaderAndIsr before UpdateMetadata."""
    send(channels, controller, others, 0, FULL, 0, NO_STOP)
    send(channels, controller, joined, replicas, FULL, 0, NO_STOP)


def others_uninformed(channels, controller, others, joined, replicas):
    """When a broker comes the others are told nothing."""
    send(channels, controller, joined, 0, FULL, 0, NO_STOP)
    send(channels, controller, joined, replicas, FULL, 0, NO_STOP)


def metadata_alone(channels, controller, others, joined, replicas):
    """When a broker comes nobody is sent LeaderAndIsr."""
    send(channels, controller, union(others, joined), 0, FULL, 0, NO_STOP)


def any_epoch(replica, leader_epoch):
    """A smaller leader epoch is accepted (and a lower controller epoch: each fence covers for the other)."""
    return leader_epoch != replica.leader_epoch


def unchecked_set_state(zk, b, epoch, leader, leader_epoch):
    """The state is written without the check of the controller epoch."""
    if not session_open(zk, b):
        return EXPIRED
    zk.leader = leader
    zk.leader_epoch = leader_epoch
    return OK


def tell_before_writing(s, b: Broker, leader: Leader):
    """A controller tells of an election that it has not written."""
    candidate = s.brokers[b]
    if candidate.controller.epoch == 0 or leader == NOBODY:
        return False

    candidate.controller.leader = leader
    candidate.controller.leader_epoch += 1
    send_leadership(s.network, candidate.controller, recipients(candidate))
    return True


def never_precedes(replica, leader_epoch, stop):
    """The leader epoch in StopReplica is not compared (nor the broker epoch, which covers for it)."""
    return False


def always_deletes(stop):
    """StopReplica deletes the log whether it says so or not."""
    return True


def share_queue(model: Model) -> Model:
    """Control requests wait in the queue of client requests."""
    transitions = tuple(t for t in model.transitions if t.function.__name__ != "answer_produce") + tuple(
        Transition(function, "broker {b}")
        for function in (shared_queue.produce_arrives, shared_queue.request_arrives, shared_queue.answer_produce)
    )
    changed = replace(model, transitions=transitions)
    return changed.rebound({broker.may_handle: shared_queue.may_handle_in_turn})


CALM, ONE, TWO = scope(epochs=1, faults=0), scope(), scope(faults=2)
SPARE, EARLY, LONG = scope(replicas=1, epochs=1, faults=0), scope(faults=0), scope(leader_epochs=2, faults=2)


def mutant(name, kills, replacements, at=ONE):
    """A mutant of `current`, told by the docstring of what replaces something."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


def mutant_within(name, kills, transition, replacements, at=ONE):
    """The same, in one transition alone."""
    told = first_paragraph(next(iter(replacements.values())))
    return Mutant(name, f"{told} ({transition})", kills, within(transition, replacements), at)


def leader_and_isr_unremembered(model: Model) -> Model:
    """Both: alone the second changes nothing, for UpdateMetadata comes first and is remembered."""
    return within("leader_and_isr", UNREMEMBERED)(model.rebound({network.start_up: replicas_first}))


UNCOMPARED = {broker.is_stale: never_stale}
UNREMEMBERED = {broker.see: see_nothing}
UNFENCED = {broker.is_news: any_epoch, broker.is_stale: never_stale}
UNFENCED_STOP = {broker.precedes: never_precedes, broker.is_former: never_former}
MUTANTS = (
    mutant_within("epoch-uncompared-leader-and-isr", "applied_never_fall", "leader_and_isr", UNCOMPARED),
    mutant_within("epoch-uncompared-update-metadata", "applied_never_fall", "update_metadata", UNCOMPARED),
    mutant_within("epoch-uncompared-stop-replica", "applied_never_fall", "stop_replica", UNCOMPARED, TWO),
    Mutant(
        "epoch-unremembered-leader-and-isr",
        "LeaderAndIsr comes first, and its controller epoch is not remembered.",
        "applied_never_fall",
        leader_and_isr_unremembered,
        ONE,
    ),
    mutant_within("epoch-unremembered-update-metadata", "applied_never_fall", "update_metadata", UNREMEMBERED),
    mutant("epoch-before-written", "epoch_bound", {zookeeper.win_election: win_with_next_epoch}, EARLY),
    mutant("broker-epoch-uncompared", "former_changes_nothing", {broker.is_former: never_former}),
    mutant("served-before-registered", "former_changes_nothing", {faults.restart: restart_with_epoch_zero}),
    mutant("leader-not-told", "told_of_election", {context.recipients: others_than_leader}, CALM),
    mutant("followers-not-told", "told_of_election", {context.recipients: leader_alone}, CALM),
    mutant_within("everybody-told", "only_replicas_told", "change_leader", {context.recipients: everybody_live}, SPARE),
    mutant("replicas-first", "metadata_first", {network.start_up: replicas_first}, CALM),
    mutant("replicas-first-of-new", "metadata_first", {network.take_in: replicas_first_of_new}),
    mutant("state-unchecked", "unique_leader", {zookeeper.checked_set_state: unchecked_set_state}, TWO),
    mutant("told-before-written", "local_epoch", {events.change_leader: tell_before_writing}, CALM),
    mutant("smaller-leader-epoch", "local_epoch_never_falls", UNFENCED),
    mutant("stop-uncompared", "no_stale_stop", UNFENCED_STOP, scope(epochs=1, faults=2)),
    mutant("stop-deletes", "log_kept", {broker.deletes: always_deletes}),
    Mutant("shared-queue", first_paragraph(share_queue), "control_requests_first", share_queue, ONE),
    Mutant("shared-queue-deletion", first_paragraph(share_queue), "nothing_for_the_deleted", share_queue, ONE),
    mutant("new-broker-untold", "replicas_converge", {network.take_in: metadata_alone}),
    mutant("follows-nobody", "replicas_converge", {network.start_up: replicas_first}, EARLY),
    mutant("others-uninformed-follow", "replicas_converge", {network.take_in: others_uninformed}, TWO),
    mutant("others-uninformed", "metadata_converges", {network.take_in: others_uninformed}),
)
