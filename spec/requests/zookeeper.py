"""ZooKeeper as control requests need it: the registrations, the controller, the leader.

A broker is registered exactly while its session is open. Each function that answers with a code is one request.
Elections of controllers are abstract: the winner reads at once what its term begins with, since watches report all
later changes and only the winner may write the state. Every write is checked against the controller epoch (2.1+; what
happens without is in `partition`). Answers are never lost here.
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, MINE, NODEEXISTS, NONODE, OK
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Flag, Id, Number, Record, SetOf
from kafkaproof.spec.language.sets import contains, difference, only, with_member, without_member
from kafkaproof.spec.partition.zookeeper import session_open
from kafkaproof.spec.requests.context import NOT_DELETED, QUEUED, BrokerEpoch, Leader

KNOWN = ("brokers_changed",)

ZOOKEEPER = Record(
    registered=(SetOf("brokers"), "children of /brokers/ids"),
    epochs=(Array(BrokerEpoch, "brokers"), "how often each broker was registered"),
    controller=(Id("brokers", nobody=True), "owner of /controller"),
    epoch=(Number(0, Bound("epochs")), "value of /controller_epoch, 0 before the first election"),
    leader=(Leader, "leader in the partition's state"),
    leader_epoch=(Number(0, Bound("leader_epochs")), "leader epoch in the partition's state"),
    deleting=(Flag(), "/admin/delete_topics names the topic"),
    dir_events=(SetOf("brokers"), "brokers with a child of /log_dir_event_notification"),
)


def brokers_changed(zk, reader):
    """Whether the watch on /brokers/ids has fired for a controller."""
    for r in range(len(zk.epochs)):
        if reader.epochs[r] != epoch_of(zk, r):
            return True
    return False


def ids_changed(zk, reader):
    """The same where a controller does not look at broker epochs (up to 2.1)."""
    for r in range(len(zk.epochs)):
        if (reader.epochs[r] > 0) != contains(zk.registered, r):
            return True
    return False


def deletion_asked(zk):
    """Whether the topic is to be deleted: the watch reports that."""
    return zk.deleting == 1


def notified(zk, r):
    """Whether there is a notification of broker `r`."""
    return contains(zk.dir_events, r)


def epoch_of(zk, r):
    """The broker epoch of `r`, 0 when it is not registered."""
    return zk.epochs[r] if contains(zk.registered, r) else 0


def register(zk, b):
    """A new session, and multi[create /brokers/ids/b, setData]: OK."""
    zk.registered = with_member(zk.registered, b)
    zk.epochs[b] += 1
    return OK


def read_own_epoch(zk, b):
    """The broker epoch that `b` got by its registration."""
    return zk.epochs[b]


def end_session(zk, b):
    """closeSession: the ephemerals of `b` go at once."""
    zk.registered = without_member(zk.registered, b)
    if zk.controller == b:
        zk.controller = NOBODY


def win_election(zk, b, reader):
    """The election, and all reads of a new term, into `reader`: OK, NODEEXISTS or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.controller != NOBODY:
        return NODEEXISTS
    zk.controller = b
    zk.epoch += 1
    zk.dir_events = 0
    reader.epoch = zk.epoch
    reader.live = zk.registered
    for r in range(len(zk.epochs)):
        reader.epochs[r] = epoch_of(zk, r)
    reader.leader = zk.leader
    reader.leader_epoch = zk.leader_epoch
    reader.deletion = QUEUED if zk.deleting else NOT_DELETED
    return OK


def read_controller(zk, b):
    """getData of /controller by a broker that believes it is controller: MINE, OK (another's), NONODE or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.controller == b:
        return MINE
    return NONODE if zk.controller == NOBODY else OK


def list_brokers(zk, b, reader):
    """getChildren of /brokers/ids, watch armed, and getData of each, into `reader`: OK or EXPIRED.

    Brokers that are gone or registered anew are not live any more; those that came are to be taken in.

    Kafka: KafkaZkClient.getAllBrokerAndEpochsInCluster, 2.2 to 3.9 (KIP-380).
    """
    if not session_open(zk, b):
        return EXPIRED
    for r in range(len(zk.epochs)):
        if reader.epochs[r] != epoch_of(zk, r):
            reader.live = without_member(reader.live, r)
            reader.epochs[r] = epoch_of(zk, r)
    reader.joined = difference(zk.registered, reader.live)
    return OK


def list_broker_ids(zk, b, reader):
    """getChildren of /brokers/ids alone (up to 2.1), into `reader`: OK or EXPIRED.

    The broker epoch that is recorded for those that came is for properties only.
    """
    if not session_open(zk, b):
        return EXPIRED
    for r in range(len(zk.epochs)):
        if (reader.epochs[r] > 0) != contains(zk.registered, r):
            reader.live = without_member(reader.live, r)
            reader.epochs[r] = epoch_of(zk, r)
    reader.joined = difference(zk.registered, reader.live)
    return OK


def checked_set_state(zk, b, epoch, leader, leader_epoch):
    """multi[check /controller_epoch, setData of the state]: OK, EXPIRED, or FENCED by the check."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.epoch != epoch:
        return FENCED
    zk.leader = leader
    zk.leader_epoch = leader_epoch
    return OK


def checked_delete_notification(zk, b, epoch, r):
    """multi[check /controller_epoch, delete of a notification]: OK, EXPIRED, or FENCED by the check."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.epoch != epoch:
        return FENCED
    zk.dir_events = difference(zk.dir_events, only(r))
    return OK


def put_notification(zk, r):
    """create /log_dir_event_notification/log_dir_event_N."""
    zk.dir_events = with_member(zk.dir_events, r)
