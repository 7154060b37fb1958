"""Mutants of each step of control requests: one deliberate mistake each, on the variant `current`."""

from kafkaproof.spec.kafka.control_requests import NONE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import without_member
from kafkaproof.spec.partition import replica, telling, zookeeper
from kafkaproof.spec.partition.context import Broker, end_process, start_process
from kafkaproof.spec.partition.history.updates import tell_newcomers_all
from kafkaproof.spec.partition.metadata.cache import learn
from kafkaproof.spec.partition.mutants.updates import fetch_on, tell_joined_alone, tell_no_topic
from kafkaproof.spec.requests import batch, broker, network, state
from kafkaproof.spec.requests.batch import NO_STOP, TOLD
from kafkaproof.spec.requests.model import scope
from kafkaproof.spec.requests.mutants.requests import CALM, ONE, ONE_TERM, SPARE, always_deletes, mutant, mutant_within
from kafkaproof.spec.requests.network import stop_in
from kafkaproof.spec.requests.state import forget_leadership, lose_replica

QUEUED = scope(replicas=1, epochs=1, leader_epochs=1, faults=2)


def remember_the_live(candidate):
    """A process that starts again remembers the live brokers that its predecessor knew."""
    alive = candidate.metadata.alive
    start_process(candidate)
    candidate.up = 0
    candidate.seen_epoch = 0
    candidate.metadata.alive = alive


def trim_nothing(candidate):
    """A batch says what its requests that are done with needed."""
    pass


def accept(s, b, epoch, delivery):
    """Every request is accepted."""
    return NONE


def remove_nothing(candidate):
    """A request that was answered is sent again."""
    candidate.waits = 0


def learn_leader_alone(cached, leader, leader_epoch, isr):
    """Of UpdateMetadata a broker keeps the leader of a partition, and not its ISR."""
    cached.known = 1
    cached.leader = leader
    cached.leader_epoch = leader_epoch


def follow_the_unknown(candidate, b, leader):
    """A broker follows a leader that it does not know as alive."""
    return leader != NOBODY


def forget_when_stopped(s, b, epoch, delivery, p):
    """A replica that is told to fetch no more forgets its leader epoch."""
    if stop_in(s.network, epoch, b, delivery, p) != NO_STOP:
        lose_replica(s.brokers[b].replicas[p])


def hear_nothing(net, epoch, p, b):
    """A controller does not look at the answers to LeaderAndIsr."""
    pass


def start_nobody(s, b, p, to):
    """A new controller tells who lives, and sends no LeaderAndIsr."""
    return 0


def send_on(net, b):
    """A controller that resigns sends what it has queued (K19)."""
    for epoch in range(len(net.senders) - 1):
        if net.senders[epoch] == b:
            net.senders[epoch] = NOBODY


def close_nothing(net, epoch, members):
    """The channels to brokers that are gone stay open."""
    pass


def send_nothing(net, epoch):
    """What a state machine has collected stays there."""
    pass


def delete_nothing(net, epoch, p, to):
    """Nobody is told to delete a replica."""
    pass


def answer_produce(s, b: Broker):
    """A broker that follows answers a produce request with success."""
    if not s.brokers[b].up:
        return False

    return True


def leave_controller(zk, b):
    """closeSession that forgets /controller."""
    zk.registered = without_member(zk.registered, b)


def name_nobody(told, leader, leader_epoch, isr):
    """What is sent of a partition names no leader."""
    told.update = TOLD
    told.leader = NOBODY
    told.isr = isr
    told.leader_epoch = leader_epoch


def send_incomplete(channel):
    """A batch is sent while it is collected."""
    return channel.queue.length


def stay_stopped(candidate):
    """A replica that is deleted counts as stopped."""
    forget_leadership(candidate)


MUTANTS = (
    mutant("nobody-named", "told_as_known", {batch.add_leadership: name_nobody}, CALM),
    mutant("incomplete-sent", "complete_arrives", {network.complete: send_incomplete}, ONE_TERM),
    mutant("deleted-stopped", "stopped_has_log", {state.lose_replica: stay_stopped}, ONE_TERM),
    mutant("live-remembered", "process_knows_itself", {end_process: remember_the_live}, ONE_TERM),
    mutant("untrimmed", "batches_are_whole", {batch.trim: trim_nothing}, ONE_TERM),
    mutant("all-accepted", "refused_changes_nothing", {broker.fence: accept}, ONE),
    mutant("sent-for-ever", "answered_once", {batch.remove_first: remove_nothing}, CALM),
    mutant("isr-not-learnt", "metadata_as_told", {learn: learn_leader_alone}, CALM),
    mutant("unknown-followed", "becomes_as_told", {replica.may_become: follow_the_unknown}),
    mutant("stopped-for-good", "stops_as_told", {broker.obey_stop_replica: forget_when_stopped}, ONE_TERM),
    mutant("deleted-at-once", "stops_as_told", {broker.deletes: always_deletes}, ONE_TERM),
    mutant("answers-unheard", "controller_is_told", {network.put_error: hear_nothing}, ONE_TERM),
    mutant("resigned-sends-on", "ends_with_term", {network.end_terms: send_on}),
    mutant("never-complete", "channels_are_to_live", {network.send_batch: send_nothing}, CALM),
    mutant("channels-kept", "gone_are_dropped", {network.close_channels: close_nothing}, ONE_TERM),
    mutant("others-untold", "newcomers_are_sent", {telling.tell_newcomers: tell_joined_alone}, SPARE),
    mutant("newcomers-told-of-queued", "newcomers_are_sent", {telling.tell_newcomers: tell_newcomers_all}, QUEUED),
    mutant_within("replicas-untold", "term_begins_whole", "elect", {telling.tell_started: start_nobody}, CALM),
    mutant_within(
        "leaver-untold", "leaver_is_told", "controlled_shutdown", {telling.stop_fetching: fetch_on}, ONE_TERM
    ),
    mutant_within("removed-untold", "removed_is_told", "remove_replica", {telling.stop_fetching: fetch_on}, ONE_TERM),
    mutant("deletion-untold", "deletion_is_told", {telling.tell_topic: tell_no_topic}, ONE_TERM),
    mutant("deletion-unsent", "deletion_is_sent", {network.put_stop: delete_nothing}, ONE_TERM),
    mutant("follower-answers", "leader_answers_produce", {broker.answer_produce: answer_produce}, CALM),
    mutant("controller-outlives-session", "fault_strikes", {zookeeper.end_session: leave_controller}, ONE_TERM),
)
