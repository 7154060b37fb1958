"""Failovers, and state machines that a fenced write interrupts, each wrong in one way."""

from kafkaproof.spec.kafka.zookeeper import FENCED
from kafkaproof.spec.partition import context, isr, machines, progress, triggers, zookeeper
from kafkaproof.spec.partition.context import EMPTY, drop_event, forget
from kafkaproof.spec.partition.history.recordings import end_term, forget_at_once, forget_election, forget_removal
from kafkaproof.spec.partition.mutants.partition_mutant import ONE, THREE_TERMS, TWO, mutant
from kafkaproof.spec.partition.zookeeper import disconnect


def skip_stateless(controller, p):
    """An election of a partition without a state is skipped, and the request is dealt with."""
    return False


def start_despite_stateless(controller):
    """A failover goes on although a partition that the request names has no state."""
    return False


def leave_unread(s, b):
    """A new controller does not read the request for preferred leaders that it finds."""
    s.brokers[b].controller.failing_over = 0


def read_always(s, b):
    """A new controller deletes the request for preferred leaders that it did not find."""
    return True


def keep_controller(zk, b):
    """A controller whose failover has failed keeps /controller."""
    disconnect(zk, b)


def sent_after_all(batch):
    """What was collected when a write was fenced is forgotten, so that the state machine works in the next term."""
    return EMPTY


def work_on(controller):
    """A dead state machine works."""
    return True


STARTED_ANYWAY = {triggers.has_partition_without_state: start_despite_stateless}
SKIPPED = {triggers.fails_event: skip_stateless, progress.lacks_a_state: start_despite_stateless}


def end_every_term(s, b, answer):
    """A write that is refused ends the term, in a controlled shutdown, too."""
    if answer == FENCED:
        disconnect(s.zk, b)
        forget(s.brokers[b].controller)
    else:
        drop_event(s.brokers[b].controller)


def end_term_of_proposal(s, b, p, answer):
    """A change of an ISR that is refused ends the term."""
    if answer == FENCED:
        disconnect(s.zk, b)
        forget(s.brokers[b].controller)


MUTANTS = (
    mutant("stateless-skipped", "preferred_as_asked", SKIPPED, TWO),
    mutant("stateless-started", "failover_ends", STARTED_ANYWAY, TWO),
    mutant("request-unread", "asked_when_started", {triggers.end_failover: leave_unread}),
    mutant("unfound-deleted", "request_heard", {triggers.reads_request: read_always}),
    mutant("failed-controller-stays", "gives_up", {zookeeper.give_up_controller: keep_controller}, TWO),
    mutant("term-ends-in-event", "request_deleted", {progress.give_up: end_term}, TWO),
    mutant("term-ends-in-election", "elected_as_read", {machines.fail_election: forget_election}, TWO),
    mutant("term-ends-in-removal", "removed_as_read", {machines.fail_removal: forget_removal}, TWO),
    mutant("term-ends-in-failover", "brokers_read", {progress.lapse: forget_at_once}),
    mutant("shutdown-ends-term", "removal_written", {progress.give_up: end_every_term}, TWO),
    mutant("proposal-ends-term", "proposal_granted", {isr.answer_leader: end_term_of_proposal}, ONE),
    mutant("batch-forgotten", "unsent_for_ever", {machines.never_sent: sent_after_all}, TWO),
    mutant("dead-machine-works", "dead_does_nothing", {context.replicas_move: work_on}, THREE_TERMS),
)
