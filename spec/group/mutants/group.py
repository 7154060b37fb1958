"""Mutants of groups: one deliberate mistake each, most on the variant `current`.

All mutations that are known for G1 to G17. A mutant is not held to the rules of
writing a transition.
"""

from dataclasses import replace

from kafkaproof.spec.group import (
    cache,
    deletion,
    join,
    loading,
    member,
    membership,
    network,
    offsets,
    protocols,
    static,
    storage,
    sync,
    verdicts,
)
from kafkaproof.spec.group.coordinator import forget_group
from kafkaproof.spec.group.history import clients as former_clients
from kafkaproof.spec.group.history import group_limited as limited
from kafkaproof.spec.group.history import releases, rules
from kafkaproof.spec.group.history.never_empty import storage as never_empty
from kafkaproof.spec.group.history.unlocked import coordinator as unlocked
from kafkaproof.spec.group.history.unlocked import storage as unlocked_storage
from kafkaproof.spec.group.mutants import mistakes as wrong
from kafkaproof.spec.group.scopes import FORGOTTEN, scope
from kafkaproof.spec.language.model import Transition, first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere, within

ONE, TWO = scope(generations=2), scope(clients=2, ids=2, log=1)
LATE, LONG = scope(generations=2, faults=1), scope(generations=2, log=3, appends=2, faults=1)
MOVED, AGEING = scope(brokers=2, generations=2, epochs=2), scope(generations=2, log=3, periods=1)


def mutant(name, kills, replacements, at=ONE):
    """A mutant of `current`, told by the docstring of what replaces something."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


def mutant_within(name, kills, transition, replacements, at=ONE):
    """The same, in one transition alone."""
    told = first_paragraph(next(iter(replacements.values())))
    return Mutant(name, told, kills, within(transition, replacements), at)


def append_unlocked(model):
    """Records are appended after the group's lock is released, as up to 0.10.2."""
    appending = Transition(unlocked.append, "broker {b}")
    return replace(model, transitions=(*model.transitions, appending)).rebound(releases.APPENDED_LATER)


MUTANTS = (
    mutant("stable-to-completing", "legal_moves", {join.prepare_rebalance: wrong.await_at_once}),
    mutant("generation-from-zero", "next_generation", {join.begin_generation: wrong.generation_from_zero}),
    mutant("empty-is-no-generation", "next_generation", {join.begin_generation: wrong.same_generation_when_empty}),
    mutant("generation-forgotten", "generation_stays", {join.prepare_rebalance: wrong.forget_generation}),
    mutant("generation-not-loaded", "above_stored", {cache.load_group: wrong.load_without_generation}, MOVED),
    mutant("leader-not-replaced", "leader_is_member", {membership.lose_member: wrong.keep_leader}),
    mutant("everybody-leads", "one_list", {network.answer_joins: wrong.list_for_all}, TWO),
    mutant(
        "callback-uncompared",
        "assignment_is_stored",
        {sync.awaits: wrong.any_generation_stored},
        scope(generations=2, faults=1),
    ),
    mutant("id-forgotten", "does_as_told", {member.tells_to_reset: former_clients.forgets_its_id}, FORGOTTEN),
    mutant("assignment-of-anybody", "leader_assigns", {verdicts.sync_verdict: wrong.anybody_assigns}, TWO),
    mutant("assignment-kept", "acts_when_assigned", {member.set_out: wrong.keep_assignment}),
    mutant("sync-uncompared", "assignment_is_stored", {verdicts.known_member: wrong.any_generation}, LATE),
    mutant(
        "assignment-kept-beside",
        "disjoint",
        {member.set_out: wrong.keep_assignment},
        scope(clients=2, ids=2, generations=2),
    ),
    mutant("assigned-to-all", "disjoint", {network.answer_syncs: wrong.everything_to_all}, TWO),
    mutant("assigned-to-all-by-number", "disjoint_by_number", {network.answer_syncs: wrong.everything_to_all}, TWO),
    mutant_within(
        "commit-of-a-former-generation",
        "commit_fence",
        "commit",
        {verdicts.commit_verdict: wrong.commit_unfenced},
        LATE,
    ),
    mutant_within(
        "commit-of-strangers", "commit_fence", "commit", {verdicts.commit_verdict: wrong.commit_of_strangers}
    ),
    mutant_within(
        "commit-without-group",
        "groupless_commit",
        "reset_offset",
        {verdicts.commit_verdict: wrong.commit_without_group},
        LATE,
    ),
    mutant_within(
        "commit-uncompared",
        "no_stale_commit",
        "commit",
        {verdicts.commit_verdict: wrong.commit_not_compared},
        scope(generations=2, log=3),
    ),
    mutant_within(
        "commit-of-later-generations",
        "commit_fence",
        "commit",
        {verdicts.commit_verdict: wrong.commit_of_later_generations},
        scope(brokers=2, clients=2, ids=2, generations=2, epochs=2),
    ),
    mutant("loaded-to-the-high-watermark", "durable", {storage.is_readable: rules.is_below_high_watermark}, MOVED),
    mutant("loaded-in-part", "durable", {storage.is_readable: wrong.read_in_part}, MOVED),
    mutant(
        "acknowledged-before-replicated",
        "answered_is_kept",
        {storage.acknowledge: wrong.acknowledge_unreplicated},
        MOVED,
    ),
    mutant(
        "last-callback-wins",
        "offset_never_regresses",
        {offsets.later: wrong.last_callback_wins},
        scope(log=3, appends=2, faults=1),
    ),
    mutant(
        "tombstones-ignored",
        "loaded_is_log",
        {storage.read_record: wrong.keep_deleted},
        scope(brokers=2, epochs=2, faults=2),
    ),
    mutant("first-record-kept", "loaded_is_log", {storage.read_record: wrong.keep_first}, MOVED),
    mutant("stable-at-once", "assignment_is_stored", {sync.sync: wrong.stable_at_once}, MOVED),
    mutant(
        "stable-though-refused",
        "stable_is_stored",
        {sync.sync_refused: wrong.stable_though_refused},
        scope(log=1, faults=1),
    ),
    mutant(
        "callback-of-another-generation",
        "stable_is_stored",
        {sync.awaits: wrong.any_generation_stored},
        scope(generations=2, faults=1),
    ),
    mutant(
        "protocol-of-the-leader",
        "chosen_protocol",
        {protocols.is_elected: wrong.first_of_leader},
        scope(clients=2, ids=2, log=1, protocols=2),
    ),
    mutant("syncs-left-parked", "parked_in_place", {network.refuse: wrong.leave_parked}, TWO),
    mutant("syncs-unanswered", "answered_once", {network.refuse: wrong.unpark_silently}, TWO),
    mutant_within("lost-without-a-word", "answered_once", "expire", {network.give_error: wrong.tell_nobody}),
    mutant("dead-is-alive", "dead_is_silent", {verdicts.first_join_verdict: wrong.dead_is_alive}, scope(faults=2)),
    mutant("owned-for-ever", "owner_was_elected", {loading.disown: wrong.own_for_ever}, MOVED),
    mutant(
        "acknowledged-by-a-zombie",
        "stored_by_right",
        {storage.may_succeed: wrong.succeed, storage.owner_in: wrong.owner_if_stored},
        MOVED,
    ),
    mutant(
        "expired-while-running", "running_group_keeps_offset", {deletion.is_expired: wrong.expire_in_stable}, AGEING
    ),
    mutant("expired-when-empty", "expires_by_group", {deletion.is_expired: wrong.expire_when_empty}, AGEING),
    mutant(
        "expired-without-age",
        "young_offset_stays",
        {deletion.is_expired: wrong.expire_ageless},
        scope(topics=2, periods=1),
    ),
    mutant(
        "dead-with-a-pending-commit", "dies_with_nothing", {deletion.has_pending_commit: wrong.nothing_pending}, AGEING
    ),
)
LOCKED_MUTANTS = (
    mutant("expired-at-once", "expires_by_age", {rules.expires_by_itself: wrong.expire_at_once}, AGEING),
    mutant(
        "loaded-to-the-high-watermark",
        "loaded_is_log",
        {storage.is_readable: rules.is_below_high_watermark},
        scope(brokers=2, epochs=2),
    ),
    Mutant(
        "appended-outside-the-lock",
        first_paragraph(append_unlocked),
        "no_stale_commit",
        append_unlocked,
        scope(clients=2, ids=2, generations=2, log=3, prepared=2),
    ),
)
NEVER_EMPTY_MUTANTS = (
    Mutant(
        "empty-when-all-left",
        "A group whose last member is gone is Empty and stored, as from 0.10.1 on.",
        "never_empty",
        everywhere({never_empty.remove_group: unlocked_storage.store_empty}),
        scope(generations=2, prepared=1),
    ),
    Mutant(
        "offset-dies-with-group",
        "A group that dies takes its offset with it.",
        "dies_without_members",
        everywhere({cache.forget_membership: forget_group}),
        scope(prepared=1),
    ),
    mutant(
        "loaded-without-generation",
        "loaded_as_read",
        {cache.load_group: wrong.load_without_generation},
        scope(brokers=2, epochs=2, prepared=1),
    ),
    mutant(
        "expired-in-the-log-alone",
        "cached_is_kept",
        {deletion.delete_committed: wrong.expire_without_removal},
        scope(log=3, periods=1, prepared=1),
    ),
)
LIMITED_MUTANTS = (mutant("no-limit", "one_member", {limited.accepts_one: wrong.accept_all}, TWO),)
TRANSACTIONAL_MUTANTS = (
    mutant("aborted-counts", "counts_when_committed", {cache.settle: wrong.merge_aborted}, scope()),
)
"""Of the variants with these names."""
STATIC_MUTANTS = (
    mutant(
        "replacement-unanswered", "parked_in_place", {static.take_join: wrong.answer_no_join}, scope(clients=2, ids=2)
    ),
    mutant("both-ids-kept", "instance_is_one", {static.forget_former: wrong.keep_both}, scope(clients=2, ids=2, log=1)),
    mutant_within(
        "never-fenced",
        "replaced_is_fenced",
        "commit",
        {verdicts.membership: wrong.never_fenced},
        scope(clients=2, ids=2),
    ),
)
"""The same, of the variant `static`."""
