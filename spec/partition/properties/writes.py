"""Properties of what partitions' controllers and brokers read, write, send and take: one request and its answer.

A write is applied only on the version that was read, in the epoch of the last election; its answer decides what the
controller remembers and to whom it sends LeaderAndIsr; a broker obeys the highest epochs that it has seen.
Sources: KafkaZkClient.updateLeaderAndIsr, ControllerBrokerRequestBatch and
ReplicaManager.becomeLeaderOrFollower, 2.7 to 3.9.
"""

from kafkaproof.spec.kafka.state_machines import NEW_PARTITION, OFFLINE_REPLICA, ONLINE_PARTITION
from kafkaproof.spec.kafka.strategies import isr_after_removal, leader_after_removal, replicas_of
from kafkaproof.spec.kafka.zookeeper import ANSWERED, LOST_DROPPED
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only, without_member
from kafkaproof.spec.partition.context import (
    CONTROLLED_SHUTDOWN,
    DELETING_EVENTS,
    DELETING_REQUEST,
    ELECTING,
    NO_EPOCH,
    REMOVING,
    WRITING_LEADER,
    WRITING_REMOVAL,
    alive,
    is_known,
)
from kafkaproof.spec.partition.properties.controllers import differs_from_cache
from kafkaproof.spec.partition.properties.elections import expected_isr, expected_leader
from kafkaproof.spec.partition.properties.invariants import is_first
from kafkaproof.spec.partition.properties.rounds import is_passed, left_to_elect
from kafkaproof.spec.partition.properties.sessions import has_session, rests, term_goes_on
from kafkaproof.spec.partition.properties.states import differs, exists
from kafkaproof.spec.partition.zookeeper import assigned, listed


def is_refused(s, b):
    """Whether a write of a controller is refused: its session is over, or another controller was elected."""
    return not has_session(s, b) or s.brokers[b].controller.epoch != s.zk.epoch


def ends_unwritten(before, after, b, p):
    """Whether a refused write has changed nothing, and ended the term: in a session that is over it goes on, and in a
    controlled shutdown, which answers the broker that the write was refused.
    """
    if has_session(before, b) and before.brokers[b].controller.strategy != CONTROLLED_SHUTDOWN:
        return after.brokers[b].controller.epoch == 0 and not differs(before.zk.partitions[p], after.zk.partitions[p])
    return goes_on_unwritten(before, after, b, p)


def goes_on_unwritten(before, after, b, p):
    """Whether a refused write has changed nothing, and the term goes on."""
    return term_goes_on(before, after, b) and not differs(before.zk.partitions[p], after.zk.partitions[p])


def is_remembered(after, b, p):
    """Whether a controller remembers a state that it wrote, including its version, under its own epoch."""
    state = after.zk.partitions[p]
    controller = after.brokers[b].controller
    own = state.controller_epoch == controller.epoch and contains(state.readers, b)
    return own and not differs_from_cache(state, controller.partitions[p])


def is_answered(before, after, b, p, delivery, again, todo):
    """Whether a write on the version that was read was applied, remembered and followed by the rest of the event as
    its answer says: on another version the controller reads `again`, with `todo` to elect; without an answer it retries.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    known = contains(before.zk.partitions[p].readers, b)
    applied = known and delivery != LOST_DROPPED
    state = after.zk.partitions[p]
    if applied != differs(before.zk.partitions[p], state):
        return False
    as_read = state.leader == old.result.leader and state.isr == old.result.isr
    if applied and not (as_read and state.leader_epoch == old.result.leader_epoch):
        return False
    if applied and delivery != ANSWERED and not is_empty(state.readers):
        return False
    if delivery != ANSWERED:
        return new.doing == old.doing and new.result.leader_epoch == old.result.leader_epoch
    if not known:
        return new.doing == again and new.todo == todo and new.removing == old.removing
    return is_remembered(after, b, p) and state.readers == only(b)


def election_written(before, after, b, p, delivery):
    """An election's result is written on the version that was read; if that succeeds it is remembered and the partition
    is Online; on another version the state is read again when the others are through, without an answer the write is
    retried; where another was elected the term ends, and without a session the election fails.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.doing != WRITING_LEADER or not is_first(old.todo, p):
        return False
    if is_refused(before, b):
        failed = is_passed(old, new, p) and new.partitions[p].state == old.partitions[p].state
        return (failed or has_session(before, b)) and ends_unwritten(before, after, b, p)
    if not is_answered(before, after, b, p, delivery, ELECTING, left_to_elect(old, p, True)):
        return False
    done = delivery == ANSWERED and contains(before.zk.partitions[p].readers, b)
    return not done or is_passed(old, new, p) and new.partitions[p].state == ONLINE_PARTITION


def removal_written(before, after, b, p, r, delivery):
    """The ISR without a replica that goes offline is written in the same way; then the replica is Offline."""
    old = before.brokers[b].controller
    if old.doing != WRITING_REMOVAL or not is_first(old.removing, p) or not is_first(old.replicas, r):
        return False
    if is_refused(before, b):
        kept = after.brokers[b].controller.partitions[p].replicas[r] == old.partitions[p].replicas[r]
        return (kept or has_session(before, b)) and ends_unwritten(before, after, b, p)
    if not is_answered(before, after, b, p, delivery, REMOVING, old.todo):
        return False
    done = delivery == ANSWERED and contains(before.zk.partitions[p].readers, b)
    return not done or after.brokers[b].controller.partitions[p].replicas[r] == OFFLINE_REPLICA


def first_state_written(before, after, b, p, delivery):
    """The first state is created where there is none, if some replica can lead; then it is remembered, the partition is
    Online, and LeaderAndIsr is sent to its ISR; where there is a state the partition stays New.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.doing != ELECTING or not is_first(old.todo, p) or old.partitions[p].state != NEW_PARTITION:
        return False
    replicas = replicas_of(old.partitions[p].assignment)
    possible = not is_empty(intersection(replicas, difference(alive(old), old.partitions[p].failed)))
    if possible and is_refused(before, b):
        return ends_unwritten(before, after, b, p)
    made = possible and not exists(before.zk.partitions[p])
    if (made and delivery != LOST_DROPPED) != differs(before.zk.partitions[p], after.zk.partitions[p]):
        return False
    if possible and delivery != ANSWERED:
        return new.doing == old.doing and new.todo == old.todo and not is_known(new.partitions[p])
    if not is_passed(old, new, p):
        return False
    if not made:
        return new.partitions[p].state == NEW_PARTITION
    request = after.network.requests[old.epoch][p]
    told = request.leader_epoch == 0 and request.to == intersection(new.partitions[p].isr, before.zk.clients[b].seen)
    return told and is_remembered(after, b, p) and new.partitions[p].state == ONLINE_PARTITION


def elected_as_read(before, after, b, p):
    """An election reads the state, and is held unless a later controller wrote it: its strategy's leader is to be
    written, or the partition stays as it is.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    state = before.zk.partitions[p]
    if old.doing != ELECTING or not is_first(old.todo, p) or old.partitions[p].state == NEW_PARTITION:
        return False
    if not has_session(before, b):
        failed = is_passed(old, new, p) and new.partitions[p].state == old.partitions[p].state
        return failed and term_goes_on(before, after, b)
    leader = NOBODY
    if state.controller_epoch <= old.epoch and exists(state):
        leader = expected_leader(old, p, state, before.zk.unclean)
    if leader == NOBODY:
        return is_passed(old, new, p) and new.partitions[p].state == old.partitions[p].state
    result = new.result
    elected = result.leader == leader and result.isr == expected_isr(old, p, state, leader)
    elected = elected and result.leader_epoch == state.leader_epoch + 1 and contains(after.zk.partitions[p].readers, b)
    return elected and new.doing == WRITING_LEADER and new.todo == old.todo


def removed_as_read(before, after, b, p, r):
    """A controller that takes a replica offline reads the state: with the replica in the ISR it is to be written
    without it; else it is remembered as read, and the replica is Offline, unless a later controller wrote it.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    state = before.zk.partitions[p]
    if old.doing != REMOVING or not is_first(old.removing, p) or not is_first(old.replicas, r):
        return False
    if not has_session(before, b):
        return term_goes_on(before, after, b) and new.partitions[p].replicas[r] == old.partitions[p].replicas[r]
    if not exists(state) or state.controller_epoch > old.epoch:
        return new.partitions[p].replicas[r] == old.partitions[p].replicas[r]
    if not contains(after.zk.partitions[p].readers, b):
        return False
    if contains(state.isr, r):
        result = new.result
        left = result.leader == leader_after_removal(state.leader, r) and result.isr == isr_after_removal(state.isr, r)
        return left and new.doing == WRITING_REMOVAL and result.leader_epoch == state.leader_epoch + 1
    return new.partitions[p].replicas[r] == OFFLINE_REPLICA and not differs_from_cache(state, new.partitions[p])


def eligible(s, controller, p):
    """The replicas that a proposed ISR may consist of: those that are live and not shutting down."""
    return intersection(alive(controller), assigned(s.zk, p))


def proposal_granted(before, after, b, p, sender, isr, delivery):
    """A proposal is granted to the leader of the cached leader epoch, for eligible replicas; then it is written on the
    cached version, and cached. Where it is refused nothing is written, and the term goes on.
    """
    old = before.brokers[b].controller
    cached = old.partitions[p]
    new = after.brokers[b].controller
    proposed = before.network.proposals[p][sender]
    if (
        not rests(before, b)
        or proposed == NO_EPOCH
        or proposed != cached.leader_epoch
        or not contains(old.live, sender)
    ):
        return False
    if not has_session(before, b):
        return goes_on_unwritten(before, after, b, p) and rests(after, b)
    if isr == cached.isr or not contains(isr, sender) or not is_empty(difference(isr, eligible(before, old, p))):
        return False
    if is_refused(before, b):
        return goes_on_unwritten(before, after, b, p) and rests(after, b)
    applied = contains(before.zk.partitions[p].readers, b) and delivery != LOST_DROPPED
    if applied and after.zk.partitions[p].isr != isr or new.epoch != old.epoch:
        return False
    if applied and delivery == ANSWERED:
        return is_remembered(after, b, p)
    return new.partitions[p].isr == cached.isr


def request_deleted(before, after, b, delivery):
    """What has been dealt with is deleted, and nothing else that is asked for; then the event ends."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    events = old.doing == DELETING_EVENTS
    if not events and old.doing != DELETING_REQUEST:
        return False
    if is_refused(before, b):
        ended = new.epoch == 0 if has_session(before, b) else rests(after, b) and new.epoch == old.epoch
        return ended and after.zk.log_dir_read == before.zk.log_dir_read
    moved = not events and old.target.length > 0
    applied = delivery != LOST_DROPPED
    left = after.zk.preferred == (0 if applied and not events and not moved else before.zk.preferred)
    left = left and listed(after.zk) == (0 if applied and moved else listed(before.zk))
    left = left and after.zk.log_dir_read == (0 if applied and events else before.zk.log_dir_read)
    return left and (rests(after, b) if delivery == ANSWERED else new.doing == old.doing)


def sent_by_term(before, after):
    """LeaderAndIsr is sent by the controller of its epoch: it says what that controller remembers, and goes to live
    replicas whose registrations it knows.
    """
    for b in range(len(after.brokers)):
        epoch = before.brokers[b].controller.epoch
        if epoch > 0:
            for p in range(len(after.zk.partitions)):
                old = before.network.requests[epoch][p]
                new = after.network.requests[epoch][p]
                if new.leader_epoch != old.leader_epoch or not is_empty(difference(new.to, old.to)):
                    if not is_sent_in_order(after, b, p, difference(new.to, old.to)):
                        return False
    return True


def is_sent_in_order(after, b, p, to):
    """Whether a request that has just been sent says what its controller remembers, to brokers that it knows."""
    controller = after.brokers[b].controller
    cached = controller.partitions[p]
    request = after.network.requests[controller.epoch][p]
    known = intersection(intersection(controller.live, after.zk.clients[b].seen), assigned(after.zk, p))
    same = request.leader == cached.leader and request.leader_epoch == cached.leader_epoch
    return controller.epoch > 0 and same and is_empty(difference(to, known))


def sent_in_terms(before, after):
    """No request appears in an epoch without a controller."""
    for epoch in range(len(after.network.requests)):
        for p in range(len(after.zk.partitions)):
            old = before.network.requests[epoch][p]
            new = after.network.requests[epoch][p]
            ruled = False
            for broker in before.brokers:
                ruled = ruled or epoch > 0 and broker.controller.epoch == epoch
            if not ruled and (new.leader_epoch != old.leader_epoch or not is_empty(difference(new.to, old.to))):
                return False
    return True


def obeyed_in_order(before, after, b, epoch, p):
    """A broker takes each request once; it obeys no lower controller epoch than it has seen, answers
    KAFKA_STORAGE_ERROR for a replica that is lost, and becomes leader or follower only in a higher leader epoch; where
    the request names no leader it keeps its own, if that is itself, too.
    """
    old = before.brokers[b]
    new = after.brokers[b]
    request = before.network.requests[epoch][p]
    if not old.up or not contains(request.to, b):
        return False
    if after.network.requests[epoch][p].to != without_member(request.to, b):
        return False
    taken = epoch >= old.seen_epoch
    lost = old.replicas[p].failed == 1
    if new.seen_epoch != max(epoch, old.seen_epoch):
        return False
    if contains(after.network.requests[epoch][p].errors, b) != (taken and lost or contains(request.errors, b)):
        return False
    becomes = taken and not lost and request.leader_epoch > old.replicas[p].leader_epoch and request.leader != NOBODY
    expected = request.leader_epoch if becomes else old.replicas[p].leader_epoch
    leader = request.leader if becomes else old.replicas[p].leader
    return new.replicas[p].leader_epoch == expected and new.replicas[p].leader == leader


WRITES = (
    always_step(election_written, of=("write_leader",)),
    always_step(removal_written, of=("write_removal",)),
    always_step(first_state_written, of=("create_first_state",)),
    always_step(elected_as_read, of=("read_for_election",)),
    always_step(removed_as_read, of=("read_for_removal",)),
    always_step(proposal_granted, of=("alter_partition",)),
    always_step(request_deleted, of=("delete_request",)),
    always_step(sent_by_term),
    always_step(sent_in_terms),
    always_step(obeyed_in_order, of=("leader_and_isr",)),
)
