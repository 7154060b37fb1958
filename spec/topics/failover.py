"""The term of a controller: it is elected in one step, starts up, and resigns."""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, MINE, OK
from kafkaproof.spec.language.sets import difference, intersection, is_empty, with_member
from kafkaproof.spec.partition.context import is_known
from kafkaproof.spec.partition.zookeeper import create_controller, known_as_they_are, moved, session_open, vacant
from kafkaproof.spec.topics.context import IDLE, LOADING, Broker, forget, hosts, is_present, is_reassigned, members
from kafkaproof.spec.topics.network import drop_requests, start
from kafkaproof.spec.topics.progress import proceed, start_replicas
from kafkaproof.spec.topics.zookeeper import load, read_controller, register


def elect(s, b: Broker):
    """Broker `b` becomes the controller.

    Guards:  there is no /controller; `b` is not controller.
    Request: OK; EXPIRED.
    Effects: its term begins.
    Kafka:   KafkaController.elect, 2.1 to 3.9; see `election` for its steps.
    """
    broker = s.brokers[b]
    if not broker.up or broker.controller.epoch > 0 or not vacant(s.zk) or not session_open(s.zk, b):
        return False

    answer = create_controller(s.zk, b, broker.controller)
    if answer == OK:
        broker.controller.doing = LOADING
    return True


def load_context(s, b: Broker):
    """A new controller reads brokers, topic, states and markers; the replica machine starts up.

    Guards:  its term begins.
    Request: OK; EXPIRED.
    Effects: LeaderAndIsr is sent to replicas of live brokers, those of dead ones are to go offline; then partitions are
             to be elected, reassignments checked, and a deletion resumed.
    Kafka:   KafkaController.initializeControllerContext, onControllerFailover, 2.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != LOADING:
        return False

    answer = load(s.zk, b, controller)
    if answer == EXPIRED:
        forget(controller)
        return True
    controller.live = controller.joined
    controller.joined = 0
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        if partition.reassigned:
            controller.moving = with_member(controller.moving, p)
        if is_present(partition) and is_known(partition):
            to = known_as_they_are(s.zk, b, intersection(controller.live, members(partition)))
            start(s.network, controller.epoch, p, controller.topic, to)
    take_up_deletion(controller)
    start_machines(controller)
    return True


def start_machines(controller):
    """The state machines start up."""
    start_replicas(controller)
    proceed(controller)


def take_up_deletion(controller):
    """Resume a deletion that is found, unless a replica is on a dead broker or a partition is being reassigned."""
    if controller.deleting:
        controller.resuming = 1
        waits = not is_empty(difference(hosts(controller), controller.live)) or is_reassigned(controller)
        controller.ineligible = 1 if waits else 0


def resign(s, b: Broker):
    """A controller that is notified of a change of /controller checks who owns it.

    Guards:  it is controller, and no event is in progress; its watch has fired.
    Request: OK (another's) or NONODE; EXPIRED.
    Effects: unless `b` owns it, the term is over.
    Kafka:   KafkaController.maybeResign, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.epoch == 0 or controller.doing != IDLE or not moved(s.zk, b):
        return False

    answer = read_controller(s.zk, b)
    if answer != MINE:
        forget(controller)
    return True


def reopen(s, b: Broker):
    """A broker that knows that its session has expired gives up its term and registers again.

    Guards:  there is a process; its session has expired; no event is in progress.
    Request: OK.
    Effects: the term is over; the process goes on with its replicas.
    Kafka:   KafkaController.processExpire, processRegisterBrokerAndReelect, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.up or session_open(s.zk, b) or broker.controller.doing != IDLE:
        return False

    register(s.zk, b)
    drop_requests(s.network, b)
    forget(broker.controller)
    return True
