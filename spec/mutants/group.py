"""Mutants of groups: one deliberate mistake each, on the variants `current` and `static`.

Mutations known for G1 to G15 and G17, as far as this system can express them. A mutant is not held to the rules of
writing a transition.
"""

from spec.group import (
    coordinator, join, loading, member, membership, network, offsets, static, storage, sync, verdicts,
)
from spec.language.model import first_paragraph
from spec.mutants import group_mistakes as wrong
from spec.mutants.mutant import Mutant, everywhere, within


def scope(brokers, clients, ids, generations, epochs, log, appends=1, protocols=1, faults=0):
    """A scope."""
    return {"brokers": brokers, "clients": clients, "ids": ids, "generations": generations, "epochs": epochs,
            "log": log, "appends": appends, "protocols": protocols, "faults": faults}


ONE, TWO = scope(1, 1, 1, 2, 1, 2), scope(1, 2, 2, 1, 1, 1)
LATE, LONG = scope(1, 1, 1, 2, 1, 2, faults=1), scope(1, 1, 1, 2, 1, 3, appends=2, faults=1)
MOVED = scope(2, 1, 1, 2, 2, 2)


def mutant(name, kills, replacements, at=ONE):
    """A mutant of `current`, told by the docstring of what replaces something."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


def mutant_within(name, kills, transition, replacements, at=ONE):
    """The same, in one transition alone."""
    told = first_paragraph(next(iter(replacements.values())))
    return Mutant(name, told, kills, within(transition, replacements), at)


MUTANTS = (
    mutant("stable-to-completing", "legal_moves", {join.prepare_rebalance: wrong.await_at_once}),
    mutant("generation-from-zero", "next_generation", {join.begin_generation: wrong.generation_from_zero}),
    mutant("empty-is-no-generation", "next_generation", {join.begin_generation: wrong.same_generation_when_empty}),
    mutant("generation-forgotten", "generation_stays", {join.prepare_rebalance: wrong.forget_generation}),
    mutant("generation-not-loaded", "above_stored", {storage.read_log: wrong.read_without_generation}, MOVED),
    mutant("leader-not-replaced", "leader_is_member", {membership.lose_member: wrong.keep_leader}),
    mutant("everybody-leads", "one_list", {network.answer_joins: wrong.list_for_all}, TWO),
    mutant("callback-uncompared", "assignment_is_stored",
           {sync.awaits: wrong.any_generation_stored}, scope(1, 1, 1, 2, 1, 2, faults=1)),
    mutant("assignment-of-anybody", "leader_assigns", {verdicts.sync_verdict: wrong.anybody_assigns}, TWO),
    mutant("assignment-kept", "acts_when_assigned", {member.set_out: wrong.keep_assignment}),
    mutant("sync-uncompared", "assignment_is_stored", {verdicts.known_member: wrong.any_generation}, LATE),
    mutant("assigned-to-all", "disjoint", {network.answer_syncs: wrong.everything_to_all}, TWO),
    mutant("assigned-to-all-by-number", "disjoint_by_number", {network.answer_syncs: wrong.everything_to_all}, TWO),
    mutant_within("commit-of-a-former-generation", "commit_fence", "commit",
                  {verdicts.commit_verdict: wrong.commit_unfenced}, LATE),
    mutant_within("commit-of-strangers", "commit_fence", "commit",
                  {verdicts.commit_verdict: wrong.commit_of_strangers}),
    mutant_within("commit-without-group", "groupless_commit", "reset_offset",
                  {verdicts.commit_verdict: wrong.commit_without_group}, LATE),
    mutant_within("commit-uncompared", "no_stale_commit", "commit",
                  {verdicts.commit_verdict: wrong.commit_not_compared}, scope(1, 1, 1, 2, 1, 3)),
    mutant("loaded-in-part", "durable", {storage.is_readable: wrong.read_in_part}, MOVED),
    mutant("acknowledged-before-replicated", "answered_is_kept",
           {storage.acknowledge: wrong.acknowledge_unreplicated}, MOVED),
    mutant("last-callback-wins", "offset_never_regresses",
           {offsets.later: wrong.last_callback_wins}, scope(1, 1, 1, 1, 1, 3, appends=2, faults=1)),
    mutant("tombstones-ignored", "loaded_is_log",
           {storage.last_of: wrong.keep_deleted}, scope(2, 1, 1, 1, 2, 2, faults=2)),
    mutant("first-record-kept", "loaded_is_log", {storage.last_of: wrong.keep_first}, MOVED),
    mutant("stable-at-once", "assignment_is_stored", {sync.sync: wrong.stable_at_once}),
    mutant("callback-of-another-generation", "stable_is_stored",
           {sync.awaits: wrong.any_generation_stored}, scope(1, 1, 1, 2, 1, 2, faults=1)),
    mutant("protocol-of-the-leader", "chosen_protocol",
           {coordinator.is_elected: wrong.first_of_leader}, scope(1, 2, 2, 1, 1, 1, protocols=2)),
    mutant("syncs-left-parked", "parked_in_place", {network.refuse: wrong.leave_parked}, TWO),
    mutant_within("lost-without-a-word", "answered_once", "expire", {network.give_error: wrong.tell_nobody}),
    mutant("dead-is-alive", "dead_is_silent",
           {verdicts.first_join_verdict: wrong.dead_is_alive}, scope(1, 1, 1, 1, 1, 2, faults=2)),
    mutant("owned-for-ever", "owner_was_elected", {loading.disown: wrong.own_for_ever}, MOVED),
    mutant("acknowledged-by-a-zombie", "stored_by_right", {storage.may_succeed: wrong.succeed}, MOVED),
)
STATIC_MUTANTS = (
    mutant("both-ids-kept", "instance_is_one", {static.forget_former: wrong.keep_both}, scope(1, 2, 2, 1, 1, 1)),
    mutant_within("never-fenced", "replaced_is_fenced", "commit", {verdicts.membership: wrong.never_fenced},
                  scope(1, 2, 2, 1, 1, 2)),
)
"""The same, of the variant `static`."""
