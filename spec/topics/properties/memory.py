"""Properties of what a controller of topics keeps, and of what processes and sessions leave behind.

These are the invariants that proofs about single events rely on: an event has left what it still has to do, a context
is empty without a term, and the current controller knows what ZooKeeper holds. In Kafka they follow from the single
thread of ControllerEventManager, and from ControllerContext.clearTopicsState and removeTopic (2.4 to 3.9).
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.properties.memory import lives_without_session
from kafkaproof.spec.topics.network import DELETE, DROP, EMPTY, START
from kafkaproof.spec.topics.properties.events_in_progress import (
    absent_is_blank,
    added_exists,
    begins_empty,
    deletes_when_queued,
    doing_is_needed,
    event_ends_clean,
    known_topic_has_partition,
    leaves_legally,
    left_to_do_is_known,
    queued_elects_not,
    reassigns_what_is_known,
    replica_is_assigned,
    rewrites_what_is_queued,
    starts_while_removing,
    stopped_is_offline,
    stops_in_a_task,
    unknown_topic_is_left_alone,
)
from kafkaproof.spec.topics.properties.invariants import (
    assignment_is_known,
    cache_is_state,
    config_goes_before_marker,
    dead_rules_not,
    left_over_is_deleted,
    no_topic_is_nothing,
    owner_rules,
    queued_is_marked,
    state_was_written,
    topic_is_known,
    unknown_partition_has_no_state,
    wanted_when_written,
    watches_in_term,
)
from kafkaproof.spec.topics.znodes import NOTHING


def one_event(s):
    """A controller has one event in progress: its next step agrees with what is left of it, and between events nothing
    is left.
    """
    for b in range(len(s.brokers)):
        if not event_ends_clean(s, b) or not doing_is_needed(s, b) or not starts_while_removing(s, b):
            return False
        if not reassigns_what_is_known(s, b):
            return False
        for p in range(len(s.zk.partitions)):
            if not left_to_do_is_known(s, b, p) or not wanted_when_written(s, b, p) or not stops_in_a_task(s, b, p):
                return False
            for r in range(len(s.brokers)):
                if not leaves_legally(s, b, p, r) or not stopped_is_offline(s, b, p, r):
                    return False
    return True


def no_context_without_term(s):
    """Without a term a controller knows nothing, and it knows nothing of a topic or partition outside its context."""
    for b in range(len(s.brokers)):
        if not begins_empty(s, b) or not known_topic_has_partition(s, b):
            return False
        for p in range(len(s.zk.partitions)):
            if not absent_is_blank(s, b, p) or not unknown_topic_is_left_alone(s, b, p):
                return False
    return True


def deletion_in_order(s):
    """A controller deletes only a queued topic, whose marker exists; the topic exists until that controller has deleted
    it, and its configuration is deleted before the marker.
    """
    for b in range(len(s.brokers)):
        queued = queued_elects_not(s, b) and deletes_when_queued(s, b) and rewrites_what_is_queued(s, b)
        if not queued or not queued_is_marked(s, b) or not topic_is_known(s, b):
            return False
        if not config_goes_before_marker(s, b) or not left_over_is_deleted(s, b):
            return False
    return True


def context_is_written(s):
    """The current controller remembers the assignments and leaders that ZooKeeper holds, or is writing them."""
    for b in range(len(s.brokers)):
        for p in range(len(s.zk.partitions)):
            known = assignment_is_known(s, b, p) and cache_is_state(s, b, p)
            if not known or not unknown_partition_has_no_state(s, b, p):
                return False
    return True


def replicas_have_states(s):
    """A replica has a state from when it is assigned and sent LeaderAndIsr, until it is stopped."""
    for b in range(len(s.brokers)):
        for p in range(len(s.zk.partitions)):
            for r in range(len(s.brokers)):
                if not added_exists(s, b, p, r) or not replica_is_assigned(s, b, p, r):
                    return False
    return True


def ends_with_session(s):
    """/controller and watches belong to a controller with a session, and a registration to a process."""
    for b in range(len(s.brokers)):
        if not owner_rules(s, b) or not dead_rules_not(s, b) or not watches_in_term(s, b):
            return False
    return True


def tree_is_whole(s):
    """Without a topic there is no partition and no state; a state was written by a controller."""
    for p in range(len(s.zk.partitions)):
        if not no_topic_is_nothing(s, p) or not state_was_written(s, p):
            return False
    return True


def is_struck(before, after, b):
    """Whether a live process, or its session, ends."""
    if not before.brokers[b].up:
        return False
    return not after.brokers[b].up or contains(before.zk.registered, b) and not contains(after.zk.registered, b)


def faults_counted(before, after):
    """Every failure of a process counts as one fault."""
    raised = after.zk.faults - before.zk.faults
    struck = False
    for b in range(len(after.brokers)):
        struck = struck or is_struck(before, after, b)
    owner = before.zk.controller
    if owner != NOBODY and after.zk.controller == NOBODY and contains(after.zk.registered, owner):
        struck = True
    return raised == 1 if struck else 0 <= raised <= 1


def asks_more(before, after):
    """Whether an operator, or an administrator, asks for more than before."""
    asks = after.zk.marker > before.zk.marker or after.zk.topic > before.zk.topic
    asks = asks or before.network.asked.wanted == NOTHING and after.network.asked.wanted != NOTHING
    asks = asks or before.zk.request.wanted == NOTHING and after.zk.request.wanted != NOTHING
    for p in range(len(after.zk.assignments)):
        asks = asks or before.zk.assignments[p].length == 0 and after.zk.assignments[p].length > 0
    return asks


def requests_counted(before, after):
    """Every request of an operator or administrator counts as one request, and nothing else does."""
    raised = after.zk.requests - before.zk.requests
    return raised == (1 if asks_more(before, after) else 0)


def sessions_change_alone(before, after):
    """A process that starts registers, and no controller knows its new registration yet."""
    for b in range(len(after.brokers)):
        came = contains(after.zk.registered, b) and not contains(before.zk.registered, b)
        if came and not after.brokers[b].up or before.brokers[b].up < after.brokers[b].up and not came:
            return False
        for c in range(len(after.brokers)):
            if came and contains(after.zk.clients[c].seen, b):
                return False
    return True


def former_requests_void(before, after, b):
    """No request that was sent to the former registration, or process, reaches the broker any more."""
    for epoch in range(len(after.network.channels)):
        for p in range(len(after.zk.partitions)):
            kind = after.network.channels[epoch][b][p].kind
            if kind == START or kind == DROP or kind == DELETE:
                return False
    return True


def sent_in_terms(before, after):
    """A request is sent by the controller of its epoch, about the topic that it knows, to a broker that is live."""
    for epoch in range(len(after.network.channels)):
        for b in range(len(after.brokers)):
            for p in range(len(after.zk.partitions)):
                old = before.network.channels[epoch][b][p]
                new = after.network.channels[epoch][b][p]
                request = new.kind == START or new.kind == DROP or new.kind == DELETE
                if request and (new.kind != old.kind or new.topic != old.topic):
                    if not is_sent(before, after, epoch, b, new.topic):
                        return False
                if new.kind == EMPTY and new.topic != 0:
                    return False
    return True


def is_sent(before, after, epoch, to, topic):
    """Whether a controller of an epoch may have sent a request to a broker, about a topic."""
    for b in range(len(after.brokers)):
        controller = after.brokers[b].controller
        rules = epoch > 0 and controller.epoch == epoch and before.brokers[b].controller.epoch == epoch
        if rules and controller.topic == topic and contains(controller.live, to):
            return contains(before.zk.clients[b].seen, to) or contains(after.zk.clients[b].seen, to)
    return False


def process_gone(s):
    """A process has died that a controller believes live."""
    for broker in s.brokers:
        for b in range(len(s.brokers)):
            if broker.controller.epoch > 0 and contains(broker.controller.live, b) and not s.brokers[b].up:
                return True
    return False


MEMORY = (
    always(one_event),
    always(no_context_without_term),
    always(deletion_in_order),
    always(context_is_written),
    always(replicas_have_states),
    always(ends_with_session),
    always(tree_is_whole),
    always_step(faults_counted),
    always_step(requests_counted),
    always_step(sessions_change_alone),
    always_step(former_requests_void, of=("reopen", "crash")),
    always_step(sent_in_terms),
    sometimes(process_gone, faults=1),
    sometimes(lives_without_session, faults=1),
)
