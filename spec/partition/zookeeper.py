"""ZooKeeper as the partitions' controllers use it: their requests, and what their watches report.

As in `kafkaproof.spec.kafka.zookeeper`, a function that answers with a code is one request; `delivery` says whether the
answer arrives, and a LOST one is a fault. `znodes` declares the records.
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import (
    ANSWERED,
    BADVERSION,
    EXPIRED,
    FENCED,
    LOST_DROPPED,
    MINE,
    NEWER,
    NODEEXISTS,
    NONODE,
    OK,
    outcome,
)
from kafkaproof.spec.language.combine import checked
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import (
    contains,
    difference,
    intersection,
    is_empty,
    only,
    union,
    with_member,
    without_member,
)
from kafkaproof.spec.partition.context import NO_EPOCH, clear, copy
from kafkaproof.spec.partition.znodes import ARMED, FIRED, NONE, PREFERRED_REQUEST, REASSIGN_REQUEST

KNOWN = (
    "session_open",
    "vacant",
    "moved",
    "brokers_changed",
    "election_wanted",
    "unclean_allowed",
    "assigned",
    "partitions_of_topics",
    "deletion_wanted",
    "listed",
    "is_moved",
    "copy_target",
    "wanted_target",
    "log_dir_events",
    "isr_changed",
    "known_as_they_are",
    "as_they_are",
    "give_up_controller",
    "disconnect",
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
    """Whether there is no /controller: the watch of every broker reports that."""
    return zk.controller == NOBODY


def moved(zk, b):
    """Whether `b` does not own /controller: its watch reports that."""
    return zk.controller != b


def brokers_changed(zk, b):
    """Whether `b`'s watch on /brokers/ids has fired."""
    return zk.clients[b].watch == FIRED


def election_wanted(zk):
    """Whether an operator has asked for preferred leaders: the watch reports that."""
    return zk.preferred == 1


def unclean_allowed(zk):
    """Whether the topic allows unclean elections: the notification of its configuration reports that."""
    return zk.unclean == 1


def assigned(zk, p):
    """The replicas of a partition, as LeaderAndIsr names them."""
    return replicas_of(zk.assignments[p])


def partitions_of_topics(zk):
    """The partitions that topics have, each with an assignment: the watch on /brokers/topics reports them."""
    found = 0
    for p in range(len(zk.assignments)):
        if zk.assignments[p].length > 0:
            found = with_member(found, p)
    return found


def deletion_wanted(zk):
    """The partitions of topics that are queued for deletion: the watch on /admin/delete_topics reports them."""
    return zk.deleting


def listed(zk):
    """The partitions that /admin/reassign_partitions lists: the watch reports them."""
    found = 0
    for p in range(len(zk.targets)):
        if is_moved(zk, p):
            found = with_member(found, p)
    return found


def is_moved(zk, p):
    """Whether /admin/reassign_partitions lists a partition."""
    return zk.targets[p].length > 0


def copy_target(zk, p, target):
    """The target of a partition, as /admin/reassign_partitions has it."""
    copy(zk.targets[p], target)


def wanted_target(zk, p):
    """The brokers of that target."""
    return replicas_of(zk.targets[p])


def log_dir_events(zk):
    """The brokers that notify of a failed log directory, and whose notification nobody has read: the watch reports
    them.
    """
    return zk.log_dir_events


def isr_changed(zk, p):
    """Whether a leader has left a notification."""
    return contains(zk.isr_changed, p)


def known_as_they_are(zk, b, members):
    """Those of some brokers whose current broker epoch `b` knows; the others refuse its requests."""
    return intersection(members, zk.clients[b].seen)


def as_they_are(zk, b, members):
    """Requests name no process: any process with the id accepts them (up to 2.1)."""
    return members


def disconnect(zk, b):
    """Broker `b` is no longer controller: its watch, and the versions that it knew, do not matter any more."""
    zk.clients[b].watch = NONE
    zk.clients[b].seen = 0
    forget_versions(zk, b)


def forget_versions(zk, b):
    """Broker `b` knows the version of no state any more."""
    for state in zk.partitions:
        state.readers = without_member(state.readers, b)


def remove_controller(zk):
    """Remove /controller."""
    zk.controller = NOBODY


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
        remove_controller(zk)
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
    """getData of /controller by a broker that believes it is controller: MINE, OK (another's), NONODE or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.controller == b:
        return MINE
    disconnect(zk, b)
    return NONODE if zk.controller == NOBODY else OK


def deletes_own_controller(zk, b):
    """Whether a controller whose failover has failed deletes /controller: where it is its own.

    Kafka: KafkaController.triggerControllerMove, 2.1 to 3.9.
    """
    return zk.controller == b


def give_up_controller(zk, b):
    """delete /controller, if `b` is to. In what runs the steps of *election* make the request."""
    disconnect(zk, b)
    if deletes_own_controller(zk, b):
        remove_controller(zk)


def list_brokers(zk, b, reader):
    """getChildren of /brokers/ids, watch armed, and getData of each, into `reader`: OK or EXPIRED.

    Kafka: KafkaZkClient.getAllBrokerAndEpochsInCluster, 2.2 to 3.9 (KIP-380).
    """
    if not session_open(zk, b):
        return EXPIRED
    client = zk.clients[b]
    client.watch = ARMED
    reader.joined = difference(zk.registered, reader.live)
    reader.gone = difference(reader.live, zk.registered)
    reader.bounced = difference(intersection(reader.live, zk.registered), client.seen)
    client.seen = zk.registered
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


def read_assignment(zk, p, partition):
    """The assignment of a partition, as the topic znode has it."""
    copy(zk.assignments[p], partition.assignment)


def load_partition(zk, b, p, partition, reader):
    """getData of the topic, assignment into `partition`, then as `get_state`: one step, since nobody changes it."""
    answer = get_state(zk, b, p, reader)
    if answer != EXPIRED:
        read_assignment(zk, p, partition)
    return answer


def read_state(zk, b, p, epoch, reader):
    """As `get_state`, by a controller about to write: also NEWER, when one of a higher epoch wrote the state."""
    if session_open(zk, b) and zk.partitions[p].controller_epoch > epoch:
        return NEWER
    return get_state(zk, b, p, reader)


def put_state(zk, b, p, epoch, leader, isr, leader_epoch, delivery):
    """Write leader, ISR and epochs of a state."""
    state = zk.partitions[p]
    state.leader = leader
    state.isr = isr
    state.leader_epoch = leader_epoch
    state.controller_epoch = epoch
    state.readers = only(b) if delivery == ANSWERED else 0
    if delivery != ANSWERED:
        zk.ghosts.lost = 1


def create_state(zk, b, p, epoch, leader, isr, delivery):
    """create a partition's state, leader epoch 0: OK, NODEEXISTS, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = OK if zk.partitions[p].leader_epoch == NO_EPOCH else NODEEXISTS
    if answer == OK and delivery != LOST_DROPPED:
        put_state(zk, b, p, epoch, leader, isr, 0, delivery)
    return outcome(zk, answer, delivery)


def set_state(zk, b, p, epoch, leader, isr, leader_epoch, delivery):
    """setData of a partition's state if `b` knows its version: OK, BADVERSION, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = OK if contains(zk.partitions[p].readers, b) else BADVERSION
    if answer == OK and delivery != LOST_DROPPED:
        put_state(zk, b, p, epoch, leader, isr, leader_epoch, delivery)
    return outcome(zk, answer, delivery)


def exists(zk, request):
    """Whether there is a request of an operator, or a notification that was read."""
    if request == PREFERRED_REQUEST:
        return zk.preferred == 1
    if request == REASSIGN_REQUEST:
        return not is_empty(listed(zk))
    return not is_empty(zk.log_dir_read)


def remove(zk, request):
    """A request of an operator, or the notifications that were read, are gone."""
    if request == PREFERRED_REQUEST:
        zk.preferred = 0
    elif request == REASSIGN_REQUEST:
        for target in zk.targets:
            clear(target)
    else:
        zk.log_dir_read = 0


def delete_request(zk, b, request, epoch, delivery):
    """delete a request of an operator, or notifications: OK, NONODE, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = OK if exists(zk, request) else NONODE
    if delivery != LOST_DROPPED:
        remove(zk, request)
    return outcome(zk, answer, delivery)


def check_epoch(zk, b, epoch):
    """check of /controller_epoch: OK, or FENCED where another controller has been elected."""
    return FENCED if session_open(zk, b) and zk.epoch != epoch else OK


checked_create_state = checked(create_state, check_epoch)
checked_set_state = checked(set_state, check_epoch)
checked_delete_request = checked(delete_request, check_epoch)


def read_log_dir_events(zk, b):
    """getChildren of /log_dir_event_notification, watch armed, and getData of each: OK or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    zk.log_dir_read = union(zk.log_dir_read, zk.log_dir_events)
    zk.log_dir_events = 0
    return OK


def create_log_dir_event(zk, b):
    """create a child of /log_dir_event_notification that names `b`: OK or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    zk.log_dir_events = with_member(zk.log_dir_events, b)
    return OK
