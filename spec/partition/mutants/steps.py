"""Mutants of what each step of a partitions' controller does, on the variant `fenced`: it does nothing, or too much."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.mutants.omission import omitting
from kafkaproof.spec.partition import (
    brokers,
    context,
    failover,
    faults,
    isr,
    log_dirs,
    machines,
    network,
    progress,
    rebalance,
    replica,
    triggers,
    zookeeper,
)
from kafkaproof.spec.partition.context import Broker, Partition, end_process, forget
from kafkaproof.spec.partition.history.recordings import may_become_anything
from kafkaproof.spec.partition.mutants.partition import put_later_request
from kafkaproof.spec.partition.mutants.partition_mutant import CALM, EARLY, ONE, TWO, mutant
from kafkaproof.spec.partition.network import drop_requests, fall_silent, put_request
from kafkaproof.spec.partition.progress import dead_hosts
from kafkaproof.spec.partition.zookeeper import disconnect, session_open

OMITTED = tuple(
    omitting(transition, kills, CALM)
    for transition, kills in (
        (failover.elect, "term_begins"),
        (failover.resign, "term_stands"),
        (failover.reopen, "registers_anew"),
        (failover.load_state, "states_read"),
        (failover.load_brokers, "brokers_read"),
        (brokers.broker_startup, "newcomers_taken_in"),
        (brokers.broker_failure, "departed_dropped"),
        (brokers.controlled_shutdown, "leaver_moved_away"),
        (triggers.unclean_enabled, "waiting_are_elected"),
        (triggers.preferred_election, "preferred_as_asked"),
        (triggers.reassignment, "moved_as_asked"),
        (triggers.topic_deletion, "deletion_is_heard"),
        (triggers.delete_request, "request_deleted"),
        (log_dirs.log_dir_notification, "notifications_read"),
        (log_dirs.receive_error, "error_queued"),
        (log_dirs.storage_error, "errors_handled"),
        (log_dirs.notify, "notified_once"),
        (rebalance.rebalance, "events_in_turn"),
        (machines.read_for_election, "elected_as_read"),
        (machines.read_for_removal, "removed_as_read"),
        (machines.write_leader, "election_written"),
        (machines.write_removal, "removal_written"),
        (machines.create_first_state, "first_state_written"),
        (isr.alter_partition, "proposal_granted"),
        (replica.leader_and_isr, "obeyed_in_order"),
        (faults.crash, "ends_whole"),
        (faults.stop, "closes_session"),
        (faults.shut_down, "asks_once"),
        (faults.expire_session, "session_ends"),
        (faults.expire_orphan, "of_the_dead"),
        (faults.queue_deletion, "asked_once"),
        (faults.ask_for_election, "election_asked_once"),
        (faults.ask_for_reassignment, "move_asked_once"),
        (faults.fail_log_dir, "directory_fails_once"),
    )
)


def keep_result(controller):
    """What was read is kept when it has been written, or is of no use."""
    return 0


def keep_live(controller):
    """The end of a term leaves in the context who is live."""
    live = controller.live
    forget(controller)
    controller.live = live


def start_none(controller):
    """Replicas are in no state when their machine has started."""
    controller.replicas = dead_hosts(controller)
    controller.starting = 1


def keep_watch(zk, b):
    """Who rules no more keeps the watch and the versions that it had."""
    return 0


def leave_controller(zk):
    """The end of a session leaves /controller where it is."""
    return 0


def keep_memory(broker):
    """A process that is gone is remembered."""
    broker.up = 0


def propose_nothing(network, p, b, leader_epoch):
    """A leader proposes no ISR."""
    return 0


def notify_of_nothing(s, b: Broker, p: Partition):
    """A broker notifies the controller of a log directory that works."""
    if not s.brokers[b].up:
        return False

    s.brokers[b].unnotified = 1
    return True


def live_on(broker):
    """The thread that notifies of failed log directories survives a session that is over."""
    return 0


def crash_uncounted(s, b: Broker):
    """The death of a process counts as no fault."""
    if not s.brokers[b].up or not session_open(s.zk, b):
        return False

    end_process(s.brokers[b])
    disconnect(s.zk, b)
    fall_silent(s.network, b)
    drop_requests(s.network, b)
    return True


def fire_nothing(zk):
    """Nobody is told that a broker has come or gone."""
    return 0


def put_nobody(network, epoch, p, leader, leader_epoch, isr, to):
    """LeaderAndIsr names nobody as the leader."""
    put_request(network, epoch, p, NOBODY, leader_epoch, isr, to)


MUTANTS = OMITTED + (
    mutant("thread-lives-on", "notified_once", {log_dirs.end_thread: live_on}, TWO),
    omitting(faults.crash, "dies_in_session", ONE),
    omitting(faults.shut_down, "of_the_living", ONE),
    mutant("result-kept", "one_event", {context.drop_result: keep_result}, CALM),
    mutant("live-kept", "no_context_without_term", {context.forget: keep_live}),
    mutant("replicas-not-started", "machines_started", {progress.start_replicas: start_none}, CALM),
    mutant("watch-kept", "hears_of_brokers", {zookeeper.disconnect: keep_watch}),
    mutant("controller-left", "ephemerals_end_with_session", {zookeeper.remove_controller: leave_controller}),
    mutant("memory-kept", "ends_with_process", {context.end_process: keep_memory}),
    mutant("no-proposes", "leader_proposes", {network.put_proposals: propose_nothing}, CALM),
    mutant("nothing-notified", "failed_is_told", {faults.fail_log_dir: notify_of_nothing}, CALM),
    mutant("crash-uncounted", "faults_counted", {faults.crash: crash_uncounted}, CALM),
    mutant("nobody-told-of-brokers", "sessions_change_alone", {zookeeper.fire: fire_nothing}),
    mutant("leads-no-more", "obeyed_in_order", {replica.may_become: may_become_anything}),
    mutant("nobody-named", "sent_by_term", {network.put_request: put_nobody}, CALM),
    mutant("sent-for-the-next", "sent_in_terms", {network.put_request: put_later_request}, EARLY),
)
