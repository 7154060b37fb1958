"""Properties of how a failover ends, of requests for preferred leaders, and of state machines that a fenced write has
killed.

Sources: KafkaController.onControllerFailover, fetchPendingPreferredReplicaElections, triggerControllerMove and
processReplicaLeaderElection, AbstractControllerBrokerRequestBatch.newBatch, 2.7 to 3.9.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import is_empty, with_member
from kafkaproof.spec.partition.context import (
    COLLECTED,
    CONTROLLED_SHUTDOWN,
    DELETING_REQUEST,
    ELECTING,
    IDLE,
    LAPSED,
    MOVING,
    PREFERRED_BY_ZNODE,
    READING_REQUEST,
    READING_STATES,
    STUCK,
    WRITING_LEADER,
    WRITING_REMOVAL,
    is_known,
    is_queued,
)
from kafkaproof.spec.partition.properties.elections import is_elsewhere
from kafkaproof.spec.partition.properties.sessions import has_session, rests


def led_elsewhere(controller):
    """The partitions of topics not queued for deletion that their preferred replica does not lead."""
    found = 0
    for p in range(len(controller.partitions)):
        if is_elsewhere(controller, p) and not is_queued(controller, p):
            found = with_member(found, p)
    return found


def lacks_state(controller, queued):
    """Whether a partition in the context has no state; those whose topic is queued for deletion count if `queued`."""
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        counts = queued or not is_queued(controller, p)
        if counts and partition.assignment.length > 0 and not is_known(partition):
            return True
    return False


def begins_preferred(controller, wanted):
    """Whether a preferred election of some partitions begins, after which the request is deleted."""
    deletes = controller.doing == (DELETING_REQUEST if is_empty(wanted) else ELECTING)
    return deletes and controller.todo == wanted and controller.strategy == PREFERRED_BY_ZNODE


def preferred_as_asked(before, after, b):
    """An operator's request elects exactly those partitions that their preferred replica does not lead; then it is
    deleted. If a partition has no state, nothing is done, and the request is not read again in this term.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not rests(before, b) or before.zk.preferred == 0 or old.overlooked:
        return False
    if lacks_state(old, False):
        return rests(after, b) and new.overlooked and after.zk.preferred == 1
    return begins_preferred(new, led_elsewhere(old))


def failover_ends(before, after, b):
    """A new controller that reads the operator's request elects as asked, and deletes it, there or not; if a partition has
    no state it gives up /controller, and the request stays.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.doing != READING_REQUEST:
        return False
    if not has_session(before, b):
        return new.doing == LAPSED
    if before.zk.preferred == 0:
        return new.doing == DELETING_REQUEST and is_empty(new.todo)
    if lacks_state(old, True):
        return new.doing == MOVING and after.zk.preferred == 1
    return begins_preferred(new, led_elsewhere(old))


def is_found(s, b):
    """Whether a new controller finds an operator's request."""
    return s.zk.preferred == 1 and has_session(s, b)


def asked_when_started(before, after):
    """A new controller whose state machines have started up reads the operator's request next, if there is one
    and it has a session.
    """
    for b in range(len(after.brokers)):
        old = before.brokers[b].controller
        new = after.brokers[b].controller
        was_starting = old.failing_over or old.doing == READING_STATES and new.doing != READING_STATES
        if was_starting and new.epoch > 0 and not new.failing_over and new.doing != LAPSED:
            if (new.doing == READING_REQUEST) != is_found(before, b):
                return False
    return True


def request_heard(before, after, b, delivery):
    """A request for preferred leaders is deleted only by an event that has read it."""
    deleted = before.zk.preferred == 1 and after.zk.preferred == 0
    return not deleted or before.brokers[b].controller.strategy == PREFERRED_BY_ZNODE


def gives_up(before, after, b):
    """A controller whose failover has failed ends its term, and deletes /controller only if it owns it."""
    own = before.zk.controller == b and has_session(before, b)
    deleted = after.zk.controller == NOBODY if own else after.zk.controller == before.zk.controller
    return before.brokers[b].controller.doing == MOVING and after.brokers[b].controller.epoch == 0 and deleted


def is_fenced(before, after, b):
    """Whether a step refuses a write of a controller because another has been elected since."""
    old = before.brokers[b].controller
    writes = old.doing == WRITING_LEADER or old.doing == WRITING_REMOVAL
    new = after.brokers[b].controller
    ends = new.doing == IDLE if old.strategy == CONTROLLED_SHUTDOWN else new.epoch == 0
    return writes and ends and after.brokers[b].up and has_session(before, b) and old.epoch != before.zk.epoch


def unsent_for_ever(before, after):
    """What a state machine has collected when a write is fenced is never sent: it is dead until the process ends."""
    for b in range(len(after.brokers)):
        old = before.brokers[b].controller
        new = after.brokers[b].controller
        removal = is_fenced(before, after, b) and old.doing == WRITING_REMOVAL
        election = is_fenced(before, after, b) and old.partition_batch == COLLECTED
        replicas = after.brokers[b].up and (old.replica_batch == STUCK or removal)
        partitions = after.brokers[b].up and (old.partition_batch == STUCK or election)
        ended = before.brokers[b].up and not after.brokers[b].up
        if not ended and (new.replica_batch == STUCK) != replicas:
            return False
        if not ended and (new.partition_batch == STUCK) != partitions:
            return False
        if ended and (new.replica_batch == STUCK or new.partition_batch == STUCK):
            return False
    return True


def dead_does_nothing(s):
    """A dead state machine elects nobody, and takes no replica offline."""
    for broker in s.brokers:
        controller = broker.controller
        elects = controller.doing == ELECTING or controller.doing == WRITING_LEADER
        if controller.partition_batch == STUCK and elects:
            return False
        if controller.replica_batch == STUCK and not is_empty(controller.removing):
            return False
    return True


FAILOVERS = (
    always_step(preferred_as_asked, of=("preferred_election",)),
    always_step(failover_ends, of=("pending_election",)),
    always_step(asked_when_started),
    always_step(request_heard, of=("delete_request",)),
    always_step(gives_up, of=("move_controller",)),
    always_step(unsent_for_ever),
    always(dead_does_nothing),
)
