"""ZooKeeper as the partitions' controllers see it: registrations, /controller, and a state of each partition.

As in `spec.zookeeper`, a function that answers with a code is one request; `fate` says whether the answer
arrives, and a LOST one is a fault. Here the election is one multi, which `election` checks, so that the
epoch is also the version of its znode. A broker is registered exactly while its session is open.

Of what only grows, only who knows the present one is kept: `readers` of a state's version, `seen` of the
registrations (in Kafka the czxid of /brokers/ids/b, 2.2+). A leader's version needs no record: whoever
writes for the controller raises the leader epoch, and the leader learns the version of its own writes, so
that a leader of the present epoch knows it. (It may not, after its restart up to 2.6; it then writes less.)
"""

from spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Number, Record, SetOf
from spec.language.sets import contains, difference, intersection, only, with_member, without_member
from spec.partition.context import NO_EPOCH, Leader, LeaderEpoch
from spec.zookeeper import (
    ANSWERED, BADVERSION, EXPIRED, FENCED, LOST_DROPPED, MINE, NEWER, NODEEXISTS, NONODE, OK, outcome,
)

Watch = Choice("NONE", "ARMED", "FIRED")
NONE, ARMED, FIRED = Watch

CLIENT = Record(
    watch=(Watch, "the controller's watch on the children of /brokers/ids"),
    seen=(SetOf("brokers"), "brokers whose present registration it has read"),
)
STATE = Record(
    leader=(Leader, "leader"),
    isr=(SetOf("brokers"), "in-sync replicas"),
    leader_epoch=(LeaderEpoch, "leader epoch, -1 while the znode does not exist"),
    controller_epoch=(Number(0, Bound("epochs")), "epoch of the controller that wrote it"),
    readers=(SetOf("brokers"), "controllers that know the present version"),
)
GHOSTS = Record(
    lost=(Flag(), "a write of a state was applied, and its answer lost"),
)
ZOOKEEPER = Record(
    registered=(SetOf("brokers"), "children of /brokers/ids"),
    controller=(Id("brokers", nobody=True), "owner of /controller"),
    epoch=(Number(0, Bound("epochs")), "value of /controller_epoch, 0 before the first election"),
    clients=(Array(CLIENT, "brokers"), "what ZooKeeper holds for each broker's controller"),
    partitions=(Array(STATE, "partitions"), "state of each partition"),
    unclean=(Flag(), "unclean.leader.election.enable of the topic"),
    preferred=(Flag(), "/admin/preferred_replica_election exists, and lists every partition"),
    isr_changed=(SetOf("partitions"), "partitions with a child of /isr_change_notification (up to 2.6)"),
    faults=(Number(0, Bound("faults")), "faults so far"),
    ghosts=(GHOSTS, "history, for properties only"),
)


def fire(zk):
    """Fire every armed watch on /brokers/ids."""
    for client in zk.clients:
        if client.watch == ARMED:
            client.watch = FIRED


def session_open(zk, b):
    """Whether the session of `b` is open."""
    return contains(zk.registered, b)


def vacant(zk):
    """Whether there is no /controller: the watch of every broker says so."""
    return zk.controller == NOBODY


def moved(zk, b):
    """Whether /controller is not `b`'s: its watch says so."""
    return zk.controller != b


def brokers_changed(zk, b):
    """Whether `b`'s watch on /brokers/ids has fired."""
    return zk.clients[b].watch == FIRED


def election_wanted(zk):
    """Whether an operator has asked for preferred leaders: the watch says so."""
    return zk.preferred == 1


def unclean_allowed(zk):
    """Whether the topic allows unclean elections: the notification of its configuration says so."""
    return zk.unclean == 1


def isr_changed(zk, p):
    """Whether a leader has left a notification."""
    return contains(zk.isr_changed, p)


def known_as_they_are(zk, b, members):
    """Of some brokers, those whose present broker epoch `b` knows: the others refuse its requests."""
    return intersection(members, zk.clients[b].seen)


def as_they_are(zk, b, members):
    """Requests name no process: whoever has the id obeys (up to 2.1)."""
    return members


def disconnect(zk, b):
    """The controller of `b` rules no more: what it knew of versions, and its watch, are of no use."""
    zk.clients[b].watch = NONE
    zk.clients[b].seen = 0
    for state in zk.partitions:
        state.readers = without_member(state.readers, b)


def register(zk, b):
    """A new session, and multi[create /brokers/ids/b, setData]: OK."""
    zk.registered = with_member(zk.registered, b)
    for client in zk.clients:
        client.seen = without_member(client.seen, b)
    fire(zk)
    return OK


def end_session(zk, b):
    """closeSession: the ephemerals of `b` go at once."""
    zk.registered = without_member(zk.registered, b)
    if zk.controller == b:
        zk.controller = NOBODY
    fire(zk)
    disconnect(zk, b)


def create_controller(zk, b, reader):
    """multi[create /controller, setData /controller_epoch], the epoch into `reader`: OK or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.controller != NOBODY:
        return NODEEXISTS
    zk.controller = b
    zk.epoch += 1
    reader.epoch = zk.epoch
    return OK


def read_controller(zk, b):
    """getData of /controller by a broker that believes to rule: MINE, OK (another's), NONODE or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.controller == b:
        return MINE
    disconnect(zk, b)
    return NONODE if zk.controller == NOBODY else OK


def list_brokers(zk, b, reader):
    """getChildren of /brokers/ids, watch armed, and getData of each, into `reader`: OK or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    client = zk.clients[b]
    client.watch = ARMED
    reader.joined = difference(zk.registered, reader.live)
    reader.gone = difference(reader.live, zk.registered)
    reader.bounced = difference(intersection(reader.live, zk.registered), client.seen)
    client.seen = zk.registered
    return OK


def list_broker_ids(zk, b, reader):
    """getChildren of /brokers/ids, watch armed, into `reader`, without broker epochs (up to 2.1): OK or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    zk.clients[b].watch = ARMED
    reader.joined = difference(zk.registered, reader.live)
    reader.gone = difference(reader.live, zk.registered)
    return OK


def get_state(zk, b, p, reader):
    """getData of a state and of the topic's configuration into `reader`: OK, NONODE or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    state = zk.partitions[p]
    if state.leader_epoch == NO_EPOCH:
        return NONODE
    state.readers = with_member(state.readers, b)
    reader.leader = state.leader
    reader.isr = state.isr
    reader.leader_epoch = state.leader_epoch
    reader.unclean = zk.unclean
    return OK


def read_state(zk, b, p, epoch, reader):
    """The same by a controller about to write: also NEWER, when one of a higher epoch wrote the state."""
    if session_open(zk, b) and zk.partitions[p].controller_epoch > epoch:
        return NEWER
    return get_state(zk, b, p, reader)


def put_state(zk, b, p, epoch, leader, isr, leader_epoch, fate):
    """Write leader, ISR and epochs of a state."""
    state = zk.partitions[p]
    state.leader = leader
    state.isr = isr
    state.leader_epoch = leader_epoch
    state.controller_epoch = epoch
    state.readers = only(b) if fate == ANSWERED else 0
    if fate != ANSWERED:
        zk.ghosts.lost = 1


def create_state(zk, b, p, epoch, leader, isr, fate):
    """create a partition's state, leader epoch 0: OK, NODEEXISTS, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = OK if zk.partitions[p].leader_epoch == NO_EPOCH else NODEEXISTS
    if answer == OK and fate != LOST_DROPPED:
        put_state(zk, b, p, epoch, leader, isr, 0, fate)
    return outcome(zk, answer, fate)


def set_state(zk, b, p, epoch, leader, isr, leader_epoch, fate):
    """setData of a partition's state if `b` knows its version: OK, BADVERSION, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = OK if contains(zk.partitions[p].readers, b) else BADVERSION
    if answer == OK and fate != LOST_DROPPED:
        put_state(zk, b, p, epoch, leader, isr, leader_epoch, fate)
    return outcome(zk, answer, fate)


def delete_preferred(zk, b, epoch, fate):
    """delete /admin/preferred_replica_election: OK, NONODE, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = OK if zk.preferred == 1 else NONODE
    if fate != LOST_DROPPED:
        zk.preferred = 0
    return outcome(zk, answer, fate)


def checked_create_state(zk, b, p, epoch, leader, isr, fate):
    """multi[check /controller_epoch, create state]: as `create_state`, or FENCED by the check."""
    if session_open(zk, b) and zk.epoch != epoch:
        disconnect(zk, b)
        return FENCED
    return create_state(zk, b, p, epoch, leader, isr, fate)


def checked_set_state(zk, b, p, epoch, leader, isr, leader_epoch, fate):
    """multi[check /controller_epoch, setData state]: as `set_state`, or FENCED by the check."""
    if session_open(zk, b) and zk.epoch != epoch:
        disconnect(zk, b)
        return FENCED
    return set_state(zk, b, p, epoch, leader, isr, leader_epoch, fate)


def checked_delete_preferred(zk, b, epoch, fate):
    """multi[check /controller_epoch, delete the request]: or FENCED by the check."""
    if session_open(zk, b) and zk.epoch != epoch:
        disconnect(zk, b)
        return FENCED
    return delete_preferred(zk, b, epoch, fate)


def set_isr(zk, b, p, leader_epoch, isr):
    """setData of the ISR by a leader that knows the version, and a notification: OK, BADVERSION or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    state = zk.partitions[p]
    if state.leader_epoch != leader_epoch:
        return BADVERSION
    state.leader = b
    state.isr = isr
    state.readers = 0
    zk.isr_changed = with_member(zk.isr_changed, p)
    return OK


def take_notification(zk, b, p, reader):
    """getData of a state that a leader has changed, and delete of the notification: as `get_state`."""
    answer = get_state(zk, b, p, reader)
    if answer == OK:
        zk.isr_changed = without_member(zk.isr_changed, p)
    return answer
