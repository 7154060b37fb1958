"""Lemmas of the partition machines, between controllers: who has read the present version of a state remembers it.

In short: a term has an epoch of its own; a controller that knows the version of a state is about to write what its
strategy makes of it; what it remembers is the state, but for its own write whose answer was lost; and whoever knows a
leader epoch (in a cache, on its way or at a broker) knows the leader that was written with it.
"""

from kafkaproof.spec.kafka.strategies import isr_after_removal, leader_after_removal
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, is_empty
from kafkaproof.spec.partition.context import (
    ELECTING,
    NO_EPOCH,
    REMOVING,
    WRITING_LEADER,
    WRITING_REMOVAL,
    Broker,
    Partition,
    is_known,
)
from kafkaproof.spec.partition.elections import chosen_leader
from kafkaproof.spec.partition.lemmas.events import EVENTS
from kafkaproof.spec.partition.properties.elections import expected_isr, expected_leader
from kafkaproof.spec.partition.properties.invariants import (
    dead_knows_nothing,
    is_first,
    is_loaded,
    owner_rules,
    reader_rules,
    taken_has_leader,
)
from kafkaproof.spec.partition.properties.states import exists
from kafkaproof.spec.partition.replica import Epoch
from kafkaproof.spec.partition.zookeeper import session_open


def term_was_elected(s, b: Broker):
    """The epoch of a term was written."""
    return s.brokers[b].controller.epoch <= s.zk.epoch


def terms_differ(s, a: Broker, b: Broker):
    """No two controllers have the same epoch."""
    mine = s.brokers[a].controller.epoch
    return a == b or mine == 0 or mine != s.brokers[b].controller.epoch


def none_is_none(s, p: Partition):
    """A partition without a state has no leader, no ISR and no writer, and nobody knows a version."""
    state = s.zk.partitions[p]
    if exists(state):
        return True
    empty = is_empty(state.isr) and is_empty(state.readers)
    return empty and state.leader == NOBODY and state.controller_epoch == 0


def knows_version(s, b, p):
    """Whether a controller by right knows the present version of a state."""
    return contains(s.zk.partitions[p].readers, b) and s.brokers[b].controller.epoch == s.zk.epoch


def election_is_of_the_state(s, b: Broker, p: Partition):
    """What it is about to write after an election is what its strategy makes of the state, in the next leader epoch."""
    controller = s.brokers[b].controller
    if controller.doing != WRITING_LEADER or not knows_version(s, b, p) or not is_first(controller.todo, p):
        return True
    state = s.zk.partitions[p]
    result = controller.result
    leader = expected_leader(controller, p, state, 0)
    if leader == NOBODY:
        leader = expected_leader(controller, p, state, s.zk.unclean)
    if not exists(state) or leader == NOBODY or result.leader_epoch != state.leader_epoch + 1:
        return False
    return result.leader == leader and result.isr == expected_isr(controller, p, state, leader)


def removal_is_of_the_state(s, b: Broker, p: Partition, r: Broker):
    """What it is about to write when a replica goes offline is the state without it, in the next leader epoch."""
    controller = s.brokers[b].controller
    if controller.doing != WRITING_REMOVAL or not knows_version(s, b, p):
        return True
    if not is_first(controller.removing, p) or not is_first(controller.replicas, r):
        return True
    state = s.zk.partitions[p]
    result = controller.result
    if result.leader_epoch != state.leader_epoch + 1 or not contains(state.isr, r):
        return False
    return result.leader == leader_after_removal(state.leader, r) and result.isr == isr_after_removal(state.isr, r)


def cache_was_written(s, b: Broker, p: Partition):
    """What a controller remembers of leadership was written: the present one, or an older."""
    cached = s.brokers[b].controller.partitions[p]
    state = s.zk.partitions[p]
    if not is_known(cached):
        return cached.leader == NOBODY and is_empty(cached.isr)
    older = cached.leader_epoch < state.leader_epoch
    return older or cached.leader_epoch == state.leader_epoch and cached.leader == state.leader


def may_have_written(s, b, p):
    """Whether a controller may find its own write, whose answer was lost: it removes, or would elect once more."""
    controller = s.brokers[b].controller
    cached = controller.partitions[p]
    state = s.zk.partitions[p]
    if not is_known(cached):
        return True
    if contains(controller.removing, p) and (controller.doing == REMOVING or controller.doing == WRITING_REMOVAL):
        return state.leader == cached.leader or contains(controller.replicas, cached.leader)
    elects = controller.doing == ELECTING or controller.doing == WRITING_LEADER
    asked = contains(controller.todo, p) or contains(controller.next_round, p)
    return elects and asked and chosen_leader(controller, cached, state.isr, 0) != NOBODY


def cache_is_state(s, b: Broker, p: Partition):
    """Until another writes, or its session is over, a controller remembers the leadership, but for its own write whose
    answer was lost. One that another has followed may not ask for that again.
    """
    cached = s.brokers[b].controller.partitions[p]
    state = s.zk.partitions[p]
    epoch = s.brokers[b].controller.epoch
    if epoch < state.controller_epoch or not is_loaded(s, b, p) or not session_open(s.zk, b):
        return True
    if cached.leader_epoch == state.leader_epoch and (cached.isr == state.isr or s.zk.ghosts.lost):
        return True
    is_past = epoch != s.zk.epoch and cached.leader_epoch < state.leader_epoch
    return s.zk.ghosts.lost and (is_past or may_have_written(s, b, p))


def agree(first, second):
    """Whether two that know the same leader epoch know the same leader."""
    return first.leader_epoch != second.leader_epoch or first.leader == second.leader


def sent_was_written(s, p: Partition, epoch: Epoch):
    """Requests are of terms that were, and name a leadership that was written: the present one, or an older."""
    request = s.network.requests[epoch][p]
    state = s.zk.partitions[p]
    if request.leader_epoch == NO_EPOCH:
        return is_empty(request.to) and request.leader == NOBODY
    return 0 < epoch <= s.zk.epoch and request.leader_epoch <= state.leader_epoch and agree(request, state)


def sent_agree(s, p: Partition, epoch: Epoch, other: Epoch):
    """Requests of one leader epoch name one leader."""
    return agree(s.network.requests[epoch][p], s.network.requests[other][p])


def sent_and_cached_agree(s, b: Broker, p: Partition, epoch: Epoch):
    """So do requests and caches."""
    return agree(s.network.requests[epoch][p], s.brokers[b].controller.partitions[p])


def sent_and_taken_agree(s, b: Broker, p: Partition, epoch: Epoch):
    """So do requests and replicas."""
    return agree(s.network.requests[epoch][p], s.brokers[b].replicas[p])


def taken_and_cached_agree(s, a: Broker, b: Broker, p: Partition):
    """So do replicas and caches."""
    return agree(s.brokers[a].replicas[p], s.brokers[b].controller.partitions[p])


def caches_agree(s, a: Broker, b: Broker, p: Partition):
    """So do two caches."""
    return agree(s.brokers[a].controller.partitions[p], s.brokers[b].controller.partitions[p])


def proposal_is_of_a_leader(s, b: Broker, p: Partition):
    """A proposal carries the leader epoch in which its sender believes to lead."""
    replica = s.brokers[b].replicas[p]
    epoch = s.network.proposals[p][b]
    return epoch == NO_EPOCH or replica.leader == b and replica.leader_epoch == epoch


FENCED = EVENTS + (
    term_was_elected,
    terms_differ,
    owner_rules,
    dead_knows_nothing,
    none_is_none,
    reader_rules,
    election_is_of_the_state,
    removal_is_of_the_state,
    cache_was_written,
    cache_is_state,
    sent_was_written,
    sent_agree,
    sent_and_cached_agree,
    sent_and_taken_agree,
    taken_and_cached_agree,
    caches_agree,
    taken_has_leader,
    proposal_is_of_a_leader,
)
