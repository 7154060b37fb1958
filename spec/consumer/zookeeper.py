"""ZooKeeper as the members of one group see it: ids, owners, offsets, one topic, and the brokers.

As in `kafkaproof.spec.kafka.zookeeper`, a function that returns a code is one request; `delivery` says whether the answer
arrives. Paths are below /consumers/<group>: ids/<consumer id> (ephemeral), owners/<topic>/<partition> (ephemeral, the
name of a thread), offsets/<topic>/<partition> (persistent).

Watches on the ids and on the topic set the same flag of the consumer, and the client library arms them again as soon as
they fire. So `watch` is FIRED from the change until the consumer begins to rebalance; further changes in between set
the same flag.

A session is an orphan if its process is gone or has opened another session. It is kept as long as it owns a znode.
"""

from kafkaproof.spec.kafka.zookeeper import (
    ABSENT,
    ANSWERED,
    EXPIRED,
    LOST,
    LOST_DROPPED,
    MINE,
    NODEEXISTS,
    NONODE,
    OK,
    ORPHAN,
    PROCESS,
    Owner,
)
from kafkaproof.spec.kafka.zookeeper import Answer as CommonAnswer
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Budget, Choice, Flag, Id, Number, Record
from kafkaproof.spec.language.sets import contains, with_member

KNOWN = ("session_open", "take_event")

Answer = Choice(*CommonAnswer.names, "NOBROKERS")  # OK, and /brokers/ids has no child
NOBROKERS = len(CommonAnswer.names)
Watch = Choice("UNARMED", "ARMED", "FIRED")
UNARMED, ARMED, FIRED = Watch

CLIENT = Record(
    session=(Flag(), "the present session of the consumer is open"),
    registered=(Owner, "the session of the consumer that owns ids/<consumer id>"),
    watch=(Watch, "the watches on the ids and on the topic, and the flag that they set"),
    brokers_watched=(Flag(), "it has subscribed to /brokers/ids, because it found no broker"),
)
PARTITION = Record(
    owner=(Id("consumers", nobody=True), "the consumer named in owners/<topic>/<partition>"),
    thread=(Id("threads"), "the thread of that consumer that is named there"),
    orphaned=(Flag(), "the node belongs to a former session of that consumer"),
    offset=(Number(0, Bound("offsets")), "offsets/<topic>/<partition>"),
)
ZOOKEEPER = Record(
    clients=(Array(CLIENT, "consumers"), "what ZooKeeper holds for each consumer"),
    partitions=(Array(PARTITION, "partitions"), "what it holds for each partition"),
    size=(Number(0, Bound("partitions")), "partitions in /brokers/topics/<topic>"),
    brokerless=(Flag(), "/brokers/ids has no child"),
    changes=(Number(0, Budget("changes")), "departures, crashes and other changes so far"),
    expiries=(Number(0, Budget("expiries")), "sessions that living processes have lost so far"),
    splits=(Number(0, Budget("splits")), "sessions opened so far while the former one was still open"),
    losses=(Number(0, Budget("losses")), "answers lost so far"),
)


def fire(zk):
    """Fire every armed watch."""
    for client in zk.clients:
        if client.watch == ARMED:
            client.watch = FIRED


def fire_brokers(zk):
    """Fire the watches on /brokers/ids, which set the same flag."""
    for client in zk.clients:
        if client.brokers_watched and client.watch == ARMED:
            client.watch = FIRED


def session_open(zk, c):
    """Whether the present session of `c` is open."""
    return zk.clients[c].session == 1


def has_fired(zk, c):
    """Whether a watch of `c` has fired, and no rebalance has begun since."""
    return zk.clients[c].watch == FIRED


def has_orphan(zk, c):
    """Whether a former session of `c` still owns a znode."""
    for partition in zk.partitions:
        if partition.owner == c and partition.orphaned:
            return True
    return zk.clients[c].registered == ORPHAN


def clear_owner(partition):
    """Remove an owner node; nobody watches it."""
    partition.owner = NOBODY
    partition.thread = 0
    partition.orphaned = 0


def remove_claims(zk, c, orphaned):
    """Remove the owner nodes of `c`'s present or former session."""
    for partition in zk.partitions:
        if partition.owner == c and partition.orphaned == orphaned:
            clear_owner(partition)


def open_session(zk, c):
    """createSession: OK. A flag that was set stays set."""
    client = zk.clients[c]
    client.session = 1
    if client.watch == ARMED:
        client.watch = UNARMED
    return OK


def end_session(zk, c):
    """closeSession, on request or by expiry: all ephemerals of the session go at once."""
    client = zk.clients[c]
    client.session = 0
    if client.watch == ARMED:
        client.watch = UNARMED
    remove_claims(zk, c, 0)
    if client.registered == PROCESS:
        client.registered = ABSENT
        fire(zk)
    return OK


def orphan_session(zk, c):
    """The present session of `c` becomes a former one; what it owns stays."""
    client = zk.clients[c]
    if client.watch == ARMED:
        client.watch = UNARMED
    if client.registered == PROCESS:
        client.registered = ORPHAN
    for partition in zk.partitions:
        if partition.owner == c:
            partition.orphaned = 1


def forget_client(zk, c):
    """The process of `c` is gone, and so is its flag."""
    zk.clients[c].session = 0
    zk.clients[c].watch = UNARMED
    zk.clients[c].brokers_watched = 0


def end_orphan(zk, c):
    """closeSession of `c`'s former session."""
    remove_claims(zk, c, 1)
    if zk.clients[c].registered == ORPHAN:
        zk.clients[c].registered = ABSENT
        fire(zk)


def fire_all(zk, c):
    """The library fires every watch of `c`, which has a new session."""
    zk.clients[c].watch = FIRED


def take_event(zk, c):
    """`c` begins to rebalance: its flag is cleared."""
    zk.clients[c].watch = ARMED
    return OK


def create_id(zk, c, watch):
    """create ids/<consumer id>: OK, NODEEXISTS if a former session owns it, or EXPIRED.

    Then the watches are armed; in a new session the library also fires them all. A lost answer is not
    modelled: the client reads the owner and finds its own session.
    """
    client = zk.clients[c]
    if not session_open(zk, c):
        return EXPIRED
    if client.registered == ORPHAN:
        return NODEEXISTS
    if client.registered == ABSENT:
        fire(zk)
    client.registered = PROCESS
    client.watch = watch
    return OK


def look_around(zk, c):
    """getData of its own id and getChildren of /brokers/ids: OK, NONODE for the id, NOBROKERS or EXPIRED.

    Both are one step: the id vanishes only with its session, and then the second answer is EXPIRED.
    """
    client = zk.clients[c]
    if not session_open(zk, c):
        return EXPIRED
    if client.registered == ABSENT:
        return NONODE
    if zk.brokerless:
        client.brokers_watched = 1
        return NOBROKERS
    return OK


def list_members(zk, c, reader):
    """getChildren of the ids, watch armed, into `reader`: OK or EXPIRED."""
    if not session_open(zk, c):
        return EXPIRED
    reader.members = 0
    for i in range(len(zk.clients)):
        if zk.clients[i].registered != ABSENT:
            reader.members = with_member(reader.members, i)
    zk.clients[c].watch = max(zk.clients[c].watch, ARMED)
    return OK


def read_ids(zk, c, members):
    """getData of the id of every member: OK, NONODE if one is gone, or EXPIRED.

    All are read in one step: all were there when they were listed.
    """
    if not session_open(zk, c):
        return EXPIRED
    for i in range(len(zk.clients)):
        if contains(members, i) and zk.clients[i].registered == ABSENT:
            return NONODE
    return OK


def read_topic(zk, c, reader):
    """getData of /brokers/topics/<topic> into `reader`: OK or EXPIRED."""
    if not session_open(zk, c):
        return EXPIRED
    reader.size = zk.size
    return OK


def get_offset(zk, c, p, reader):
    """getData of an offset into `reader`: OK or EXPIRED."""
    if not session_open(zk, c):
        return EXPIRED
    reader.positions[p].offset = zk.partitions[p].offset
    return OK


def set_offset(zk, c, p, offset):
    """setData of an offset, whatever its version: OK or EXPIRED. After a lost answer the request is repeated."""
    if not session_open(zk, c):
        return EXPIRED
    zk.partitions[p].offset = offset
    return OK


def outcome(zk, answer, delivery):
    """The answer that the client gets."""
    if delivery == ANSWERED:
        return answer
    zk.losses += 1
    return LOST


def create_owner(zk, c, p, thread, delivery):
    """create an owner node: OK, NODEEXISTS, MINE (it exists and names this thread), EXPIRED or LOST.

    The data is read in the same step: a node that vanishes in between also counts as another consumer's.
    """
    if not session_open(zk, c):
        return EXPIRED
    partition = zk.partitions[p]
    if partition.owner == c and partition.thread == thread:
        return outcome(zk, MINE, delivery)
    if partition.owner != NOBODY:
        return outcome(zk, NODEEXISTS, delivery)
    if delivery != LOST_DROPPED:
        partition.owner = c
        partition.thread = thread
    return outcome(zk, OK, delivery)


def delete_owner(zk, c, p, delivery):
    """delete an owner node, whatever its version and owner: OK, NONODE, EXPIRED or LOST."""
    if not session_open(zk, c):
        return EXPIRED
    answer = NONODE if zk.partitions[p].owner == NOBODY else OK
    if delivery != LOST_DROPPED:
        clear_owner(zk.partitions[p])
    return outcome(zk, answer, delivery)
