"""Mutants of control requests: one deliberate mistake each, on the variant `current`.

Mutations known for C6, C9, C11, C15, C16, P6, P8, T4 and L3. A mutant is not held to the rules of writing a
transition.
"""

from dataclasses import replace

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.kafka.declarations import acting
from kafkaproof.spec.kafka.zookeeper import OK
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Model, first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant
from kafkaproof.spec.language.mutants.mutant import mutant as mutant_at
from kafkaproof.spec.language.sets import only, without_member
from kafkaproof.spec.partition import elections, machines, replica, telling, zookeeper
from kafkaproof.spec.partition.deletion.brokers import start_on
from kafkaproof.spec.partition.metadata import cache, halting
from kafkaproof.spec.partition.mutants.updates import tell_joined_alone, tell_nobody, tell_others_alone
from kafkaproof.spec.requests import broker
from kafkaproof.spec.requests.history import shared_queue
from kafkaproof.spec.requests.model import scope


def never_stale(candidate, epoch):
    """The controller epoch is not compared."""
    return False


def see_nothing(candidate, epoch):
    """The controller epoch is not remembered."""
    pass


def never_former(current):
    """The broker epoch is not compared."""
    return False


def rule_in_next_epoch(zk, b, reader):
    """A controller rules in the epoch after the one that it writes."""
    zk.controller = b
    zk.epoch += 1
    reader.epoch = zk.epoch + 1
    return OK


def others_than_leader(controller, partition):
    """The new leader is not told."""
    members = partition.isr
    return members if partition.leader == NOBODY else without_member(members, partition.leader)


def leader_alone(controller, partition):
    """Only the new leader is told of an election, not the followers."""
    return 0 if partition.leader == NOBODY else only(partition.leader)


def everybody_live(controller, partition):
    """LeaderAndIsr is sent to every live broker."""
    return controller.live


def start_nobody(controller, partition, members):
    """When a broker comes nobody is sent LeaderAndIsr."""
    return 0


def any_epoch(candidate, leader_epoch):
    """A smaller leader epoch is accepted (and a lower controller epoch: each fence covers for the other)."""
    return leader_epoch != candidate.leader_epoch


def prepare_in_same_epoch(result, leader, isr):
    """A new leader is written in the leader epoch of the former one."""
    result.leader = leader
    result.isr = isr
    result.unclean = 0


def write_nothing(zk, b, p, epoch, leader, isr, leader_epoch, delivery):
    """A controller tells of an election that it has not written."""
    return OK


def always_in_time(candidate, leader_epoch):
    """The leader epoch in StopReplica is not compared (nor the broker epoch, which covers for it)."""
    return True


def always_deletes(stop):
    """StopReplica deletes the log whether it says so or not."""
    return True


def share_queue(model: Model) -> Model:
    """Control requests wait in the queue of client requests."""
    transitions = tuple(t for t in model.transitions if t.function.__name__ != "answer_produce") + acting(
        shared_queue.produce_arrives, shared_queue.request_arrives, shared_queue.answer_produce
    )
    return replace(model, transitions=transitions).rebound(
        {broker.may_handle: shared_queue.may_handle_in_turn, cache.start_process: shared_queue.start_process}
    )


CALM, ONE_TERM, ONE, TWO = scope(epochs=1, faults=0), scope(epochs=1), scope(), scope(faults=2)
SPARE, TWO_IN_ONE_TERM = scope(replicas=1, epochs=1), scope(epochs=1, faults=2)


def mutant(name, kills, replacements, at=ONE):
    """A mutant of `current`, told by the docstring of what replaces something."""
    return mutant_at(name, kills, replacements, at)


def mutant_within(name, kills, transition, replacements, at=ONE):
    """The same, in one transition alone."""
    told = first_paragraph(next(iter(replacements.values())))

    def mutate(model):
        changed = model.rebound(replacements).transition(transition)
        kept = tuple(changed if t.function.__name__ == transition else t for t in model.transitions)
        return replace(model, transitions=kept)

    return Mutant(name, f"{told} ({transition})", kills, mutate, at)


UNCOMPARED = {is_stale: never_stale}
UNFENCED = {replica.is_news: any_epoch, is_stale: never_stale}
UNFENCED_STOP = {halting.is_in_time: always_in_time, broker.is_former: never_former}
MUTANTS = (
    mutant_within("epoch-uncompared-leader-and-isr", "applied_never_fall", "leader_and_isr", UNCOMPARED),
    mutant_within("epoch-uncompared-update-metadata", "applied_never_fall", "update_metadata", UNCOMPARED),
    mutant_within("epoch-uncompared-stop-replica", "applied_never_fall", "stop_replica", UNCOMPARED, TWO),
    mutant("epoch-unremembered", "refused_changes_nothing", {broker.see: see_nothing}, CALM),
    mutant("epoch-before-written", "epoch_bound", {zookeeper.create_controller: rule_in_next_epoch}),
    mutant("broker-epoch-uncompared", "former_changes_nothing", {broker.is_former: never_former}, ONE_TERM),
    mutant("leader-not-told", "told_of_election", {elections.recipients: others_than_leader}, ONE_TERM),
    mutant("followers-not-told", "told_of_election", {elections.recipients: leader_alone}, ONE_TERM),
    mutant("everybody-told", "only_replicas_told", {elections.recipients: everybody_live}, SPARE),
    mutant_within("replicas-first", "metadata_first", "elect", {telling.tell_brokers: tell_nobody}, CALM),
    mutant("replicas-first-of-new", "metadata_first", {telling.tell_newcomers: tell_others_alone}, ONE_TERM),
    mutant("epoch-not-raised", "unique_leader", {machines.prepare: prepare_in_same_epoch}, ONE_TERM),
    mutant("told-before-written", "local_epoch", {zookeeper.checked_set_state: write_nothing}, ONE_TERM),
    mutant("smaller-leader-epoch", "local_epoch_never_falls", UNFENCED),
    mutant("stop-uncompared", "no_stale_stop", UNFENCED_STOP, TWO_IN_ONE_TERM),
    mutant("stop-deletes", "log_kept", {broker.deletes: always_deletes}, ONE_TERM),
    Mutant("shared-queue", first_paragraph(share_queue), "control_requests_first", share_queue, ONE_TERM),
    Mutant("shared-queue-deletion", first_paragraph(share_queue), "nothing_for_the_deleted", share_queue, ONE_TERM),
    mutant_within("new-broker-untold", "replicas_converge", "broker_startup", {start_on: start_nobody}, ONE_TERM),
    mutant_within("follows-nobody", "replicas_converge", "elect", {telling.tell_brokers: tell_nobody}, CALM),
    mutant("others-uninformed", "metadata_converges", {telling.tell_newcomers: tell_joined_alone}, SPARE),
)
