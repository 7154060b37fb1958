"""The term of a controller: it is elected in one step, starts up, and resigns.

onControllerFailover reads the brokers, then every state; the replica state machine starts up (replicas of dead brokers
leave the ISRs), then that of partitions (partitions without a leader are elected); last it reads the operator's request
for preferred leaders (see `triggers`), and may fail. Other requests of operators and notifications that exist already
are handled like later ones. (Kafka deletes notifications unread; the answers to the first LeaderAndIsr carry the same
information.)
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import EXPIRED, MINE, OK
from kafkaproof.spec.language.sets import everybody, intersection, is_empty, without_member
from kafkaproof.spec.partition.context import (
    IDLE,
    LAPSED,
    MOVING,
    READING_BROKERS,
    READING_STATES,
    Broker,
    Partition,
    alive,
    empty_queue,
    forget,
    remember_result,
)
from kafkaproof.spec.partition.network import drop_requests
from kafkaproof.spec.partition.progress import is_next, lapse, proceed, start_replicas
from kafkaproof.spec.partition.telling import tell_brokers, tell_started
from kafkaproof.spec.partition.triggers import end_failover
from kafkaproof.spec.partition.zookeeper import (
    create_controller,
    deletion_wanted,
    give_up_controller,
    list_brokers,
    load_partition,
    moved,
    read_controller,
    register,
    session_open,
    vacant,
)


def elect(s, b: Broker):
    """Broker `b` becomes the controller.

    Guards:  there is no /controller; `b` is not controller.
    Request: OK; EXPIRED.
    Effects: its term begins.
    Kafka:   ZookeeperLeaderElector.elect, 0.8 to 0.10.2; KafkaController.elect, 0.11 to 3.9 (see `election` for its
             steps).
    """
    broker = s.brokers[b]
    if not broker.up or broker.controller.epoch > 0 or not vacant(s.zk) or not session_open(s.zk, b):
        return False

    answer = create_controller(s.zk, b, broker.controller)
    if answer == OK:
        broker.controller.doing = READING_BROKERS
    return True


def resign(s, b: Broker):
    """A controller that is notified of a change of /controller checks who owns it.

    Guards:  it is controller, and no event is in progress; its watch has fired.
    Request: MINE; OK (another's) or NONODE; EXPIRED.
    Effects: unless `b` owns it, the term is over. Answers that wait in the queue are then dropped, except where there
             is no /controller: `b` may be elected again in the same event (Reelect).
    Kafka:   KafkaController.onControllerResignation, 0.8.1 to 3.9; maybeResign, 2.1 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if controller.epoch == 0 or controller.doing != IDLE or not moved(s.zk, b):
        return False

    answer = read_controller(s.zk, b)
    if answer != MINE:
        forget(controller)
    if answer == OK:
        empty_queue(broker)
    return True


def reopen(s, b: Broker):
    """A broker that knows that its session has expired gives up its term and registers again.

    Guards:  there is a process; its session has expired; no event is in progress but a failover that has failed.
    Request: OK.
    Effects: the term is over, and the event queue empty; the process goes on with its replicas.
    Kafka:   KafkaController.Expire, KafkaController.RegisterBrokerAndReelect, 1.1 to 2.2;
             KafkaController.processExpire, processRegisterBrokerAndReelect, 2.3 to 3.9.
    """
    broker = s.brokers[b]
    doing = broker.controller.doing
    if not broker.up or session_open(s.zk, b) or (doing != IDLE and doing != LAPSED):
        return False

    register(s.zk, b)
    drop_requests(s.network, b)
    forget(broker.controller)
    empty_queue(broker)
    return True


def load_brokers(s, b: Broker):
    """A new controller lists the registered brokers, watch armed.

    Guards:  its term begins.
    Request: OK; EXPIRED.
    Effects: it knows which brokers are live; it reads the states next. On EXPIRED the failover has failed.
    Kafka:   KafkaController.initializeControllerContext, 0.8 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != READING_BROKERS:
        return False

    answer = list_brokers(s.zk, b, controller)
    if answer == EXPIRED:
        lapse(controller, answer)
        return True
    controller.live = controller.joined
    controller.joined = 0
    controller.todo = everybody(len(controller.partitions))
    controller.doing = READING_STATES
    return True


def load_state(s, b: Broker, p: Partition):
    """A new controller reads a partition's assignment and state; after the last, the replica machine starts up.

    Guards:  it has listed the brokers; `p` is the next.
    Request: OK; NONODE before the first election of `p`; EXPIRED.
    Effects: it knows the leadership, and after the last state also whether the topic is queued for deletion; every
             live broker is told who is live, and every live replica who leads; those of dead brokers are to go offline. On
             EXPIRED the failover has failed.
    Kafka:   KafkaController.updateLeaderAndIsrCache, ReplicaStateMachine.startup, 0.8 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != READING_STATES or not is_next(controller.todo, p):
        return False

    answer = load_partition(s.zk, b, p, controller.partitions[p], controller.result)
    if answer == EXPIRED:
        lapse(controller, answer)
        return True
    remember_result(controller, controller.partitions[p])
    controller.todo = without_member(controller.todo, p)
    if is_empty(controller.todo):
        controller.deleting = deletion_wanted(s.zk)
        start_machines(s, b)
    return True


def start_machines(s, b):
    """The context is there: brokers are told of it, and the state machines start, that of replicas first."""
    controller = s.brokers[b].controller
    tell_brokers(s, b, controller.live)
    for p in range(len(controller.partitions)):
        tell_started(s, b, p, intersection(alive(controller), replicas_of(controller.partitions[p].assignment)))
    start_replicas(controller)
    proceed(controller)
    end_failover(s, b)


def move_controller(s, b: Broker):
    """A controller whose failover has failed gives up its term, and /controller.

    Guards:  its failover has failed.
    Effects: the term is over; /controller is gone, if it was its own (see `election` for the steps: it is read first,
             and the deletion is checked against the epoch). Where it was not, Kafka keeps the context, and the next
             failover replaces it. (Not modelled: what it adds to, and that the term lasts until the Expire event where
             there is no session.)
    Kafka:   ZookeeperLeaderElector.resign, 0.8.1 to 0.10.2; KafkaController.triggerControllerMove, 0.11 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != MOVING:
        return False

    give_up_controller(s.zk, b)
    forget(controller)
    return True
