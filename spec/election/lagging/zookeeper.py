"""ZooKeeper with stale reads: each client is connected to a server that may lag for a while.

A client reads what its server has seen, and its watch fires when the server sees the change. The server is up to
date when it answers a write, refused or not, and when it opens a session: both are transactions, and it
answers them after all that was ordered before. So a client never goes back in time, and sees its own writes. After
a lost answer it may be behind its own write. Only /controller and /controller_epoch lag here; a stale read of
a partition state could at most make the next write fail.
"""

from kafkaproof.spec.election.broker_state import BROKER, state_of
from kafkaproof.spec.election.broker_state import initial as start
from kafkaproof.spec.kafka import zookeeper as present
from kafkaproof.spec.kafka.zookeeper import (
    CHANGED,
    CLIENT,
    DELETED,
    EXPIRED,
    LOST,
    MINE,
    NONODE,
    OK,
    ZOOKEEPER,
    session_open,
)
from kafkaproof.spec.kafka.zookeeper import checked_delete_controller as delete_controller_at_once
from kafkaproof.spec.kafka.zookeeper import checked_delete_notification as delete_notification_at_once
from kafkaproof.spec.kafka.zookeeper import checked_set_state as set_state_at_once
from kafkaproof.spec.kafka.zookeeper import create_broker as create_broker_at_once
from kafkaproof.spec.kafka.zookeeper import create_controller_and_set_epoch as register_at_once
from kafkaproof.spec.kafka.zookeeper import create_epoch as create_epoch_at_once
from kafkaproof.spec.kafka.zookeeper import end_session as end_session_at_once
from kafkaproof.spec.kafka.zookeeper import open_session as open_session_at_once
from kafkaproof.spec.kafka.zookeeper import orphan_session as orphan_session_at_once
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Id, Number, Record
from kafkaproof.spec.language.rebind import rebind

VIEW = CLIENT.extended(
    controller=(Id("brokers", nobody=True), "the broker named in /controller, as its server knows"),
    epoch=(Number(-1, Bound("epochs")), "value of /controller_epoch, as its server knows"),
    epoch_version=(Number(0, Bound("epochs")), "its version"),
)
LAGGING = Record(
    clients=(Array(VIEW, "brokers"), "what ZooKeeper holds for each broker"),
    **{name: (f.domain, f.meaning) for name, f in ZOOKEEPER.fields.items() if name != "clients"},
)
STATE = state_of(BROKER, LAGGING)


def initial(s):
    """No broker runs, and no client is connected."""
    start(s)
    for b in range(len(s.zk.clients)):
        forget_view(s.zk, b)


def is_behind(zk, b):
    """Whether the server of `b` has not seen all writes."""
    client = zk.clients[b]
    return client.controller != zk.controller or client.epoch_version != zk.epoch_version or client.epoch != zk.epoch


def see_all(zk, b):
    """The server of `b` sees all writes; a watch on /controller fires if that has changed."""
    client = zk.clients[b]
    changed = client.controller != zk.controller or client.epoch_version != zk.epoch_version
    if client.watch and changed:
        client.watch = 0
        event = CHANGED if client.controller == NOBODY else DELETED
        if client.fired < event:
            client.fired = event
    client.controller = zk.controller
    client.epoch = zk.epoch
    client.epoch_version = zk.epoch_version


def answered(zk, b, answer):
    """The answer of a write: a server that answers one has seen all writes."""
    if answer != LOST and answer != EXPIRED:
        see_all(zk, b)
    return answer


def fire_late(zk, event):
    """No watch fires before the client's server has seen the change."""
    return 0


def forget_view(zk, b):
    """There is no session any more, so no server."""
    zk.clients[b].controller = NOBODY
    zk.clients[b].epoch = -1
    zk.clients[b].epoch_version = 0


def open_session(zk, b):
    """createSession: OK."""
    return answered(zk, b, open_session_at_once(zk, b))


def end_session(zk, b):
    """closeSession: OK."""
    forget_view(zk, b)
    return end_session_at_once(zk, b)


def orphan_session(zk, b):
    """The process of `b` is gone."""
    forget_view(zk, b)
    orphan_session_at_once(zk, b)


def read_controller(zk, b):
    """exists and getData of /controller as the server knows it, watch armed: MINE, OK, NONODE or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    client = zk.clients[b]
    client.watch = 1
    if client.controller == NOBODY:
        return NONODE
    return MINE if client.controller == b else OK


def get_epoch(zk, b, reader):
    """getData of /controller_epoch as the server knows it, into `reader`: OK, NONODE or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.clients[b].epoch < 0:
        return NONODE
    reader.read_epoch = zk.clients[b].epoch
    reader.read_version = zk.clients[b].epoch_version
    return OK


def create_broker(zk, b):
    """create /brokers/ids/b: OK, NODEEXISTS or EXPIRED."""
    return answered(zk, b, create_broker_at_once(zk, b))


def create_epoch(zk, b, value, delivery):
    """create /controller_epoch: OK, NODEEXISTS, EXPIRED or LOST."""
    return answered(zk, b, create_epoch_at_once(zk, b, value, delivery))


def create_controller_and_set_epoch(zk, b, value, version, delivery):
    """multi[create /controller, setData /controller_epoch]: OK, NODEEXISTS, BADVERSION, EXPIRED or LOST."""
    return answered(zk, b, register_at_once(zk, b, value, version, delivery))


def checked_set_state(zk, b, epoch, version, delivery):
    """multi[check /controller_epoch, setData state]: OK, BADVERSION, FENCED, EXPIRED or LOST."""
    return answered(zk, b, set_state_at_once(zk, b, epoch, version, delivery))


def checked_delete_notification(zk, b, epoch, version, delivery):
    """multi[check /controller_epoch, delete notification]: OK, FENCED, EXPIRED or LOST."""
    return answered(zk, b, delete_notification_at_once(zk, b, epoch, version, delivery))


def checked_delete_controller(zk, b, epoch, version, delivery):
    """multi[check /controller_epoch, delete /controller]: OK, NONODE, FENCED, EXPIRED or LOST."""
    return answered(zk, b, delete_controller_at_once(zk, b, epoch, version, delivery))


LATE = {present.fire: fire_late} | {
    getattr(present, function.__name__): rebind(function, {present.fire: fire_late})
    for function in (
        open_session,
        end_session,
        orphan_session,
        read_controller,
        get_epoch,
        create_broker,
        create_epoch,
        create_controller_and_set_epoch,
        checked_set_state,
        checked_delete_notification,
        checked_delete_controller,
    )
}
"""What a model is rebound with, so that its ZooKeeper lags."""
