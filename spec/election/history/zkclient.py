"""Election up to 1.0, as in 0.10.2: a synchronous client that opens a new session on its own.

The client library retries every request until it is answered, even when a session ends and the next one
is opened: a write that began in one session may be applied in another, long after a new controller was
elected. The broker is a candidate before it registers its id. A failed write of the epoch is logged and
swallowed: the broker remains controller in the epoch that it read, which is another's. And resign()
forgets who leads before the deletion event checks it, so after a forced resignation listeners, state
machines and channels live on alongside the next controller (up to 0.10.2).

The sessions are in `zkclient_session`, the election itself in `legacy`.
"""

from kafkaproof.spec.election import active_controller
from kafkaproof.spec.election.broker_state import (
    CHECKING,
    DELETING,
    DOWN,
    ELECTING,
    EXPIRED_SESSION,
    FULL,
    IDLE,
    begin_term,
    end_election,
    lapse,
    resign,
)
from kafkaproof.spec.election.history import legacy
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.zookeeper import EXPIRED, MINE, NONODE, read_controller
from kafkaproof.spec.language.combine import with_callees


def at_work(broker):
    """Whether the listeners of a controller live on this broker and no callback runs."""
    return broker.ruling == FULL and broker.doing == IDLE and broker.session != DOWN


def ask_again(broker):
    """A request was answered EXPIRED: the client opens a new session, and makes the request once more."""
    broker.session = EXPIRED_SESSION


def keep_context(broker):
    """A broker that has resigned keeps its listeners, state machines and channels.

    Kafka: ZookeeperLeaderElector.resign, 0.9 to 0.10.2.
    """
    return 0


def rule_in_another_epoch(broker):
    """The epoch was raised by another: that is logged, and nothing else."""
    begin_term(broker, broker.read_epoch, broker.read_version)


def give_up(broker):
    """resign(): the leader is forgotten, /controller is deleted next, the context stays.

    Kafka: ZookeeperLeaderElector.resign, 0.9 to 0.10.2.
    """
    broker.active = 0
    end_election(broker, DELETING)


def data_event(s, b: Broker):
    """The client reads /controller again and calls dataChanged or dataDeleted with its current content.

    Guards:  the watch has fired.
    Request: MINE or OK (another's): changed; NONODE: deleted; EXPIRED.
    Effects: a term that is lost is given up, if `b` still believed that it leads; on NONODE it becomes a
             candidate; on EXPIRED the same again in a new session.
    Kafka:   ZookeeperLeaderElector.LeaderChangeListener, 0.9 to 0.10.2; ControllerChangeListener, 0.11 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != CHECKING:
        return False

    answer = read_controller(s.zk, b)
    if answer == EXPIRED:
        broker.session = EXPIRED_SESSION
        return True
    if broker.active and answer != MINE:
        resign(broker)
    broker.active = 1 if answer == MINE else 0
    broker.doing = ELECTING if answer == NONODE else IDLE
    return True


def fail(broker):
    """A candidate's request was answered EXPIRED: it resigns, in a new session."""
    ask_again(broker)
    give_up(broker)


RETRIED = {active_controller.at_work: at_work, lapse: ask_again, legacy.move: give_up}
OF_ANOTHER = RETRIED | {legacy.move: rule_in_another_epoch}

look_for_controller = with_callees(legacy.look_for_controller, RETRIED)
create = with_callees(legacy.create, {lapse: fail})
confirm_owner = with_callees(legacy.confirm_owner, {lapse: fail})
learn_epoch = with_callees(legacy.learn_epoch, RETRIED)
raise_epoch = with_callees(legacy.raise_epoch, OF_ANOTHER)
found_epoch = with_callees(legacy.found_epoch, RETRIED)
clean = with_callees(legacy.clean, RETRIED)
load = with_callees(active_controller.load, RETRIED)
write_state = with_callees(legacy.write_state, RETRIED)
send = with_callees(active_controller.send, RETRIED)
trigger_move = with_callees(legacy.trigger_move, RETRIED)
delete_any_controller = with_callees(legacy.delete_any_controller, RETRIED | {resign: keep_context})
