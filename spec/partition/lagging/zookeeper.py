"""ZooKeeper with stale reads: the server of a controller may lag behind what others write.

A controller reads what its server has seen, and its watch fires when the server sees the change. A server is up to date
when it answers a write, refused or not; so a client sees its own writes, and never goes back in time. What a server has
not seen is kept as it was when the first write was missed; a server catches up with all writes at once. /controller and
its epoch do not lag here (see `election/fenced-lagging`).
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, NEWER, NONODE, OK
from kafkaproof.spec.language.domains import NOBODY, Array, Flag, Record, SetOf
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, union, with_member
from kafkaproof.spec.partition import state, znodes
from kafkaproof.spec.partition import zookeeper as present
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.partition.state import initial as begin
from kafkaproof.spec.partition.znodes import ARMED, FIRED
from kafkaproof.spec.partition.zookeeper import check_epoch as check_epoch_at_once
from kafkaproof.spec.partition.zookeeper import create_controller as create_controller_at_once
from kafkaproof.spec.partition.zookeeper import disconnect as disconnect_at_once
from kafkaproof.spec.partition.zookeeper import get_state as get_state_at_once
from kafkaproof.spec.partition.zookeeper import put_state as put_state_at_once
from kafkaproof.spec.partition.zookeeper import session_open

VIEW = znodes.CLIENT.extended(
    rules=(Flag(), "it is a controller's: the others read nothing"),
    late=(SetOf("partitions"), "partitions whose last writes its server has not seen"),
    states=(
        Array(znodes.STATE.only("leader", "isr", "leader_epoch", "controller_epoch"), "partitions"),
        "as it knows them",
    ),
    changed=(SetOf("brokers"), "brokers that have come or gone, which its server has not seen"),
    was=(SetOf("brokers"), "those of them that were registered before"),
)
STATE: Record = state.STATE.changed(
    zk=(znodes.ZOOKEEPER.changed(clients=(Array(VIEW, "brokers"), "what ZooKeeper holds for each broker")), "ZooKeeper")
)


def initial(s):
    """As without lags; no server is behind."""
    begin(s)
    for b in range(len(s.zk.clients)):
        see_all(s.zk, b)


def is_behind(zk, b):
    """Whether the server of `b` has not seen all writes."""
    return not is_empty(zk.clients[b].late) or not is_empty(zk.clients[b].changed)


def see_all(zk, b):
    """The server of `b` sees all writes; the watch on /brokers/ids fires if somebody has come or gone."""
    client = zk.clients[b]
    if client.watch == ARMED and not is_empty(client.changed):
        client.watch = FIRED
    client.late = 0
    client.changed = 0
    client.was = 0
    for viewed in client.states:
        viewed.leader = NOBODY
        viewed.isr = 0
        viewed.leader_epoch = NO_EPOCH
        viewed.controller_epoch = 0


def create_controller(zk, b, reader):
    """multi[create /controller, setData /controller_epoch], the epoch into `reader`: OK or EXPIRED."""
    answer = create_controller_at_once(zk, b, reader)
    if answer == OK:
        zk.clients[b].rules = 1
    return answer


def disconnect(zk, b):
    """Broker `b` is no longer controller: what its server knows does not matter any more."""
    disconnect_at_once(zk, b)
    zk.clients[b].rules = 0
    see_all(zk, b)


def fire_late(zk):
    """No watch fires before the controller's server has seen the change."""
    return 0


def miss_registration(zk, b):
    """The servers of controllers do not see that `b` comes or goes."""
    for client in zk.clients:
        if client.rules and not contains(client.changed, b):
            client.changed = with_member(client.changed, b)
            if contains(zk.registered, b):
                client.was = with_member(client.was, b)


register_unseen = rebind(present.register, {present.fire: fire_late})
end_session_unseen = rebind(present.end_session, {present.fire: fire_late, present.disconnect: disconnect})


def register(zk, b):
    """A new session, and multi[create /brokers/ids/b, setData]: OK."""
    miss_registration(zk, b)
    return register_unseen(zk, b)


def end_session(zk, b):
    """closeSession: the ephemerals of `b` go at once."""
    miss_registration(zk, b)
    end_session_unseen(zk, b)


def put_state(zk, b, p, epoch, leader, isr, leader_epoch, delivery):
    """Write leader, ISR and epochs of a state, which the servers of other controllers do not see."""
    known = zk.partitions[p]
    for c in range(len(zk.clients)):
        client = zk.clients[c]
        if c != b and client.rules and not contains(client.late, p):
            client.late = with_member(client.late, p)
            client.states[p].leader = known.leader
            client.states[p].isr = known.isr
            client.states[p].leader_epoch = known.leader_epoch
            client.states[p].controller_epoch = known.controller_epoch
    put_state_at_once(zk, b, p, epoch, leader, isr, leader_epoch, delivery)


def check_epoch(zk, b, epoch):
    """check of /controller_epoch, with each write: the server that answers it has seen all writes."""
    if session_open(zk, b):
        see_all(zk, b)
    return check_epoch_at_once(zk, b, epoch)


def get_state(zk, b, p, reader):
    """getData of a state and of the topic's configuration, as the server knows it: OK, NONODE or EXPIRED."""
    client = zk.clients[b]
    if not session_open(zk, b) or not contains(client.late, p):
        return get_state_at_once(zk, b, p, reader)
    viewed = client.states[p]
    if viewed.leader_epoch == NO_EPOCH:
        return NONODE
    reader.leader = viewed.leader
    reader.isr = viewed.isr
    reader.leader_epoch = viewed.leader_epoch
    reader.unclean = zk.unclean
    return OK


def read_state(zk, b, p, epoch, reader):
    """As `get_state`, by a controller about to write: also NEWER, when one of a higher epoch wrote the state."""
    client = zk.clients[b]
    writer = zk.partitions[p].controller_epoch
    if contains(client.late, p):
        writer = client.states[p].controller_epoch
    if session_open(zk, b) and writer > epoch:
        return NEWER
    return get_state(zk, b, p, reader)


def list_brokers(zk, b, reader):
    """getChildren of /brokers/ids, watch armed, and getData of each, as the server knows them: OK or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    client = zk.clients[b]
    known = union(difference(zk.registered, client.changed), client.was)
    client.watch = ARMED
    reader.joined = difference(known, reader.live)
    reader.gone = difference(reader.live, known)
    reader.bounced = difference(difference(intersection(reader.live, known), client.changed), client.seen)
    client.seen = difference(zk.registered, client.changed)
    return OK


LAGGING = {
    present.create_controller: create_controller,
    present.disconnect: disconnect,
    present.register: register,
    present.end_session: end_session,
    present.put_state: put_state,
    present.check_epoch: check_epoch,
    present.get_state: get_state,
    present.read_state: read_state,
    present.list_brokers: list_brokers,
}
