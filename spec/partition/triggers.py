"""Requests of operators: elections, a reassignment, unclean elections, the deletion of the topic.

A request stays until a controller has dealt with it, whether it succeeded or not. Only the election of a reassignment
is modelled here, with a target of one replica: the assignment does not change, and no replica is added. Of a deletion
only the queueing is modelled: no leader is elected for the topic any more.
"""

from kafkaproof.spec.kafka.strategies import prefers
from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, LOST, NONODE, OK, Delivery
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, is_empty, with_member
from kafkaproof.spec.partition.context import (
    DELETING_EVENTS,
    DELETING_REQUEST,
    FORCED,
    MOVING,
    OFFLINE,
    PREFERRED,
    PREFERRED_BY_ZNODE,
    READING_REQUEST,
    REASSIGN,
    Broker,
    Partition,
    alive,
    has_leader,
    is_known,
    is_queued,
    is_without_state,
)
from kafkaproof.spec.partition.network import NOTHING, UNCLEAN_TYPE, asked, is_asked_of, take_asked
from kafkaproof.spec.partition.progress import (
    at_work,
    give_up,
    is_at_machines,
    lapse,
    proceed,
    trigger_online,
    wants_leader,
)
from kafkaproof.spec.partition.znodes import LOG_DIR_EVENTS, PREFERRED_REQUEST, REASSIGN_REQUEST
from kafkaproof.spec.partition.zookeeper import (
    checked_delete_request,
    copy_target,
    deletion_wanted,
    election_wanted,
    is_moved,
    session_open,
    unclean_allowed,
    wanted_target,
)


def unclean_enabled(s, b: Broker):
    """A controller is notified that the topic now allows unclean elections.

    Guards:  it does; `b` is at work; some partition needs a leader.
    Effects: these partitions are to be elected.
    Kafka:   KafkaController.UncleanLeaderElectionEnable, 2.0 to 2.2;
             KafkaController.TopicUncleanLeaderElectionEnable, 2.1 to 2.2;
             KafkaController.processTopicUncleanLeaderElectionEnable, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not unclean_allowed(s.zk) or not wants_leaders(controller):
        return False

    trigger_online(controller)
    proceed(controller)
    return True


def wants_leaders(controller):
    """Whether some partition needs a leader."""
    for p in range(len(controller.partitions)):
        if wants_leader(controller, p):
            return True
    return False


def is_led_by_another(controller, p):
    """Whether the preferred replica does not lead, as far as is known; never of a topic queued for deletion."""
    partition = controller.partitions[p]
    return is_known(partition) and not prefers(partition.assignment, partition.leader) and not is_queued(controller, p)


def needs_preferred(controller, p):
    """Whether a preferred election is held: where the preferred replica does not lead.

    Kafka: KafkaController.PreferredReplicaLeaderElection, 2.2; KafkaController.processPreferredReplicaLeaderElection,
           2.3; processReplicaLeaderElection, 2.4 to 3.9.
    """
    return is_led_by_another(controller, p)


def has_partition_without_state(controller):
    """Whether some partition in the context has no state, its topic to be deleted or not."""
    for p in range(len(controller.partitions)):
        if is_without_state(controller, p):
            return True
    return False


def fails_event(controller, p):
    """Whether an event that asks who leads a partition fails: it has no state, and its topic is not queued for
    deletion (the leadership of a partition is taken from the cache without a look whether it is there).

    Kafka: KafkaController.PreferredReplicaLeaderElection, 2.2; KafkaController.processPreferredReplicaLeaderElection,
           2.3; processReplicaLeaderElection, 2.4 to 3.9.
    """
    return is_without_state(controller, p) and not is_queued(controller, p)


def needs_any(controller, p):
    """Whether there is no leader, or a dead one (else ELECTION_NOT_NEEDED); never of a topic queued for deletion."""
    partition = controller.partitions[p]
    leads = partition.leader != NOBODY and contains(alive(controller), partition.leader)
    return is_known(partition) and not leads and not is_queued(controller, p)


def preferred_election(s, b: Broker):
    """A controller reads the operator's request for preferred leaders.

    Guards:  it exists, and has not failed in this term; `b` is at work.
    Effects: partitions that another replica leads are to be elected; then the request is to be deleted. If one has no
             state, the event fails: the request stays, and its watch does not report it again.
    Kafka:   KafkaController.onPreferredReplicaElection, 0.8 to 2.3; processReplicaLeaderElection (ZkTriggered), 2.4
             to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not election_wanted(s.zk) or controller.overlooked:
        return False

    for p in range(len(controller.partitions)):
        if fails_event(controller, p):
            controller.overlooked = 1
    if not controller.overlooked:
        controller.strategy = PREFERRED_BY_ZNODE
        for p in range(len(controller.partitions)):
            if needs_preferred(controller, p):
                controller.todo = with_member(controller.todo, p)
        proceed(controller)
    return True


def read_request(s, b):
    """getData of /admin/preferred_replica_election: OK, NONODE or EXPIRED."""
    if not session_open(s.zk, b):
        return EXPIRED
    return OK if election_wanted(s.zk) else NONODE


def reads_request(s, b):
    """Whether a new controller whose start-up is over reads the operator's request for preferred leaders, and deletes it:
    here only one that is there. `requesting` has both steps always, as Kafka does.
    """
    return session_open(s.zk, b) and election_wanted(s.zk)


def end_failover(s, b):
    """After the last step of the start-up the operator's request for preferred leaders is to be read."""
    controller = s.brokers[b].controller
    if controller.failing_over and not controller.starting and not is_at_machines(controller):
        controller.failing_over = 0
        if reads_request(s, b):
            controller.doing = READING_REQUEST


def pending_election(s, b: Broker):
    """A new controller whose state machines have started up reads the operator's request for preferred leaders.

    Guards:  that is its next step.
    Request: OK; NONODE; EXPIRED.
    Effects: partitions that another replica leads are to be elected; then the request is to be deleted, also one that
             was not there yet when it was read. If a partition has no state, its topic to be deleted or not, the
             failover fails: /controller is to be given up, and the request stays for the next controller. On EXPIRED it
             fails, too.
    Kafka:   KafkaController.initializeAndMaybeTriggerPreferredReplicaElection, 0.8.0;
             initializePreferredReplicaElection, 0.8.1 to 0.10.2; fetchPendingPreferredReplicaElections, 0.11 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != READING_REQUEST:
        return False

    answer = read_request(s, b)
    if answer == EXPIRED:
        lapse(controller, answer)
    elif answer == NONODE:
        controller.doing = DELETING_REQUEST
    elif has_partition_without_state(controller):
        controller.doing = MOVING
    else:
        controller.strategy = PREFERRED_BY_ZNODE
        for p in range(len(controller.partitions)):
            if is_led_by_another(controller, p):
                controller.todo = with_member(controller.todo, p)
        proceed(controller)
    return True


def admin_election(s, b: Broker):
    """A controller takes up an administrator's request for an election, preferred or unclean (KIP-460).

    Guards:  there is one; `b` is at work.
    Effects: partitions that need it are to be elected: an unclean election is forced. If one has no state, the event
             fails: nothing is elected, and the administrator gets no answer.
    Kafka:   KafkaController.processReplicaLeaderElection, AdminClientTriggered, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    wanted = asked(s.network)
    if not at_work(controller) or wanted == NOTHING:
        return False

    controller.strategy = FORCED if wanted == UNCLEAN_TYPE else PREFERRED
    for p in range(len(controller.partitions)):
        needed = needs_any(controller, p) if wanted == UNCLEAN_TYPE else needs_preferred(controller, p)
        if needed and is_asked_of(s.network, p):
            controller.todo = with_member(controller.todo, p)
    for p in range(len(controller.partitions)):
        if is_asked_of(s.network, p) and fails_event(controller, p):
            controller.todo = 0
    take_asked(s.network)
    proceed(controller)
    return True


def is_reassignable(controller, p):
    """Whether a partition is known, and its topic not queued for deletion."""
    return is_known(controller.partitions[p]) and not is_queued(controller, p)


def reassignment(s, b: Broker, p: Partition):
    """A controller finds that the target of a reassignment is in the ISR, and has a replica of the target elected.

    Guards:  `p` is to be reassigned, and its topic not queued for deletion; the target is in the ISR that `b`
             remembers (Kafka reads it; a notification announces what is not in the cache); `b` is at work.
    Effects: unless an online replica of the target leads, `p` is to be elected; then the request is to be
             deleted, elected or not.
    Kafka:   KafkaController.moveReassignedPartitionLeaderIfRequired, 0.8 to 3.9.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if not at_work(controller) or not is_moved(s.zk, p) or not is_reassignable(controller, p):
        return False
    if not is_empty(difference(wanted_target(s.zk, p), partition.isr)):
        return False

    controller.strategy = REASSIGN
    copy_target(s.zk, p, controller.target)
    if not has_leader(controller, partition) or not contains(wanted_target(s.zk, p), partition.leader):
        controller.todo = with_member(controller.todo, p)
    proceed(controller)
    return True


def topic_deletion(s, b: Broker):
    """A controller is notified that the topic is queued for deletion.

    Guards:  it is, and `b`, at work, does not know it.
    Effects: from now on nothing is elected. The deletion itself is not modelled: it stays queued, as it does while a
             reassignment is in progress or a replica's broker is dead.
    Kafka:   PartitionStateMachine.DeleteTopicsListener, 0.8.1 to 0.10.2; KafkaController.TopicDeletion, 0.11 to 2.2;
             KafkaController.processTopicDeletion, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    queued = deletion_wanted(s.zk)
    if not at_work(controller) or is_empty(difference(queued, controller.deleting)):
        return False

    controller.deleting = queued
    return True


def request_dealt_with(controller):
    """What the event in progress is to delete."""
    if controller.doing == DELETING_EVENTS:
        return LOG_DIR_EVENTS
    return REASSIGN_REQUEST if controller.strategy == REASSIGN else PREFERRED_REQUEST


def delete_request(s, b: Broker, delivery: Delivery):
    """A controller deletes the request, or the notifications, that it has dealt with.

    Guards:  it has dealt with them as far as it could.
    Request: OK; NONODE, perhaps because of its own lost request; FENCED; EXPIRED; LOST.
    Effects: the event ends; on LOST it retries; on FENCED the term is over.
    Kafka:   KafkaController.removePartitionsFromPreferredReplicaElection, 0.8 to 3.9;
             KafkaZkClient.deletePreferredReplicaElection, setOrCreatePartitionReassignment,
             deleteLogDirEventNotifications, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != DELETING_REQUEST and controller.doing != DELETING_EVENTS:
        return False

    answer = checked_delete_request(s.zk, b, request_dealt_with(controller), controller.epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    elif answer != LOST:
        controller.strategy = OFFLINE
        proceed(controller)
    return True
