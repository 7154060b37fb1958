"""Requests that write the topic znode, and those that delete the znodes of a topic."""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, NONODE, OK
from kafkaproof.spec.partition.context import clear
from kafkaproof.spec.partition.znodes import NONE
from kafkaproof.spec.partition.zookeeper import session_open
from kafkaproof.spec.topics.context import is_present
from kafkaproof.spec.topics.znodes import NOTHING
from kafkaproof.spec.topics.zookeeper import remove_state, write_assignment


def set_topic(zk, b, p, context, epoch):
    """setData of the topic znode, whatever its version, from the context, `p` as wanted: OK, NONODE or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.topic == 0:
        return NONODE
    for q in range(len(zk.assignments)):
        if zk.assignments[q].length > 0 and not is_present(context.partitions[q]) and not context.deleting:
            zk.ghosts.undone = 1
        write_assignment(zk, q, context.partitions[q])
    write_assignment(zk, p, context.wanted)
    return OK


def delete_state(zk, b, p, epoch):
    """delete a partition's znodes: OK or EXPIRED (NONODE is ignored)."""
    if not session_open(zk, b):
        return EXPIRED
    remove_state(zk, p)
    return OK


def delete_topic(zk, b, epoch):
    """delete the topic znode: OK or EXPIRED (NONODE is ignored)."""
    if not session_open(zk, b):
        return EXPIRED
    zk.topic = 0
    for client in zk.clients:
        client.topic_watch = NONE
    for p in range(len(zk.assignments)):
        clear(zk.assignments[p])
        zk.adding[p] = 0
        zk.removing[p] = 0
        remove_state(zk, p)
    return OK


def delete_config(zk, b, epoch):
    """delete the topic's configuration: OK or EXPIRED (NONODE is ignored)."""
    if not session_open(zk, b):
        return EXPIRED
    zk.config = 0
    return OK


def delete_marker(zk, b, epoch):
    """delete /admin/delete_topics/t: OK or EXPIRED (NONODE is ignored)."""
    if not session_open(zk, b):
        return EXPIRED
    zk.marker = 0
    return OK


def delete_request(zk, b, epoch):
    """delete /admin/reassign_partitions: OK or EXPIRED (NONODE is ignored)."""
    if not session_open(zk, b):
        return EXPIRED
    zk.request.wanted = NOTHING
    zk.request.partition = 0
    clear(zk.request.target)
    return OK
