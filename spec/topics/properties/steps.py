"""Properties of what topics' controllers and brokers write, send and take: one request and its answer.

Sources: PartitionStateMachine, ReplicaStateMachine, KafkaController.onPartitionReassignment, and on the brokers' side
ReplicaManager.becomeLeaderOrFollower and stopReplicas, 2.7 to 3.9.
"""

from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    NEW_REPLICA,
    NON_EXISTENT_REPLICA,
    OFFLINE_REPLICA,
    ONLINE_PARTITION,
    REPLICA_DELETION_INELIGIBLE,
    REPLICA_DELETION_STARTED,
)
from kafkaproof.spec.kafka.strategies import isr_after_removal, leader_after_removal, offline_isr, offline_leader
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty
from kafkaproof.spec.partition.context import ELECTING, REMOVING
from kafkaproof.spec.partition.deletion.state import STOPPING
from kafkaproof.spec.partition.reassignment.state import CHECKING, WRITING_TARGET
from kafkaproof.spec.topics.context import DELETE_TASK, FINISH_TASK, NO_TASK, members
from kafkaproof.spec.topics.network import DELETE, DELETED, DROP, EMPTY, FAILED, START
from kafkaproof.spec.topics.properties.events import EVENTS
from kafkaproof.spec.topics.properties.safety import has_state
from kafkaproof.spec.topics.properties.sessions import SESSIONS, has_session, is_refused, rests
from kafkaproof.spec.topics.properties.writes import state_differs, tree_differs


def term_ends_unwritten(before, after, b, p):
    """Whether a refused write has changed nothing, and ended the term."""
    written = state_differs(before.zk, after.zk, p) or tree_differs(before.zk, after.zk)
    return not written and after.brokers[b].controller.epoch == 0


def may_write(before, b, p):
    """Whether a state exists that no later controller wrote."""
    return has_state(before, p) and before.zk.partitions[p].controller_epoch <= before.brokers[b].controller.epoch


def is_written(before, after, b, p, leader, isr):
    """Whether a state was written, in the next leader epoch and its writer's epoch, remembered and sent."""
    state = after.zk.partitions[p]
    controller = after.brokers[b].controller
    cached = controller.partitions[p]
    own = state.controller_epoch == controller.epoch and controller.epoch == before.brokers[b].controller.epoch
    raised = state.leader_epoch == before.zk.partitions[p].leader_epoch + 1
    remembered = cached.leader == state.leader and cached.leader_epoch == state.leader_epoch
    return own and raised and remembered and state.leader == leader and state.isr == isr


def is_left(before, after, b, p):
    """Whether nothing was written of a partition, and what is remembered has not changed."""
    old = before.brokers[b].controller.partitions[p]
    new = after.brokers[b].controller.partitions[p]
    same = old.leader == new.leader and old.leader_epoch == new.leader_epoch
    return same and not state_differs(before.zk, after.zk, p)


def names_all(before, after, b, p):
    """Whether the newest LeaderAndIsr names all replicas."""
    return after.network.named[p] == members(before.brokers[b].controller.partitions[p])


def first_state_written(before, after, b, p):
    """The first state is written if there is none and a replica is live; then it is remembered and sent, and the
    partition is Online; replicas that were New are Online whatever the outcome.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    partition = new.partitions[p]
    if old.doing != ELECTING or not contains(old.todo, p) or old.partitions[p].state != NEW_PARTITION:
        return False
    live = intersection(members(old.partitions[p]), old.live)
    if not is_empty(live) and is_refused(before, b):
        return term_ends_unwritten(before, after, b, p)
    for r in range(len(partition.replicas)):
        if old.partitions[p].replicas[r] == NEW_REPLICA and partition.replicas[r] == NEW_REPLICA:
            return False
    if contains(new.todo, p):
        return False
    if is_empty(live) or has_state(before, p) or before.zk.topic == 0:
        return partition.state == NEW_PARTITION and is_left(before, after, b, p)
    for r in range(len(partition.replicas)):
        channel = after.network.channels[new.epoch][r][p]
        told = contains(intersection(live, before.zk.clients[b].seen), r)
        if told and (channel.kind != START or channel.topic != old.topic):
            return False
    state = after.zk.partitions[p]
    remembered = partition.leader == state.leader and partition.leader_epoch == state.leader_epoch
    own = state.controller_epoch == old.epoch and has_state(after, p) and names_all(before, after, b, p)
    return remembered and own and partition.state == ONLINE_PARTITION


def leader_elected(before, after, b, p):
    """A leader is elected from the live members of the ISR, if there are any; then the partition is Online and
    LeaderAndIsr is sent to its replicas; else it stays as it is.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    state = before.zk.partitions[p]
    if old.doing != ELECTING or not contains(old.todo, p) or old.partitions[p].state == NEW_PARTITION:
        return False
    leader = offline_leader(old.partitions[p].assignment, state.isr, old.live, 0)
    if leader != NOBODY and is_refused(before, b):
        return term_ends_unwritten(before, after, b, p)
    if contains(new.todo, p):
        return False
    if leader == NOBODY or not may_write(before, b, p):
        return is_left(before, after, b, p) and new.partitions[p].state == old.partitions[p].state
    written = is_written(before, after, b, p, leader, offline_isr(state.isr, old.live, leader))
    return written and names_all(before, after, b, p) and new.partitions[p].state == ONLINE_PARTITION


def replica_removed(before, after, b, p, r):
    """A replica that goes offline no longer leads and leaves the ISR, except as its last member; then it is Offline."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    state = before.zk.partitions[p]
    if old.doing != REMOVING or not contains(old.partitions[p].leaving, r):
        return False
    if is_refused(before, b):
        return term_ends_unwritten(before, after, b, p)
    if has_state(before, p) and not may_write(before, b, p) and contains(state.isr, r) or not has_state(before, p):
        return is_left(before, after, b, p)
    if new.partitions[p].replicas[r] != OFFLINE_REPLICA:
        return False
    if contains(state.isr, r):
        leader = leader_after_removal(state.leader, r)
        told = old.deleting == 1 or names_all(before, after, b, p)
        return told and is_written(before, after, b, p, leader, isr_after_removal(state.isr, r))
    cached = new.partitions[p]
    return (
        not state_differs(before.zk, after.zk, p)
        and cached.leader_epoch == state.leader_epoch
        and (cached.leader == state.leader)
    )


def stopped_are_asked(before, after, b):
    """Replicas that are to be stopped are asked to delete their logs, where the broker is live and known; an answer is
    awaited only in a deletion, and not from dead brokers, which make the topic ineligible.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    deletes = old.task == DELETE_TASK
    if old.doing != STOPPING or new.task == old.task:
        return False
    for p in range(len(new.partitions)):
        for r in range(len(after.brokers)):
            stops = contains(old.partitions[p].stopping, r) and old.partitions[p].replicas[r] == OFFLINE_REPLICA
            kind = after.network.channels[old.epoch][r][p].kind
            if stops and contains(intersection(old.live, before.zk.clients[b].seen), r):
                if kind != (DELETE if deletes else DROP):
                    return False
            elif kind != before.network.channels[old.epoch][r][p].kind:
                return False
            state = new.partitions[p].replicas[r]
            awaited = REPLICA_DELETION_STARTED if contains(old.live, r) else REPLICA_DELETION_INELIGIBLE
            if stops and state != (awaited if deletes else NON_EXISTENT_REPLICA):
                return not contains(old.live, r) and contains(new.partitions[p].leaving, r)
            if stops and deletes and not contains(old.live, r) and not new.ineligible:
                return False
    if not deletes:
        return new.doing == (WRITING_TARGET if old.task == FINISH_TASK else CHECKING)
    return new.task == NO_TASK


def obeyed_in_order(before, after, b, epoch, p):
    """A process takes each LeaderAndIsr once; unless its controller epoch is too low, there is a log afterwards."""
    old = before.brokers[b]
    new = after.brokers[b]
    channel = before.network.channels[epoch][b][p]
    if not old.up or channel.kind != START or after.network.channels[epoch][b][p].kind != EMPTY:
        return False
    if epoch < old.seen_epoch:
        return new.seen_epoch == old.seen_epoch and new.logs[p] == old.logs[p]
    return new.seen_epoch == epoch and new.logs[p] == channel.topic


def stopped_in_order(before, after, b, epoch, p):
    """StopReplica in the same way deletes the log; it is answered if it belongs to a deletion."""
    old = before.brokers[b]
    new = after.brokers[b]
    kind = before.network.channels[epoch][b][p].kind
    if not old.up or kind != DELETE and kind != DROP:
        return False
    left = after.network.channels[epoch][b][p].kind
    if epoch < old.seen_epoch:
        return left == EMPTY and new.seen_epoch == old.seen_epoch and new.logs[p] == old.logs[p]
    return new.seen_epoch == epoch and new.logs[p] == 0 and left == (DELETED if kind == DELETE else EMPTY)


def refused_in_order(before, after, b, epoch, p):
    """A log that cannot be deleted is kept, and the answer is a failure; that counts as a fault."""
    old = before.brokers[b]
    new = after.brokers[b]
    asked = old.up == 1 and before.network.channels[epoch][b][p].kind == DELETE and epoch >= old.seen_epoch
    said = after.network.channels[epoch][b][p].kind == FAILED and after.zk.faults == before.zk.faults + 1
    return asked and said and new.logs[p] == old.logs[p] and new.seen_epoch == epoch


def proposal_granted(before, after, b, p, isr):
    """An ISR that the leader proposes is written in its leader epoch: it includes the leader, and only live replicas
    that it knows.
    """
    old = before.brokers[b].controller
    state = before.zk.partitions[p]
    if not rests(before, b) or state.leader == NOBODY or old.partitions[p].leader_epoch != state.leader_epoch:
        return False
    eligible = intersection(old.live, before.network.named[p])
    if not contains(isr, state.leader) or not is_empty(difference(isr, eligible)):
        return False
    if is_refused(before, b):
        return term_ends_unwritten(before, after, b, p)
    new = after.zk.partitions[p]
    same = new.leader == state.leader and new.leader_epoch == state.leader_epoch
    return (
        same
        and has_session(before, state.leader)
        and new.isr == isr
        and isr != state.isr
        and (new.controller_epoch == old.epoch)
    )


def created_whole(before, after):
    """A topic is created only where there is no topic and no marker, as a new incarnation with a configuration."""
    gone = before.zk.topic == 0 and before.zk.marker == 0
    return (
        gone
        and after.zk.topic == before.zk.created + 1
        and after.zk.created == after.zk.topic
        and (after.zk.config == 1 and after.zk.assignments[0].length > 0)
    )


def deletion_asked_once(before, after):
    """A deletion is asked for only once, of a topic that exists."""
    return before.zk.topic > 0 and before.zk.marker == 0 and after.zk.marker == 1


STEPS = (
    SESSIONS
    + EVENTS
    + (
        always_step(first_state_written, of=("create_first_state",)),
        always_step(leader_elected, of=("elect_leader",)),
        always_step(replica_removed, of=("remove_replica",)),
        always_step(stopped_are_asked, of=("stop_replicas",)),
        always_step(obeyed_in_order, of=("leader_and_isr",)),
        always_step(stopped_in_order, of=("stop_replica",)),
        always_step(refused_in_order, of=("refuse_deletion",)),
        always_step(proposal_granted, of=("alter_partition",)),
        always_step(created_whole, of=("create_again",)),
        always_step(deletion_asked_once, of=("ask_for_deletion",)),
    )
)
