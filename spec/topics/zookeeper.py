"""ZooKeeper as the topic's controllers use it: their requests, and what their watches report.

A function that answers with a code is one request. Lost answers are not modelled here, but in `partition`. Watches that
are armed again before each read are left out: they have fired when their data has changed. The watch on the topic's
data is kept, since the old failover order arms it late.
"""

from kafkaproof.spec.kafka.strategies import isr_after_removal, leader_after_removal
from kafkaproof.spec.kafka.zookeeper import BADVERSION, EXPIRED, NEWER, NODEEXISTS, NONODE, OK
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, is_empty, union
from kafkaproof.spec.partition.context import copy
from kafkaproof.spec.partition.znodes import ARMED, FIRED, NONE
from kafkaproof.spec.partition.zookeeper import list_brokers, session_open
from kafkaproof.spec.topics.context import NO_EPOCH, is_present, remember_leadership
from kafkaproof.spec.topics.znodes import REASSIGNMENT


def topic_in(zk):
    """The topic among the children of /brokers/topics: the watch on them reports it."""
    return zk.topic


def marked(zk):
    """Whether /admin/delete_topics names the topic: the watch on its children reports that."""
    return zk.marker


def data_changed(zk, b):
    """Whether `b`'s watch on the data of the topic has fired."""
    return zk.clients[b].topic_watch == FIRED


def isr_of(zk, p):
    """The ISR, as a controller sees it that reads and then writes a state; the watch on the state, or the leader,
    reports it.
    """
    return zk.partitions[p].isr


def leads(zk, p, b):
    """Whether `b` leads a partition."""
    return zk.partitions[p].leader == b


def leader_of(zk, p):
    """The leader, as a controller sees it that reads and then writes a state."""
    return zk.partitions[p].leader


def epoch_of(zk, p):
    """The leader epoch, as a controller sees it that reads and then writes a state."""
    return zk.partitions[p].leader_epoch


def request_listed(zk, p):
    """Whether /admin/reassign_partitions lists a partition: the watch on it reports that."""
    return zk.request.wanted == REASSIGNMENT and zk.request.partition == p


def request_target(zk):
    """The target in /admin/reassign_partitions."""
    return zk.request.target


def end_watch(zk, b):
    """Broker `b` is no longer controller: its watch on the topic does not matter any more."""
    zk.clients[b].topic_watch = NONE


def read_assignment(zk, p, assigned):
    """Copy what the topic znode says of a partition."""
    copy(zk.assignments[p], assigned.assignment)
    assigned.adding = zk.adding[p]
    assigned.removing = zk.removing[p]


def write_assignment(zk, p, assigned):
    """Put a partition's assignment into the topic znode."""
    copy(assigned.assignment, zk.assignments[p])
    zk.adding[p] = assigned.adding
    zk.removing[p] = assigned.removing


def get_assignments(zk, b, reader, watch):
    """getData of the topic, partitions that `reader` does not have into it, with `watch`: OK, NONODE or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    zk.clients[b].topic_watch = watch
    if zk.topic == 0:
        return NONODE
    reader.topic = zk.topic
    for p in range(len(zk.assignments)):
        if not is_present(reader.partitions[p]):
            read_assignment(zk, p, reader.partitions[p])
    return OK


def read_topic(zk, b, reader):
    """getChildren of /brokers/topics and getData of the topic, watch armed: as `get_assignments`."""
    return get_assignments(zk, b, reader, ARMED)


def load(zk, b, reader):
    """What a new controller reads: brokers, topic, states and markers, into `reader`: OK or EXPIRED.

    This is one step: a watch that was armed before reports what changes between two of these reads.
    """
    if list_brokers(zk, b, reader) == EXPIRED:
        return EXPIRED
    read_topic(zk, b, reader)
    reader.deleting = zk.marker
    for p in range(len(zk.partitions)):
        state = zk.partitions[p]
        if is_present(reader.partitions[p]):
            remember_leadership(reader.partitions[p], state.leader, state.leader_epoch)
            reader.partitions[p].reassigned = is_begun(zk, reader, p)
    return OK


def is_begun(zk, reader, p):
    """Whether a partition is being reassigned according to what was read."""
    return 0 if is_empty(union(reader.partitions[p].adding, reader.partitions[p].removing)) else 1


def arm(zk, b):
    """exists of the topic, for the watch on its data: OK or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    zk.clients[b].topic_watch = ARMED
    return OK


def write_state(zk, p, epoch, leader, isr, leader_epoch):
    """The content of a state."""
    state = zk.partitions[p]
    state.leader = leader
    state.isr = isr
    state.leader_epoch = leader_epoch
    state.controller_epoch = epoch


def remove_state(zk, p):
    """The state does not exist."""
    write_state(zk, p, 0, NOBODY, 0, NO_EPOCH)


def create_state(zk, b, p, epoch, leader, isr):
    """create a partition's state, leader epoch 0: OK, NODEEXISTS, NONODE without the topic, or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.topic == 0:
        return NONODE
    if zk.partitions[p].leader_epoch != NO_EPOCH:
        return NODEEXISTS
    write_state(zk, p, epoch, leader, isr, 0)
    return OK


def set_state(zk, b, p, epoch, leader, isr):
    """getData and setData of a state, leader epoch raised: OK, NEWER (of a later controller), NONODE or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    state = zk.partitions[p]
    if state.leader_epoch == NO_EPOCH:
        return NONODE
    if state.controller_epoch > epoch:
        return NEWER
    write_state(zk, p, epoch, leader, isr, state.leader_epoch + 1)
    return OK


def get_state(zk, b, p):
    """getData of a state: OK, NONODE or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    return NONODE if zk.partitions[p].leader_epoch == NO_EPOCH else OK


def shrink(zk, b, p, epoch, r):
    """getData of a state and, if `r` is in the ISR, setData without it: as `set_state`."""
    state = zk.partitions[p]
    if session_open(zk, b) and contains(state.isr, r):
        return set_state(zk, b, p, epoch, leader_after_removal(state.leader, r), isr_after_removal(state.isr, r))
    return get_state(zk, b, p)


def set_isr(zk, b, p, epoch, isr, leader_epoch):
    """setData of the ISR on the version that goes with a leader epoch: OK, BADVERSION or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.partitions[p].leader_epoch != leader_epoch:
        return BADVERSION
    write_state(zk, p, epoch, zk.partitions[p].leader, isr, leader_epoch)
    return OK
