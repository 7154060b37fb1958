"""Mutants of liveness of topics. They are not held to the writing rules."""

from kafkaproof.spec.kafka.deletion_moves import move_replica
from kafkaproof.spec.kafka.state_machines import REPLICA_DELETION_SUCCESSFUL
from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, mutant, within
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.topics import brokers as hosts
from kafkaproof.spec.topics import deletion, failover, reassignment
from kafkaproof.spec.topics import replica as logs
from kafkaproof.spec.topics.context import Broker, Partition
from kafkaproof.spec.topics.failover import take_up_deletion
from kafkaproof.spec.topics.mutants.steps import look_at_nothing
from kafkaproof.spec.topics.mutants.topics import CALM, FAULT, MOVED_FAULT, TWICE
from kafkaproof.spec.topics.network import DELETED, FAILED, kind_of, take
from kafkaproof.spec.topics.replica import Epoch, stop_replica


def note_answer(s, b: Broker, r: Broker, p: Partition):
    """The answer to StopReplica(delete) is noted, and the deletion does not go on."""
    controller = s.brokers[b].controller
    if not at_work(controller):
        return False
    kind = kind_of(s.network, controller.epoch, r, p)
    if kind != DELETED and kind != FAILED:
        return False

    take(s.network, controller.epoch, r, p)
    if controller.deleting and kind == DELETED:
        move_replica(controller.partitions[p], r, REPLICA_DELETION_SUCCESSFUL)
    return True


def resume_nothing(controller, joined):
    """A deletion is not resumed when a broker comes."""
    return 0


def keep_log(s, b: Broker, epoch: Epoch, p: Partition):
    """StopReplica(delete) is answered, and the log stays."""
    log = s.brokers[b].logs[p]
    if not stop_replica(s, b, epoch, p):
        return False
    s.brokers[b].logs[p] = log
    return True


def look_at_no_reassignment(controller):
    """A new controller does not look at the reassignments that it finds."""
    take_up_deletion(controller)
    controller.moving = 0


def never_at_work(controller):
    """Nobody is at work."""
    return False


KIP455 = (
    mutant("answer-ends-nothing", "is_deleted_despite_failures", {deletion.handle_answer: note_answer}, CALM),
    mutant("startup-resumes-nothing", "is_deleted", {hosts.resume_for: resume_nothing}, FAULT),
    mutant("logs-kept", "no_stray_log", {logs.stop_replica: keep_log}, TWICE),
    mutant("catching-up-unheard", "has_moved", {reassignment.look_again: look_at_nothing}, CALM),
    mutant("failover-looks-at-nothing", "has_moved", {failover.take_up_deletion: look_at_no_reassignment}, MOVED_FAULT),
)
TWO_PHASE = (
    Mutant(
        "catching-up-unheard",
        first_paragraph(look_at_nothing),
        "is_dealt_with",
        within("caught_up", {at_work: never_at_work}),
        CALM,
    ),
)
