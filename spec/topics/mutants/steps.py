"""Mutants of what each step of a topics' controller does, on the variant `kip455`: it does nothing, or too much."""

from kafkaproof.spec.kafka.state_machines import ONLINE_REPLICA
from kafkaproof.spec.kafka.zookeeper import OK
from kafkaproof.spec.language.mutants.omission import omitting
from kafkaproof.spec.language.sets import contains, with_member
from kafkaproof.spec.partition import brokers as partition_brokers
from kafkaproof.spec.partition import failover as terms
from kafkaproof.spec.partition import faults as partition_faults
from kafkaproof.spec.partition import zookeeper as partition_zookeeper
from kafkaproof.spec.partition.context import IDLE
from kafkaproof.spec.partition.zookeeper import end_session
from kafkaproof.spec.topics import (
    brokers,
    context,
    creation,
    deletion,
    failover,
    faults,
    isr,
    machines,
    network,
    progress,
    reassignment,
    replica,
    tree,
)
from kafkaproof.spec.topics.context import Broker, end_process, forget
from kafkaproof.spec.topics.mutants.topics import CALM, FAULT, marker_first, mutant
from kafkaproof.spec.topics.network import START, drop_requests, keep_requests, put

OMITTED = tuple(
    omitting(transition, kills, CALM)
    for transition, kills in (
        (terms.elect, "term_begins"),
        (terms.resign, "term_stands"),
        (terms.reopen, "registers_anew"),
        (faults.crash, "process_ends"),
        (partition_faults.expire_session, "session_ends"),
        (failover.load_context, "context_read"),
        (partition_brokers.broker_change, "brokers_compared"),
        (brokers.broker_startup, "newcomers_taken_in"),
        (brokers.broker_failure, "departed_dropped"),
        (creation.topic_change, "topic_taken_up"),
        (creation.new_partitions, "partitions_taken_up"),
        (creation.ignore_partitions, "expansion_undone"),
        (creation.restore_partitions, "topic_restored"),
        (deletion.topic_deletion, "deletion_taken_up"),
        (deletion.handle_answer, "answer_handled"),
        (deletion.delete_topic_node, "deletes_in_order"),
        (deletion.delete_states, "states_deleted"),
        (machines.create_first_state, "first_state_written"),
        (machines.elect_leader, "leader_elected"),
        (machines.remove_replica, "replica_removed"),
        (machines.stop_replicas, "stopped_are_asked"),
        (replica.leader_and_isr, "obeyed_in_order"),
        (replica.stop_replica, "stopped_in_order"),
        (faults.refuse_deletion, "refused_in_order"),
        (reassignment.reassign, "reassignment_taken_up"),
        (reassignment.write_assignment, "assignment_written"),
        (reassignment.check, "finished_when_ready"),
        (reassignment.tell_replicas, "replicas_told"),
        (reassignment.move_leader, "leader_moved"),
        (reassignment.write_target, "target_written"),
        (isr.alter_partition, "proposal_granted"),
        (faults.ask_for_cancellation, "cancellation_asked"),
        (faults.create_again, "created_whole"),
        (faults.ask_for_deletion, "deletion_asked_once"),
    )
)


def look_at_nothing(controller, p, isr):
    """Nobody looks again at a reassignment when its target has come into the ISR."""
    return 0


def rest_early(controller, p):
    """An event ends with its first election."""
    controller.doing = IDLE


def keep_live(controller):
    """The end of a term leaves in the context who is live."""
    live = controller.live
    forget(controller)
    controller.live = live


def remember_nothing(partition, leader, leader_epoch):
    """A controller does not remember who leads."""
    return 0


def start_everywhere(controller):
    """The replica machine starts up with a replica on every broker."""
    for partition in controller.partitions:
        for r in range(len(partition.replicas)):
            partition.replicas[r] = ONLINE_REPLICA
    controller.starting = 1


def keep_watch(zk, b):
    """Who rules no more keeps the watch that it had, and knows who is registered."""
    return 0


def delete_topic_alone(zk, b, epoch):
    """The topic znode is deleted, and its partitions stay."""
    zk.topic = 0
    return OK


def crash_uncounted(s, b: Broker):
    """The death of a process counts as no fault."""
    if not s.brokers[b].up:
        return False

    end_process(s.brokers[b])
    end_session(s.zk, b)
    drop_requests(s.network, b)
    return True


def ask_uncounted(s):
    """A deletion that is asked for counts as no request."""
    if s.zk.marker or s.zk.topic == 0:
        return False

    s.zk.marker = 1
    return True


def register_as_before(zk, b):
    """A broker that registers again is taken for the former one by those who knew that."""
    zk.registered = with_member(zk.registered, b)
    return OK


def start_of_no_topic(network, epoch, p, topic, to):
    """LeaderAndIsr is of no topic."""
    for b in range(len(network.channels[0])):
        if contains(to, b):
            put(network, epoch, b, p, START, 0)


MUTANTS = OMITTED + (
    mutant("progress-looked-at-later", "progress_looked_at", {reassignment.look_again: look_at_nothing}),
    mutant("rest-early", "one_event", {progress.end_election: rest_early}),
    mutant("live-kept", "no_context_without_term", {context.forget: keep_live}, FAULT),
    mutant("marker-before-topic", "deletion_in_order", {progress.begin_completion: marker_first}),
    mutant("leader-not-remembered", "context_is_written", {context.remember_leadership: remember_nothing}),
    mutant("started-everywhere", "replicas_have_states", {progress.start_replicas: start_everywhere}),
    mutant("watch-kept", "ends_with_session", {partition_zookeeper.disconnect: keep_watch}, FAULT),
    mutant("partitions-left", "tree_is_whole", {tree.delete_topic: delete_topic_alone}),
    mutant("crash-uncounted", "faults_counted", {faults.crash: crash_uncounted}),
    mutant("deletion-uncounted", "requests_counted", {faults.ask_for_deletion: ask_uncounted}),
    mutant("registered-as-before", "sessions_change_alone", {partition_zookeeper.register: register_as_before}, FAULT),
    mutant("requests-kept", "former_requests_void", {network.drop_requests: keep_requests}, FAULT),
    mutant("sent-of-no-topic", "sent_in_terms", {network.start: start_of_no_topic}),
)
