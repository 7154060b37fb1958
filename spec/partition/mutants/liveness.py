"""Mutants of liveness of partitions. They are not held to the writing rules."""

from kafkaproof.spec.kafka.zookeeper import BADVERSION, LOST, NONODE, Delivery
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, mutant, within
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition import brokers, progress, rebalance, triggers
from kafkaproof.spec.partition import zookeeper as states
from kafkaproof.spec.partition.brokers import is_moved_away
from kafkaproof.spec.partition.context import OFFLINE, PREFERRED_BY_ZNODE, Broker, Partition
from kafkaproof.spec.partition.history.triggers import is_moved_away_though_queued
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.triggers import delete_request, needs_preferred, preferred_election, reassignment
from kafkaproof.spec.partition.zookeeper import checked_delete_request, checked_set_state, wanted_target


def tell_nobody(zk, b, members):
    """A controller tells nobody who leads."""
    return 0


def trigger_nobody(controller):
    """When a broker comes, no partition that wants a leader is elected."""
    controller.strategy = OFFLINE
    controller.todo = 0


def move_nothing(controller, preferred):
    """The automatic rebalance finds groups out of balance, and moves nothing."""
    return 0


def move_followers(controller, p, leaver):
    """A controlled shutdown stops followers, and moves no leader away."""
    return controller.partitions[p].leader != leaver and is_moved_away(controller, p, leaver)


def prefer_if_needed(s, b: Broker):
    """A request for preferred leaders is left where it is when every leader is the preferred one."""
    needed = False
    for p in range(len(s.brokers[b].controller.partitions)):
        needed = needed or needs_preferred(s.brokers[b].controller, p)
    if not needed:
        return False
    return preferred_election(s, b)


def delete_unwatched(s, b: Broker, delivery: Delivery):
    """After the deletion of a request the watch on its creation is not armed again: the next one is not heard of."""
    controller = s.brokers[b].controller
    strategy = controller.strategy
    if not delete_request(s, b, delivery):
        return False
    if strategy == PREFERRED_BY_ZNODE and controller.epoch > 0:
        controller.strategy = strategy
    return True


def prefer_if_heard(s, b: Broker):
    """Only a request for preferred leaders that the watch tells of is read (with `delete_unwatched`)."""
    if s.brokers[b].controller.strategy == PREFERRED_BY_ZNODE:
        return False
    return preferred_election(s, b)


def reassign_if_needed(s, b: Broker, p: Partition):
    """A reassignment is left where it is when a replica of the target leads already."""
    leader = s.brokers[b].controller.partitions[p].leader
    if leader != NOBODY and contains(wanted_target(s.zk, p), leader):
        return False
    return reassignment(s, b, p)


def delete_until_found(zk, b, request, epoch, delivery):
    """A request whose deletion finds nothing, as after one whose answer was lost, is deleted again and again."""
    answer = checked_delete_request(zk, b, request, epoch, delivery)
    return LOST if answer == NONODE else answer


def write_until_applied(zk, b, p, epoch, leader, isr, leader_epoch, delivery):
    """A state whose version is not the one that was read, as after a write whose answer was lost, is written again."""
    answer = checked_set_state(zk, b, p, epoch, leader, isr, leader_epoch, delivery)
    return LOST if answer == BADVERSION else answer


NO_FAULT, ONE_FAULT = scope(faults=0), scope()
ASKED_TWICE = scope(brokers=1, replicas=1, epochs=1, leader_epochs=1, faults=2)
ASKED_AND_LOST = scope(brokers=1, replicas=1, epochs=1, leader_epochs=1, faults=3)
LEADERS_STAY = {brokers.is_moved_away: move_followers}
FENCED = (
    mutant("nobody-told", "is_served_despite_loss", {states.known_as_they_are: tell_nobody}, NO_FAULT),
    Mutant(
        "startup-elects-nobody",
        first_paragraph(trigger_nobody),
        "is_served",
        within("broker_startup", {progress.trigger_online: trigger_nobody}),
        ONE_FAULT,
    ),
    mutant("rebalance-moves-nothing", "is_balanced", {rebalance.to_rebalance: move_nothing}, ONE_FAULT),
    mutant("leaders-stay", "may_go", LEADERS_STAY, ONE_FAULT),
    mutant("preferred-left", "preferred_dealt_with", {triggers.preferred_election: prefer_if_needed}, ONE_FAULT),
    mutant(
        "watch-not-armed-again",
        "preferred_dealt_with",
        {triggers.delete_request: delete_unwatched, triggers.preferred_election: prefer_if_heard},
        ASKED_TWICE,
    ),
    mutant("reassignment-left", "reassignment_dealt_with", {triggers.reassignment: reassign_if_needed}, ONE_FAULT),
    mutant(
        "own-deletion-unrecognised",
        "reassignment_dealt_with",
        {states.checked_delete_request: delete_until_found},
        ASKED_AND_LOST,
    ),
    mutant(
        "own-write-unrecognised",
        "preferred_dealt_with",
        {states.checked_set_state: write_until_applied},
        ASKED_AND_LOST,
    ),
)
LEGACY = (mutant("leaders-stay", "may_go_when_followed", {is_moved_away_though_queued: move_followers}, ONE_FAULT),)
