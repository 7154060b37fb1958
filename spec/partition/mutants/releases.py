"""Mutants of earlier releases: each does in one rule what a later release does, and is noticed."""

from kafkaproof.spec.kafka.state_machines import OFFLINE_PARTITION
from kafkaproof.spec.language.mutants.mutant import mutant
from kafkaproof.spec.partition import rounds
from kafkaproof.spec.partition.brokers import is_moved_away
from kafkaproof.spec.partition.context import EMPTY, has_leader, is_known, is_queued
from kafkaproof.spec.partition.elections import chosen_leader
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.history import triggers as former
from kafkaproof.spec.partition.history.leader_zk import take_notification
from kafkaproof.spec.partition.history.triggers import is_barred_by_list
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.mutants.partition_mutant import ONE, PAIR, TWO

FEW = scope(leader_epochs=1, faults=2)


def all_offline_leaders(controller):
    """The failure of a broker takes every partition offline whose leader is not online."""
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        if is_known(partition) and not has_leader(controller, partition) and not is_queued(controller, p):
            partition.state = OFFLINE_PARTITION


def elected_needlessly(controller, partition, isr, unclean):
    """A preferred election is held where the preferred replica leads already."""
    return chosen_leader(controller, partition, isr, unclean)


def left_if_queued(controller, p, leaver):
    """A controlled shutdown leaves the leaders of topics that are queued for deletion where they are."""
    return is_moved_away(controller, p, leaver)


def listed_one_by_one(controller):
    """Who is live changes only as the brokers that have come and gone are handled."""
    return 0


def never_barred(s, b):
    """The automatic rebalance does not wait for the end of reassignments."""
    return False


def barred_by_list_alone(s, b):
    """The automatic rebalance goes on after a request for preferred leaders has failed."""
    return is_barred_by_list(s, b)


REASSIGNED_FIRST = (
    mutant("rebalanced-meanwhile", "waits_for_reassignments", {former.is_barred_by_list: never_barred}, ONE),
)


def alone_again(refused):
    """Of a batch only the partitions are elected again whose writes met another version."""
    return refused


def all_again(refused):
    """A whole batch is elected again."""
    return True


def send_each_round(controller):
    """Each round of an election sends what it has written."""
    controller.todo = controller.next_round if controller.another_round else 0
    controller.partition_batch = EMPTY
    controller.another_round = 0
    controller.next_round = 0


LEGACY = (
    mutant("alone-again", "whole_batch_again", {former.is_whole_batch_elected_again: alone_again}, PAIR),
    mutant("listed-one-by-one", "live_as_listed", {leader_zk.take_list_at_once: listed_one_by_one}, ONE),
    mutant("queued-not-moved", "leaver_moved_away", {former.is_moved_away_though_queued: left_if_queued}, TWO),
)


def take_unchecked(zk, b, p, epoch, reader):
    """A deposed controller deletes the notification of a changed ISR."""
    return take_notification(zk, b, p, epoch, reader)


KIP460 = (
    mutant("notification-unchecked", "notification_taken", {leader_zk.checked_take_notification: take_unchecked}, ONE),
    mutant("all-again", "not_elected_twice", {rounds.is_elected_again: all_again}, PAIR),
    mutant("rounds-sent-at-once", "collected_when_over", {rounds.end_round: send_each_round}, PAIR),
)


def deletes_own(zk, b):
    """A controller whose failover has failed deletes /controller only if it owns it."""
    return zk.controller == b


def left_offline(controller, partition):
    """A preferred election that is not needed leaves the partition as it is."""
    return 0


ZKCLIENT = (
    mutant(
        "rebalanced-after-failure",
        "waits_for_election",
        {former.is_barred_by_election: barred_by_list_alone},
        scope(faults=2),
    ),
    mutant("own-given-up", "gives_up_whoever_owns_it", {leader_zk.deletes_any_controller: deletes_own}, TWO),
    mutant("needless-left-offline", "needless_counts", {former.end_needless: left_offline}, FEW),
    mutant("all-offline-leaders", "only_what_it_led", {former.mark_dead_leaders: all_offline_leaders}, TWO),
    mutant("needless-election", "preferred_if_needed", {former.chosen_leader_if_needed: elected_needlessly}, ONE),
)
