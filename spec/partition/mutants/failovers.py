"""Failovers, and state machines that a fenced write interrupts, each wrong in one way."""

from kafkaproof.spec.partition import context, failover, machines, progress, triggers, zookeeper
from kafkaproof.spec.partition.context import EMPTY, forget
from kafkaproof.spec.partition.mutants.partition_mutant import THREE_TERMS, TWO, mutant
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


def keep_controller(zk, b):
    """A controller whose failover has failed keeps /controller."""
    disconnect(zk, b)


def sent_after_all(batch):
    """What was collected when a write was fenced is forgotten, so that the state machine works in the next term."""
    return EMPTY


def work_on(controller):
    """A dead state machine works."""
    return True


def forget_at_once(controller, answer):
    """A request that is refused for want of a session ends the term at once, in the middle of the event."""
    forget(controller)


def forget_election(s, b, p):
    """So does a request of an election."""
    forget(s.brokers[b].controller)


def forget_removal(s, b, p, r):
    """So does a request for a replica that goes offline."""
    forget(s.brokers[b].controller)


AT_ONCE = {
    progress.give_up: forget_at_once,
    machines.fail_election: forget_election,
    machines.fail_removal: forget_removal,
}
"""Also the rule of recordings up to format 7 (see `kafkaproof.spec.running.observed_cluster`)."""
STARTED_ANYWAY = {triggers.has_partition_without_state: start_despite_stateless}
SKIPPED = {triggers.fails_event: skip_stateless, progress.lacks_a_state: start_despite_stateless}
MUTANTS = (
    mutant("stateless-skipped", "preferred_as_asked", SKIPPED, TWO),
    mutant("stateless-started", "failover_ends", STARTED_ANYWAY, TWO),
    mutant("request-unread", "asked_when_started", {triggers.end_failover: leave_unread}),
    mutant("failed-controller-stays", "gives_up", {zookeeper.give_up_controller: keep_controller}, TWO),
    mutant("term-ends-in-event", "request_deleted", {progress.give_up: forget_at_once}, TWO),
    mutant("term-ends-in-election", "elected_as_read", {machines.fail_election: forget_election}, TWO),
    mutant("term-ends-in-removal", "removed_as_read", {machines.fail_removal: forget_removal}, TWO),
    mutant("term-ends-in-failover", "brokers_read", {failover.lapse: forget_at_once}),
    mutant("batch-forgotten", "unsent_for_ever", {machines.never_sent: sent_after_all}, TWO),
    mutant("dead-machine-works", "dead_does_nothing", {context.replicas_move: work_on}, THREE_TERMS),
)
