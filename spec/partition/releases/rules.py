"""The rules of earlier releases in place of the present ones. A group is named after the last release that has them."""

from kafkaproof.spec.kafka import state_machines
from kafkaproof.spec.kafka.strategies import may_rebalance
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.partition import (
    brokers,
    context,
    elections,
    failover,
    machines,
    network,
    progress,
    rebalance,
    rounds,
    telling,
    triggers,
    zookeeper,
)
from kafkaproof.spec.partition.history import leader_zk, pending_first, updates
from kafkaproof.spec.partition.history import triggers as former
from kafkaproof.spec.partition.history import zkclient_partition as zkclient
from kafkaproof.spec.partition.history.strategies import may_rebalance_if_online

UNTIL_3_3 = {rebalance.is_barred: former.is_barred_by_list}
"""Where no reassignment is in steps of its own (see `phases.brokers.is_barred`)."""
UNTIL_3_0 = {telling.is_failure_told: updates.is_no_leader_missing}
UNTIL_2_6 = UNTIL_3_0 | {
    leader_zk.take_notification: leader_zk.checked_take_notification,
    telling.tell_newcomers: updates.tell_newcomers_all,
}
"""What `LEADER_ZK` replaces from 2.1 on, where its deletions are checked."""
UNTIL_2_5 = UNTIL_3_0 | {may_rebalance: may_rebalance_if_online}
FORMER_MOVES = {state_machines.replica_move_is_legal: state_machines.replica_move_was_legal}
"""Until 2.2, in transitions and properties."""
UNTIL_2_3 = UNTIL_2_5 | {rounds.is_elected_again: former.is_whole_batch_elected_again}
UNTIL_2_2 = UNTIL_2_3 | FORMER_MOVES | {progress.dead_hosts: leader_zk.nobody}
TO_ANY_PROCESS = {zookeeper.known_as_they_are: zookeeper.as_they_are}
UNTIL_2_1 = (
    UNTIL_2_2
    | TO_ANY_PROCESS
    | {
        zookeeper.list_brokers: leader_zk.list_broker_ids,
        brokers.take_list: leader_zk.take_list_at_once,
        network.drop_requests: network.keep_requests,
        triggers.needs_preferred: leader_zk.needs_any_election,
        telling.tell_brokers: rebind(updates.tell_all_partitions, TO_ANY_PROCESS),
        telling.tell_newcomers: rebind(updates.tell_everybody, TO_ANY_PROCESS),
        triggers.fails_event: leader_zk.never_fails,
    }
)
UNFENCED = UNTIL_2_1 | {
    zookeeper.checked_create_state: zookeeper.create_state,
    zookeeper.checked_set_state: zookeeper.set_state,
    zookeeper.checked_delete_request: zookeeper.delete_request,
    progress.lapse: leader_zk.resign_at_once,
    zookeeper.deletes_own_controller: leader_zk.deletes_any_controller,
    brokers.is_moved_away: former.is_moved_away_though_queued,
}
"""Until 2.0."""
UNTIL_1_0 = UNFENCED | {
    elections.isr_without: zkclient.isr_without_even_the_last,
    elections.chosen_leader: former.chosen_leader_if_needed,
    elections.end_in_vain: former.end_needless,
    progress.lapse: zkclient.ask_again,
    progress.give_up: zkclient.ask_in_event_again,
    triggers.reads_request: zkclient.waits_for_request,
    rounds.is_elected_again: zkclient.is_never_put_off,
    rounds.retry_election: zkclient.elect_at_once,
    machines.fail_election: zkclient.elect_again,
    machines.fail_removal: zkclient.remove_again,
}
UNTIL_0_11 = UNTIL_1_0 | {
    progress.mark_offline_leaders: former.mark_dead_leaders,
    telling.is_failure_told: updates.is_no_leader_dead,
}
WITH_PENDING = UNTIL_0_11 | {
    triggers.reads_request: pending_first.was_asked,
    context.drop_event: pending_first.drop_event,
}
UNTIL_0_10 = WITH_PENDING | {
    failover.start_machines: rebind(pending_first.start_machines, WITH_PENDING),
    rebalance.is_barred: former.is_barred_by_election,
}
