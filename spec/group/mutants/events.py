"""Mutants of groups that break what a single step must do, on the variant `current`."""

from kafkaproof.spec.group import (
    coordinator,
    deletion,
    faults,
    join,
    loading,
    member,
    membership,
    network,
    offsets,
    records,
    storage,
    sync,
    verdicts,
)
from kafkaproof.spec.group.cache import describe_group
from kafkaproof.spec.group.coordinator import forget_member
from kafkaproof.spec.group.join import begin_generation
from kafkaproof.spec.group.mutants.group import mutant, mutant_within
from kafkaproof.spec.group.network import LEAVE, NONE, drop_request, give_assignment, put_request
from kafkaproof.spec.group.scopes import ONE_MOVE, scope
from kafkaproof.spec.language.domains import Flag
from kafkaproof.spec.language.mutants.simple import NO, NOTHING, YES, simple

ONE, FAULT = scope(), scope(log=1, faults=1)
ONE_FAULT, FAULTS, LOST = scope(faults=1), scope(faults=2), scope(ids=2, generations=2, faults=1)


def time_passes(s, retention: Flag()):
    """A retention period passes, and nothing is older."""
    s.storage.periods += 1
    return True


def lose_quietly(group, id, heir):
    """A member is lost, and the others go on without a rebalance."""
    forget_member(group.members[id])
    group.leader = heir


def say_goodbye_again(net, m):
    """LeaveGroup names the generation."""
    request = net.requests[m]
    put_request(net.late[m], LEAVE, request.id, 1, request.generation, 0)
    drop_request(request)


def keep_commits(broker):
    """A commit that is in flight when its topic is deleted enters the cache."""


def begin_with_delay(group, leader, protocol, topic):
    """The initial delay outlives the generation that it was for."""
    begin_generation(group, leader, protocol, topic)
    group.delayed = 1


def give_assignment_and_id(net, clients, epoch, owns):
    """The answer to a sync names a generation, too."""
    give_assignment(net, clients, epoch, owns)
    for answer in net.answers:
        if answer.verdict == NONE:
            answer.generation = 1


MUTANTS = (
    simple("asks_by_phase", member.set_out, NOTHING, ONE),
    mutant("goodbye-in-a-generation", "late_as_it_was_sent", {network.say_goodbye: say_goodbye_again}, ONE),
    mutant("sync-with-generation", "answer_is_whole", {network.give_assignment: give_assignment_and_id}, ONE),
    simple("parked_is_waited_for", coordinator.unpark, NOTHING, ONE),
    simple("does_as_told", member.tells_to_reset, NO, ONE),
    simple("gives_up_waiting", network.hang_up, NOTHING, FAULT),
    simple("dies_out", faults.close_connection, NOTHING, FAULT),
    simple("starts_anew", member.join_afresh, NOTHING, ONE),
    simple("says_goodbye", network.say_goodbye, NOTHING, ONE),
    simple("answers_are_so", network.give_id, NOTHING, ONE),
    simple("taken_or_answered", coordinator.park, NOTHING, ONE),
    simple("heartbeat_is_so", verdicts.heartbeat_verdict, YES, ONE),
    simple("beside_a_request", network.waits_in_generation, YES, ONE),
    simple("first_join_is_taken", network.id_known, NO, ONE),
    simple("join_is_taken", network.id_known, YES, ONE),
    simple("sync_is_taken", storage.store_group, NOTHING, ONE),
    simple("refused_sync_begins_rebalance", storage.refuse_append, NOTHING, FAULT),
    simple("commit_is_taken", verdicts.commit_verdict, YES, ONE),
    simple("refused_commit_is_answered", offsets.meaning, NO, FAULT),
    mutant("delayed-for-ever", "group_is_whole", {join.begin_generation: begin_with_delay}, ONE),
    simple("member_is_whole", coordinator.forget_member, NOTHING, FAULT),
    simple("leader_synced_is_stored", records.remember_append, NOTHING, ONE),
    mutant("lost-quietly", "lost_begins_rebalance", {membership.lose_member: lose_quietly}, ONE),
    simple("begins_when_needed", coordinator.park, NOTHING, ONE),
    simple("completes_as_chosen", network.answer_joins, NOTHING, ONE),
    simple("complete_with_all", coordinator.all_joined, YES, LOST),
    simple("timeout_removes_absent", join.remove_absent, NOTHING, LOST),
    simple("session_ends", coordinator.is_heir, YES, LOST),
    simple("pending_ends", coordinator.forget_member, NOTHING, ONE),
    simple("sync_is_overdue", membership.all_synced, NO, ONE),
    simple("log_is_whole", records.name_record, NOTHING, ONE),
    simple("callbacks_are_kept", records.name_record, NOTHING, ONE),
    simple("acknowledged_once", storage.acknowledge, NOTHING, ONE),
    simple("failed_once", storage.fail, NOTHING, FAULT),
    simple("stored_is_stable", sync.awaits, NO, ONE),
    simple("offset_is_cached", network.give_commit, NOTHING, ONE),
    simple("not_stored_begins_rebalance", sync.awaits, NO, FAULT),
    simple("commit_is_refused", network.give_error, NOTHING, scope(faults=1)),
    simple("reset_is_appended", storage.count_fault, NOTHING, FAULT),
    simple("group_is_stored_as_it_is", describe_group, NOTHING, ONE),
    simple("deleted_with_tombstone", deletion.tombstones_of, NO, FAULTS),
    simple("abandoned_when_deleted", deletion.abandon_commits, NOTHING, FAULTS),
    simple("counts_when_deleted", storage.count_fault, NOTHING, FAULT),
    simple("empty_is_deleted", verdicts.delete_group_verdict, YES, FAULT),
    simple("offset_is_deleted", verdicts.delete_offset_verdict, YES, scope(faults=1)),
    mutant_within(
        "commit-outlives-topic",
        "topic_takes_offsets",
        "topic_deleted",
        {deletion.abandon_commits: keep_commits},
        ONE_FAULT,
    ),
    simple("topic_takes_offsets", deletion.remove_offsets, NOTHING, FAULTS),
    simple("cleaned_in_time", storage.time_has_passed, YES, ONE),
    simple("dead_leaves", coordinator.forget_group, NOTHING, FAULT),
    simple("tombstone_is_written", storage.put_tombstone, NOTHING, FAULTS),
    simple("takes_over", loading.must_load, NO, ONE_MOVE),
    simple("crash_forgets", faults.forget_everything, NOTHING, FAULT),
    mutant("ageless", "ages_by_retention", {faults.time_passes: time_passes}, scope(log=1, periods=1)),
)
