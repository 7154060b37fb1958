"""What each range of releases did differently: the functions that stand for others, and those that these call.

A range takes over what the next one did differently. `CALLED` is replaced after `WAYS`, so that it reaches those, too.
"""

from kafkaproof.spec.group import cache, deletion, join, loading, member, membership, offsets, storage, verdicts
from kafkaproof.spec.group.history import answers, clients, rules
from kafkaproof.spec.group.history.never_empty import offsets as apart
from kafkaproof.spec.group.history.never_empty import storage as never_empty
from kafkaproof.spec.group.history.unlocked import storage as unlocked

WAYS_2_6_1 = {
    member.tells_to_reset: clients.forgets_its_id,
    loading.must_load: rules.loads_again,
    deletion.is_expired: rules.expires_unsubscribed,
}
WAYS_2_4 = WAYS_2_6_1 | {verdicts.heartbeat_verdict: answers.heartbeat_of_generation}
WAYS_2_3 = WAYS_2_4 | {verdicts.commit_verdict: answers.commit_of_state, deletion.is_expired: rules.expires_empty}
WAYS_2_1 = WAYS_2_3 | {verdicts.heartbeat_verdict: answers.heartbeat_of_state}
WAYS_2_0 = WAYS_2_1 | {deletion.is_expired: rules.expires_by_itself, membership.patience_is_over: rules.is_kept_by_join}
WAYS_0_11 = WAYS_2_0 | {verdicts.sync_verdict: answers.sync_though_it_loads}
APPENDED_LATER = {
    storage.store_group: unlocked.store_group,
    storage.store_empty: unlocked.store_empty,
    storage.store_offset: unlocked.store_offset,
}
WAYS_0_10_1 = (
    WAYS_0_11
    | APPENDED_LATER
    | {
        join.prepare_rebalance: rules.prepare_at_once,
        offsets.later: rules.last_callback,
        storage.is_readable: rules.is_below_high_watermark,
    }
)
WAYS_0_9 = WAYS_0_10_1 | {
    storage.store_empty: never_empty.remove_group,
    join.create_if_absent: apart.stay_absent,
    loading.disown: apart.disown_with_offsets,
    loading.drop_loaded: apart.drop_loaded_group,
    storage.has_read: never_empty.has_read_again,
    cache.install: apart.install_members,
    verdicts.heartbeat_verdict: answers.heartbeat_of_anybody,
    member.tells_to_reset: clients.forgets_when_it_synchronizes,
}
CALLED_2_2 = {verdicts.dead: answers.dead_is_unknown}
CALLED_2_0 = CALLED_2_2 | {verdicts.member_id_is_required: answers.no_member_id_is_required}
CALLED_0_11 = CALLED_2_0 | {verdicts.gate: answers.owned_before_loaded}
CALLED_0_9 = CALLED_0_11 | {
    deletion.abandon_commits: apart.keep_commits,
    storage.is_readable: rules.is_below_high_watermark,
}
