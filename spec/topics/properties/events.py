"""Properties of the events of topics' controllers: what the step that begins or continues one must do.

An event begins when none is in progress (ControllerEventManager, one thread); a write that is refused because the term
or the session is over changes nothing and ends the term; after any other write the controller remembers the result, and
sends it.
Sources: KafkaController, TopicDeletionManager, PartitionStateMachine and ReplicaStateMachine, 2.7 to 3.9.
"""

from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    NEW_REPLICA,
    NON_EXISTENT_REPLICA,
    OFFLINE_PARTITION,
    OFFLINE_REPLICA,
    ONLINE_REPLICA,
    REPLICA_DELETION_INELIGIBLE,
    REPLICA_DELETION_STARTED,
    REPLICA_DELETION_SUCCESSFUL,
)
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import (
    contains,
    difference,
    intersection,
    is_empty,
    union,
    with_member,
    without_member,
)
from kafkaproof.spec.partition.context import CHANGING, IDLE, READING_BROKERS, REMOVING, is_known
from kafkaproof.spec.partition.deletion.state import DELETING_CONFIG, DELETING_MARKER, DELETING_STATES, DELETING_TOPIC
from kafkaproof.spec.partition.znodes import ARMED, FIRED
from kafkaproof.spec.topics.context import REWRITING, is_present, is_reassigned, members
from kafkaproof.spec.topics.network import DELETED, EMPTY, FAILED, START
from kafkaproof.spec.topics.properties.invariants import is_in_znode
from kafkaproof.spec.topics.properties.safety import has_state
from kafkaproof.spec.topics.properties.sessions import has_session, is_refused, rests
from kafkaproof.spec.topics.properties.writes import tree_differs


def is_read_again(before, after, b):
    """Whether a controller has listed the brokers that are registered, as they are."""
    return after.zk.clients[b].seen == before.zk.registered


def context_read(before, after, b):
    """A new controller knows everything that ZooKeeper holds: brokers, topic, assignments, states and marker; live
    replicas are sent LeaderAndIsr, those of dead brokers go offline, reassignments in progress go on, and a deletion
    waits for them.
    """
    new = after.brokers[b].controller
    if before.brokers[b].controller.doing != READING_BROKERS:
        return False
    if not has_session(before, b):
        return new.epoch == 0
    read = is_read_again(before, after, b) and after.zk.clients[b].topic_watch == ARMED
    read = read and new.live == before.zk.registered and new.topic == before.zk.topic
    if not read or is_deletion_read(before, new):
        return False
    for p in range(len(new.partitions)):
        if not is_partition_read(before, after, b, p):
            return False
    return True


def is_deletion_read(before, new):
    """Whether a new controller misreads the marker, or does not let a deletion wait that must."""
    dead = False
    for partition in new.partitions:
        dead = dead or not is_empty(difference(members(partition), new.live))
    if before.zk.marker == 0 or before.zk.topic == 0:
        return new.deleting != before.zk.marker
    return new.deleting == 0 or (is_reassigned(new) or dead) and new.doing != REMOVING and new.ineligible == 0


def is_partition_read(before, after, b, p):
    """Whether a new controller has taken in a partition as ZooKeeper has it."""
    partition = after.brokers[b].controller.partitions[p]
    live = after.brokers[b].controller.live
    state = before.zk.partitions[p]
    if not is_in_znode(before.zk, p, partition):
        return False
    if not is_present(partition):
        return True
    begun = not is_empty(union(partition.adding, partition.removing))
    if partition.leader != state.leader or partition.leader_epoch != state.leader_epoch:
        return False
    if partition.reassigned != begun:
        return False
    for r in range(len(after.brokers)):
        channel = after.network.channels[after.brokers[b].controller.epoch][r][p]
        if contains(intersection(live, members(partition)), r):
            if is_known(partition) and (channel.kind != START or channel.topic != before.zk.topic):
                return False
        elif contains(members(partition), r) and partition.replicas[r] != OFFLINE_REPLICA:
            if not contains(partition.leaving, r):
                return False
    return True


def brokers_compared(before, after, b):
    """A controller that lists the brokers again handles those that came, bounced or went."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not rests(before, b):
        return False
    if not has_session(before, b):
        return new.epoch == 0
    known = intersection(old.live, before.zk.registered)
    bounced = difference(known, before.zk.clients[b].seen)
    if new.joined != difference(before.zk.registered, old.live) or new.bounced != bounced or new.live != old.live:
        return False
    moved = union(new.joined, union(new.bounced, new.gone))
    return (
        is_read_again(before, after, b)
        and new.gone == difference(old.live, before.zk.registered)
        and (new.doing == CHANGING and not is_empty(moved))
    )


def waiting_for_leader(controller):
    """The partitions that are New or Offline, in a topic that is not queued for deletion."""
    found = 0
    for p in range(len(controller.partitions)):
        state = controller.partitions[p].state
        if (state == NEW_PARTITION or state == OFFLINE_PARTITION) and not controller.deleting:
            found = with_member(found, p)
    return found


def newcomers_taken_in(before, after, b):
    """A broker that comes is live, its replicas are Online and are sent LeaderAndIsr; every partition that waits for a
    leader is elected, and reassignments to it and a deletion that waited for it go on.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.doing != CHANGING or is_empty(old.joined) or not is_empty(new.joined):
        return False
    if new.live != union(old.live, old.joined):
        return False
    if not old.deleting and new.todo != waiting_for_leader(new):
        return False
    for p in range(len(new.partitions)):
        partition = new.partitions[p]
        for r in range(len(after.brokers)):
            if contains(intersection(old.joined, members(partition)), r) and not old.deleting:
                channel = after.network.channels[new.epoch][r][p]
                known = is_known(partition) and contains(before.zk.clients[b].seen, r)
                if partition.replicas[r] != ONLINE_REPLICA or known and channel.kind != START:
                    return False
    return new.doing != IDLE or not old.deleting or waits_for_somebody(new)


def waits_for_somebody(controller):
    """Whether a deletion cannot go on now: it is ineligible, or waits for an answer."""
    for partition in controller.partitions:
        for r in range(len(partition.replicas)):
            if partition.replicas[r] == REPLICA_DELETION_STARTED:
                return True
    return controller.ineligible == 1


def departed_dropped(before, after, b):
    """A broker that bounced or went is no longer live; the partitions that it led are Offline and elected, then its
    replicas go offline; if the topic is queued for deletion they are ineligible instead, and so is the topic.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.doing != CHANGING or not is_empty(old.joined):
        return False
    dead = old.gone if is_empty(old.bounced) else old.bounced
    if new.live != difference(old.live, dead) or new.joined != old.bounced or not is_empty(new.bounced):
        return False
    if not is_empty(intersection(new.gone, dead)):
        return False
    for partition in new.partitions:
        led = partition.leader != NOBODY and contains(new.live, partition.leader)
        if is_known(partition) and not led and not old.deleting and partition.state != OFFLINE_PARTITION:
            return False
        for r in range(len(partition.replicas)):
            state = partition.replicas[r]
            goes = contains(partition.leaving, r) or state == OFFLINE_REPLICA
            if contains(intersection(dead, members(partition)), r) and not goes and not old.deleting:
                return False
            if contains(dead, r) and old.deleting and state == REPLICA_DELETION_STARTED:
                return False
    return is_empty(difference(waiting_for_leader(new), new.todo))


def topic_taken_up(before, after, b):
    """A new topic is read with its partitions, which are New, as are their replicas, and are elected; a topic that is
    gone is forgotten.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not rests(before, b) or (old.topic > 0) == (before.zk.topic > 0):
        return False
    if not has_session(before, b):
        return new.epoch == 0
    return (
        new.topic == before.zk.topic and after.zk.clients[b].topic_watch == ARMED and partitions_begun(before, after, b)
    )


def partitions_taken_up(before, after, b):
    """New partitions of a topic that is not queued for deletion are read; they are New, as are their replicas, and are
    elected.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not rests(before, b) or before.zk.clients[b].topic_watch != FIRED or old.topic == 0 or old.deleting:
        return False
    if not has_session(before, b):
        return new.epoch == 0
    return after.zk.clients[b].topic_watch == ARMED and (before.zk.topic == 0 or partitions_begun(before, after, b))


def partitions_begun(before, after, b):
    """Whether the partitions that a controller did not know are New, as are their replicas, and to be elected."""
    for p in range(len(after.zk.partitions)):
        old = before.brokers[b].controller.partitions[p]
        new = after.brokers[b].controller.partitions[p]
        if not is_present(old) and before.zk.assignments[p].length > 0:
            if not is_in_znode(before.zk, p, new) or new.state != NEW_PARTITION:
                return False
            if not contains(after.brokers[b].controller.todo, p):
                return False
            for r in range(len(new.replicas)):
                expected = NEW_REPLICA if contains(members(new), r) else NON_EXISTENT_REPLICA
                if new.replicas[r] != expected:
                    return False
    return True


def expansion_undone(before, after, b):
    """Partitions that are added while a topic is queued for deletion are removed from its znode again."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not rests(before, b) or before.zk.clients[b].topic_watch != FIRED or not old.deleting:
        return False
    if not has_session(before, b):
        return new.epoch == 0
    return new.doing == REWRITING and after.zk.clients[b].topic_watch == ARMED


def topic_restored(before, after, b):
    """The controller then writes only the partitions that it knows; the event ends."""
    old = before.brokers[b].controller
    if old.doing != REWRITING:
        return False
    if is_refused(before, b):
        return after.brokers[b].controller.epoch == 0 and not tree_differs(before.zk, after.zk)
    for p in range(len(after.zk.assignments)):
        known = is_in_znode(after.zk, p, old.partitions[p])
        if before.zk.topic > 0 and not known:
            return False
    return rests(after, b)


def deletion_taken_up(before, after, b):
    """A marker is found once: that of an unknown topic is deleted; else the topic is queued, and its deletion begins
    unless a partition is reassigned.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not rests(before, b) or old.deleting or not before.zk.marker:
        return False
    if old.topic == 0:
        return new.doing == DELETING_MARKER and not new.deleting
    if new.deleting != 1 or new.ineligible != is_reassigned(old):
        return new.deleting == 1 and new.started == 1 and not is_reassigned(old)
    return is_reassigned(old) or new.started == 1


def answer_handled(before, after, b, r, p):
    """An answer to StopReplica is handled once: a replica whose deletion was started is deleted, or ineligible."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    answer = before.network.channels[old.epoch][r][p].kind
    if not rests(before, b) or answer != DELETED and answer != FAILED:
        return False
    if after.network.channels[old.epoch][r][p].kind != EMPTY:
        return False
    if not old.deleting:
        return rests(after, b)
    was = old.partitions[p].replicas[r]
    now = new.partitions[p].replicas[r]
    if was != REPLICA_DELETION_STARTED:
        return True
    if answer == FAILED:
        return now == OFFLINE_REPLICA or now == REPLICA_DELETION_INELIGIBLE or contains(new.partitions[p].leaving, r)
    return now == REPLICA_DELETION_SUCCESSFUL or now == NON_EXISTENT_REPLICA


def deletes_in_order(before, after, b):
    """States, topic, configuration and marker are deleted in this order, each only by the current controller, and
    nothing else with them; then the topic is forgotten.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if is_refused(before, b):
        return new.epoch == 0 and not tree_differs(before.zk, after.zk)
    if old.doing == DELETING_TOPIC:
        return new.doing == DELETING_CONFIG and after.zk.topic == 0 and after.zk.config == before.zk.config
    if old.doing == DELETING_CONFIG:
        return new.doing == DELETING_MARKER and after.zk.config == 0 and after.zk.marker == before.zk.marker
    if old.doing != DELETING_MARKER or after.zk.marker == 1 or new.topic > 0 or new.deleting:
        return False
    return rests(after, b) and new.epoch == old.epoch


def states_deleted(before, after, b, p):
    """The states of a deleted topic are deleted one by one; after the last one the topic znode is next."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.doing != DELETING_STATES or not contains(old.todo, p):
        return False
    if is_refused(before, b):
        return new.epoch == 0 and has_state(before, p) == has_state(after, p)
    left = without_member(old.todo, p)
    return (
        not has_state(after, p)
        and new.todo == left
        and new.doing == (DELETING_TOPIC if is_empty(left) else DELETING_STATES)
    )


EVENTS = (
    always_step(context_read, of=("load_context",)),
    always_step(brokers_compared, of=("broker_change",)),
    always_step(newcomers_taken_in, of=("broker_startup",)),
    always_step(departed_dropped, of=("broker_failure",)),
    always_step(topic_taken_up, of=("topic_change",)),
    always_step(partitions_taken_up, of=("new_partitions",)),
    always_step(expansion_undone, of=("ignore_partitions",)),
    always_step(topic_restored, of=("restore_partitions",)),
    always_step(deletion_taken_up, of=("topic_deletion",)),
    always_step(answer_handled, of=("handle_answer",)),
    always_step(deletes_in_order, of=("delete_topic_node", "delete_topic_config", "delete_topic_marker")),
    always_step(states_deleted, of=("delete_states",)),
)
