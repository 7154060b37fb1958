"""Mutants of each step of control requests: one deliberate mistake each, on the variant `current`."""

from kafkaproof.spec.kafka.zookeeper import MINE, OK
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import with_member, without_member
from kafkaproof.spec.requests import batch, broker, context, network, zookeeper
from kafkaproof.spec.requests.batch import FULL
from kafkaproof.spec.requests.context import Broker, start_process
from kafkaproof.spec.requests.mutants.requests import (
    CALM,
    always_deletes,
    mutant,
    others_uninformed,
    scope,
    unchecked_set_state,
)
from kafkaproof.spec.requests.network import NONE, send_metadata
from kafkaproof.spec.requests.zookeeper import epoch_of


def remember_the_live(candidate):
    """A process that starts again remembers the live brokers that its predecessor knew."""
    alive = candidate.alive
    start_process(candidate, 0)
    candidate.up = 0
    candidate.alive = alive


def forget_the_epoch(controller):
    """A controller that resigns keeps its context."""
    controller.epoch = 0


def close_nothing(channels, controller):
    """The channels to brokers that are gone stay open."""
    pass


def trim_nothing(candidate):
    """A batch says what its requests that are done with needed."""
    pass


def accept(candidate, broker_epoch, epoch):
    """Every request is accepted."""
    return NONE


def remove_nothing(candidate):
    """A request that was answered is sent again."""
    candidate.waits = 0


def always_full(channels, epoch, b, delivery):
    """UpdateMetadata without partitions names a leader."""
    return FULL


def follow_the_unknown(candidate, b, leader):
    """A broker follows a leader that it does not know as alive."""
    return leader != NOBODY


def tell_nothing(channels, sender, b, error):
    """A controller does not look at the answers to LeaderAndIsr."""
    pass


def start_with_metadata(channels, controller, replicas):
    """A new controller tells who lives, and sends no LeaderAndIsr."""
    send_metadata(channels, controller, controller.live)


def always_mine(zk, b):
    """A controller that looks at /controller finds itself, whoever it names."""
    return MINE


def register_again(zk, b):
    """A broker that registers again has its former broker epoch."""
    zk.registered = with_member(zk.registered, b)
    return OK


def leave_answer(channels, b, sender):
    """An answer that was handled stays in the queue."""
    pass


def no_replicas(candidate):
    """A controller knows no live replicas."""
    return 0


def always_asked(zk):
    """A topic is deleted that nobody wants deleted."""
    return True


def list_the_gone(zk, b, reader):
    """A broker that has bounced between two looks stays live."""
    for r in range(len(zk.epochs)):
        if reader.epochs[r] > 0 and epoch_of(zk, r) == 0:
            reader.live = without_member(reader.live, r)
    return OK


def leave_notification(zk, b, epoch, r):
    """The notification of a failed directory is left."""
    return OK


def answer_produce(s, b: Broker):
    """A broker that follows answers a produce request with success."""
    if not s.brokers[b].up:
        return False

    return True


def leave_controller(zk, b):
    """closeSession that forgets /controller."""
    zk.registered = without_member(zk.registered, b)


FAULT = scope(epochs=1)
MUTANTS = (
    mutant("live-remembered", "process_knows_itself", {context.end_process: remember_the_live}, FAULT),
    mutant("context-kept", "ends_with_term", {context.forget: forget_the_epoch}, FAULT),
    mutant("channels-kept", "channels_are_to_live", {network.close_channels: close_nothing}, FAULT),
    mutant("untrimmed", "batches_are_whole", {batch.trim: trim_nothing}, CALM),
    mutant("all-accepted", "refused_changes_nothing", {broker.fence: accept}, FAULT),
    mutant("sent-for-ever", "answered_once", {batch.remove_first: remove_nothing}, CALM),
    mutant("leader-in-bare-metadata", "metadata_as_told", {network.update_in: always_full}, CALM),
    mutant("unknown-followed", "becomes_as_told", {broker.may_become: follow_the_unknown}),
    mutant("stopped-for-good", "stops_as_told", {broker.deletes: always_deletes}, FAULT),
    mutant("answers-unheard", "controller_is_told", {network.put_event: tell_nothing}, FAULT),
    mutant("others-untold", "newcomers_are_sent", {network.take_in: others_uninformed}, FAULT),
    mutant("replicas-untold", "term_begins_whole", {network.start_up: start_with_metadata}, CALM),
    mutant("never-moved", "moved_ends_term", {zookeeper.read_controller: always_mine}, FAULT),
    mutant("epoch-again", "registers_anew", {zookeeper.register: register_again}, FAULT),
    mutant("answer-left", "dirs_as_answered", {network.take_event: leave_answer}, FAULT),
    mutant("leaver-untold", "leaver_is_told", {context.live_replicas: no_replicas}, FAULT),
    mutant("deletion-unasked", "deletion_is_sent", {zookeeper.deletion_asked: always_asked}, CALM),
    mutant("bounced-stays-live", "gone_are_dropped", {zookeeper.list_brokers: list_the_gone}, FAULT),
    mutant("written-by-the-deposed", "writes_by_right", {zookeeper.checked_set_state: unchecked_set_state}),
    mutant(
        "notification-left", "notification_is_taken", {zookeeper.checked_delete_notification: leave_notification}, FAULT
    ),
    mutant("follower-answers", "leader_answers_produce", {broker.answer_produce: answer_produce}, CALM),
    mutant("controller-outlives-session", "fault_strikes", {zookeeper.end_session: leave_controller}, FAULT),
)
