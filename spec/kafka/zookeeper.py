"""ZooKeeper as the controllers see it: sessions, /controller, /controller_epoch, one partition state.

Each function below the records is one request: it answers with a code and never refuses to run. `delivery`
says whether the answer arrives; a LOST answer leaves open whether the request was applied, and the
client does not know. Reads are linearizable. Not modelled: zxids, other znodes, stale reads, ACLs.

Versions: that of /controller_epoch is kept. That of the partition state grows forever, so only the set of
brokers that have read the current one, and may write on it, is kept (`state_readers`). A watch is one-shot;
`fired` is the notification that is not handled yet, whether it is on its way or in the controller's queue.
Events carry no data and handlers read again, so events that wait together are one: DELETED does all that
CHANGED does, and then elects.

A process that dies leaves its session behind. Such an orphaned session is kept only while it owns a znode.
"""

from kafkaproof.spec.language.combine import checked
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Budget, Choice, Flag, Id, Number, Record, SetOf
from kafkaproof.spec.language.sets import contains, only, with_member, without_member

KNOWN = ("session_open", "waiting", "take_event")

Answer = Choice(
    "OK",
    "NODEEXISTS",
    "BADVERSION",
    "NONODE",
    "EXPIRED",
    "LOST",
    "FENCED",  # BADVERSION from the check of /controller_epoch in a multi
    "MINE",  # OK, and what was read names the broker that asks
    "NEWER",  # OK, and what was read was written by a controller of a higher epoch
)
OK, NODEEXISTS, BADVERSION, NONODE, EXPIRED, LOST, FENCED, MINE, NEWER = Answer
Delivery = Choice("ANSWERED", "LOST_APPLIED", "LOST_DROPPED")
ANSWERED, LOST_APPLIED, LOST_DROPPED = Delivery
Event = Choice("NOTHING", "CHANGED", "DELETED")
NOTHING, CHANGED, DELETED = Event
Owner = Choice("ABSENT", "PROCESS", "ORPHAN")
ABSENT, PROCESS, ORPHAN = Owner

CLIENT = Record(
    session=(Flag(), "the session of the broker's current process is open"),
    registered=(Owner, "which session of the broker owns /brokers/ids/b"),
    watch=(Flag(), "the session's watch on /controller is armed"),
    fired=(Event, "the watch's notification that the controller has not yet handled"),
)
GHOSTS = Record(
    stale_write=(Flag(), "a write of a controller was applied after a later election (C4)"),
    foreign_delete=(Flag(), "a resigning broker has deleted a /controller that was not its own (C7)"),
    epoch_reused=(Flag(), "an epoch was written that was not above the previous one (C2)"),
)
ZOOKEEPER = Record(
    clients=(Array(CLIENT, "brokers"), "what ZooKeeper holds for each broker"),
    controller=(Id("brokers", nobody=True), "the broker named in /controller"),
    controller_orphaned=(Flag(), "/controller belongs to the session of a process that is gone"),
    epoch=(Number(-1, Bound("epochs")), "value of /controller_epoch, -1 while it does not exist"),
    epoch_version=(Number(0, Bound("epochs")), "version of /controller_epoch"),
    state_epoch=(Number(0, Bound("epochs")), "controller epoch in the partition state"),
    state_readers=(SetOf("brokers"), "brokers that know the current version, written by no newer controller"),
    faults=(Number(0, Budget("faults")), "faults so far"),
    ghosts=(GHOSTS, "history, for properties only"),
)


def fire(zk, event):
    """Fire every armed watch on /controller."""
    for client in zk.clients:
        if client.watch:
            client.watch = 0
            if client.fired < event:
                client.fired = event


def outcome(zk, answer, delivery):
    """The answer as the client gets it; a lost answer counts as a fault."""
    if delivery == ANSWERED:
        return answer
    zk.faults += 1
    return LOST


def remove_controller(zk):
    """Remove /controller."""
    zk.controller = NOBODY
    zk.controller_orphaned = 0
    fire(zk, DELETED)


def put_controller(zk, b):
    """Make /controller an ephemeral of `b`'s session."""
    zk.controller = b
    fire(zk, CHANGED)


def put_epoch(zk, value):
    """Write /controller_epoch: the election of whoever writes takes effect."""
    if value <= zk.epoch:
        zk.ghosts.epoch_reused = 1
    zk.epoch = value
    zk.epoch_version += 1


def note_write(zk, epoch):
    """Record that a controller's write in `epoch` (0: of no election) is applied."""
    if 0 < epoch < zk.epoch:
        zk.ghosts.stale_write = 1


def owns_controller(zk, b):
    """Whether /controller belongs to the session of `b`'s current process."""
    return zk.controller == b and not zk.controller_orphaned


def session_open(zk, b):
    """Whether the session of `b`'s current process is open."""
    return zk.clients[b].session == 1


def waiting(zk, b):
    """The notification of `b`'s watch on /controller that the controller has not handled yet: an arrival."""
    return zk.clients[b].fired


def open_session(zk, b):
    """createSession: OK."""
    zk.clients[b].session = 1
    zk.clients[b].watch = 0
    zk.clients[b].fired = NOTHING
    return OK


def end_session(zk, b):
    """closeSession, by the client or by the server's timeout: all ephemerals of the session go at once."""
    client = zk.clients[b]
    client.session = 0
    client.watch = 0
    if client.registered == PROCESS:
        client.registered = ABSENT
    if owns_controller(zk, b):
        remove_controller(zk)
    return OK


def orphan_session(zk, b):
    """The process of `b` has ended; what its session owns stays until the session expires."""
    client = zk.clients[b]
    client.session = 0
    client.watch = 0
    client.fired = NOTHING
    if client.registered == PROCESS:
        client.registered = ORPHAN
    if zk.controller == b:
        zk.controller_orphaned = 1
    zk.state_readers = without_member(zk.state_readers, b)


def end_orphan(zk, b):
    """closeSession of `b`'s former process."""
    if zk.clients[b].registered == ORPHAN:
        zk.clients[b].registered = ABSENT
    if zk.controller == b and zk.controller_orphaned:
        remove_controller(zk)


def take_event(zk, b):
    """The controller of `b` begins to handle the notification of its watch."""
    zk.clients[b].fired = NOTHING
    return OK


def create_broker(zk, b):
    """create /brokers/ids/b (2.2+: multi[create, setData]): OK, NODEEXISTS or EXPIRED.

    A lost answer is not modelled here: the client reads the owner and recognises its own session.
    """
    if not session_open(zk, b):
        return EXPIRED
    if zk.clients[b].registered != ABSENT:
        return NODEEXISTS
    zk.clients[b].registered = PROCESS
    return OK


def read_controller(zk, b):
    """exists and getData of /controller, watch armed: MINE, OK (another's), NONODE or EXPIRED.

    One step for both: a change between them would only add an event that finds nothing new.
    """
    if not session_open(zk, b):
        return EXPIRED
    zk.clients[b].watch = 1
    if zk.controller == NOBODY:
        return NONODE
    return MINE if zk.controller == b else OK


def get_epoch(zk, b, reader):
    """getData of /controller_epoch into `reader`: OK, NONODE or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.epoch < 0:
        return NONODE
    reader.read_epoch = zk.epoch
    reader.read_version = zk.epoch_version
    return OK


def create_epoch(zk, b, value, delivery):
    """create /controller_epoch: OK, NODEEXISTS, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = NODEEXISTS if zk.epoch >= 0 else OK
    if answer == OK and delivery != LOST_DROPPED:
        zk.epoch = value
    return outcome(zk, answer, delivery)


def create_controller_and_set_epoch(zk, b, value, version, delivery):
    """multi[create /controller, setData /controller_epoch if it has `version`].

    OK, NODEEXISTS (of the first), BADVERSION (of the second), EXPIRED or LOST.
    """
    if not session_open(zk, b):
        return EXPIRED
    answer = OK
    if zk.controller != NOBODY:
        answer = NODEEXISTS
    elif zk.epoch_version != version:
        answer = BADVERSION
    if answer == OK and delivery != LOST_DROPPED:
        put_controller(zk, b)
        put_epoch(zk, value)
    return outcome(zk, answer, delivery)


def delete_controller(zk, b, epoch, delivery):
    """delete /controller, whatever its version and whoever owns it: OK, NONODE, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = NONODE if zk.controller == NOBODY else OK
    if answer == OK and delivery != LOST_DROPPED:
        note_write(zk, epoch)
        if not owns_controller(zk, b):
            zk.ghosts.foreign_delete = 1
        remove_controller(zk)
    return outcome(zk, answer, delivery)


def set_state(zk, b, epoch, delivery):
    """setData of the partition state if `b` knows its version: OK, BADVERSION, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = OK if contains(zk.state_readers, b) else BADVERSION
    if answer == OK and delivery != LOST_DROPPED:
        note_write(zk, epoch)
        zk.state_epoch = epoch
        zk.state_readers = only(b) if delivery == ANSWERED else 0
    return outcome(zk, answer, delivery)


def read_state(zk, b, epoch):
    """getData of the partition state by a controller of `epoch`: OK, NEWER or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.state_epoch > epoch:
        return NEWER
    zk.state_readers = with_member(zk.state_readers, b)
    return OK


def delete_notification(zk, b, epoch, delivery):
    """delete a notification, whatever its version: OK, EXPIRED or LOST. There is always one."""
    if not session_open(zk, b):
        return EXPIRED
    if delivery != LOST_DROPPED:
        note_write(zk, epoch)
    return outcome(zk, OK, delivery)


def check_version(zk, b, version, delivery):
    """check of /controller_epoch: OK, or FENCED where another controller has been elected, or LOST."""
    if session_open(zk, b) and zk.epoch_version != version:
        return outcome(zk, FENCED, delivery)
    return OK


checked_set_state = checked(set_state, check_version)
checked_delete_notification = checked(delete_notification, check_version)
checked_delete_controller = checked(delete_controller, check_version)
