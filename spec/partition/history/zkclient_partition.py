"""Partitions up to 1.0, as in 0.10.2: a client that opens new sessions on its own.

The client library retries a request until it is answered, even when a session ends and the next one is opened: the
event in progress goes on in the new session, with the versions that were read in the old one, while another broker is
controller already. What needs an act of an operator in `leader_zk` needs only an expiry here. Then the callback for the
new session gives up the term.

The last member leaves an ISR too where the topic allows unclean elections, so no replica is known to have the committed
records. Up to 0.10.2 controlled shutdown and the automatic rebalance take the controller's lock for each partition
anew, so other events may come between two partitions: the rest is dropped here, and begun again later. Not modelled:
that a broker is a candidate before it registers (see `zkclient_session`); the order in which the callbacks for a new
session run.
"""

from kafkaproof.spec.partition.context import CONTROLLED_SHUTDOWN, ELECTING, PREFERRED, Broker, drop_result
from kafkaproof.spec.partition.history.strategies import isr_after_removal_or_empty
from kafkaproof.spec.partition.network import keep_requests
from kafkaproof.spec.partition.progress import end_event
from kafkaproof.spec.partition.znodes import FIRED, NONE
from kafkaproof.spec.partition.zookeeper import election_wanted, register, session_open


def ask_again(controller, answer):
    """A request is answered only when a new session is open, and is retried then.

    Kafka: org.I0Itec.zkclient.ZkClient.retryUntilConnected, 0.8 to 1.0.
    """
    return 0


def ask_in_event_again(s, b, answer):
    """So is one of an event."""
    return 0


def waits_for_request(s, b):
    """Whether a new controller finds an operator's request for preferred leaders, in this session or in the next."""
    return election_wanted(s.zk)


def elect_again(s, b, p):
    """A request of an election is retried in the next session."""
    return 0


def is_never_put_off(refused):
    """Whether a partition is elected again when the others are through: never, see `elect_at_once`.

    Kafka: PartitionStateMachine.electLeaderForPartition, 0.8 to 1.0.
    """
    return False


def elect_at_once(controller, p):
    """The state of a partition whose write met another version is read again at once, before the next partition.

    Kafka: PartitionStateMachine.electLeaderForPartition, 0.8 to 1.0.
    """
    drop_result(controller)
    controller.doing = ELECTING


def remove_again(s, b, p, r):
    """So is one of a replica that goes offline."""
    return 0


def notify_again(broker):
    """So is a notification of a failed log directory (1.0)."""
    return 0


def keep_versions(zk, b):
    """A session has ended: its watches are gone, the versions that were read are remembered."""
    zk.clients[b].watch = NONE


def open_another(zk, b):
    """A new session and /brokers/ids/b; an event for every path that is watched: OK."""
    answer = register(zk, b)
    zk.clients[b].watch = FIRED
    return answer


def isr_without_even_the_last(result, replica):
    """The ISR that was read, when a replica goes offline.

    Kafka: KafkaController.removeReplicaFromIsr, 0.8.2 to 1.0.
    """
    return isr_after_removal_or_empty(result.isr, replica, result.unclean)


def reopen(s, b: Broker):
    """The client library opens a new session; the event in progress goes on in it.

    Guards:  there is a process; its session has expired.
    Request: OK.
    Effects: the watches are treated as fired; a term lasts until the callback for the new session.
    Kafka:   org.I0Itec.zkclient.ZkClient.reconnect, KafkaHealthcheck.SessionExpireListener, 0.8.1 to 1.0.
    """
    if not s.brokers[b].up or session_open(s.zk, b):
        return False

    open_another(s.zk, b)
    keep_requests(s.network, b)
    return True


def release_lock(s, b: Broker):
    """A controller that goes from one partition to the next lets other events in between.

    Guards:  a controlled shutdown or a rebalance is in progress, between two partitions.
    Effects: the rest of the event is dropped; the broker asks again, or the timer fires again.
    Kafka:   KafkaController.shutdownBroker, checkAndTriggerPartitionRebalance, 0.8.1 to 0.10.2.
    """
    controller = s.brokers[b].controller
    by_partition = controller.strategy == CONTROLLED_SHUTDOWN or controller.strategy == PREFERRED
    if controller.doing != ELECTING or not by_partition:
        return False

    controller.todo = 0
    controller.removing = 0
    controller.replicas = 0
    end_event(controller)
    return True
