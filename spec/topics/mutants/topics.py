"""Mutants of topics: one deliberate mistake each, on the variants `kip455` and `two-phase`, for what only topics are asked.

Those of properties that `partition` has are asked there.
"""

from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, mutant, within
from kafkaproof.spec.partition import context, progress
from kafkaproof.spec.partition.deletion import progress as deletion_progress
from kafkaproof.spec.partition.expansion import zookeeper as expansion_zookeeper
from kafkaproof.spec.partition.mutants.expansion import add_elsewhere, queue_nothing
from kafkaproof.spec.partition.reassignment import plans
from kafkaproof.spec.partition.reassignment import progress as reassignment_progress
from kafkaproof.spec.partition.recreation import replica as recreation_replica
from kafkaproof.spec.topics import requests
from kafkaproof.spec.topics.model import scope

CALM, FAULT = scope(requests=1), scope(epochs=2, faults=1, requests=1)
PAIR = scope(partitions=2, requests=1)


def ready_at_once(partition, isr):
    """A reassignment is finished without a look at the ISR."""
    return True


def stay_online(controller):
    """A partition whose leader has gone stays Online."""
    return 0


def count_nothing(zk):
    """What operators ask for is not counted."""
    return 0


def resume_nothing(controller, topics):
    """A deletion is not resumed when an answer has come, or a broker."""
    return 0


def keep_log(s, b, p):
    """StopReplica(delete) is answered, and the log stays."""
    return 0


def look_at_nothing(controller, partitions):
    """Nobody looks at a reassignment again."""
    return 0


KIP455 = (
    mutant("finished-early", "force_elects", {plans.is_ready: ready_at_once}, CALM),
    mutant("stays-online", "state_tells", {progress.mark_offline_leaders: stay_online}, FAULT),
    mutant("added-elsewhere", "added_at_once", {expansion_zookeeper.write_topic: add_elsewhere}, PAIR),
    Mutant(
        "added-to-queued",
        first_paragraph(queue_nothing),
        "expanded_if_kept",
        within("add_partitions", {context.is_queued: queue_nothing}),
        PAIR,
    ),
    mutant("uncounted", "requests_counted", {requests.count_request: count_nothing}, CALM),
    mutant(
        "answer-resumes-nothing", "is_deleted_despite_failures", {deletion_progress.resume_later: resume_nothing}, CALM
    ),
    mutant("answer-resumes-nothing-at-last", "is_deleted", {deletion_progress.resume_later: resume_nothing}, CALM),
    mutant("log-kept", "no_stray_log", {recreation_replica.delete_log: keep_log}, scope()),
    mutant("never-looked-at-again", "has_moved", {reassignment_progress.look_later: look_at_nothing}, CALM),
)
TWO_PHASE = (
    mutant("never-looked-at-again", "is_dealt_with", {reassignment_progress.look_later: look_at_nothing}, CALM),
)
