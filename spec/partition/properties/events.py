"""Properties of the events of partitions' controllers: what the step that begins or continues one must do.

An event begins when none is in progress (ControllerEventManager, one thread). It first reads what it needs, as
ZooKeeper holds it. A request that is refused because the term is over ends both the event and the term. One that is
refused because the session is over fails a partition, or the event; the term goes on until a new session is opened.
Sources: KafkaController, PartitionStateMachine, ReplicaStateMachine and ControllerBrokerRequestBatch, 2.7 to 3.9.
"""

from kafkaproof.spec.kafka.state_machines import NEW_PARTITION, OFFLINE_PARTITION, OFFLINE_REPLICA, ONLINE_REPLICA
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import (
    contains,
    difference,
    everybody,
    intersection,
    is_empty,
    only,
    union,
    with_member,
    without_member,
)
from kafkaproof.spec.partition.context import (
    CHANGING,
    DELETING_EVENTS,
    DELETING_REQUEST,
    ELECTING,
    OFFLINE,
    READING_BROKERS,
    READING_STATES,
    REASSIGN,
    STUCK,
    is_known,
    is_queued,
    online,
)
from kafkaproof.spec.partition.properties.controllers import differs_from_cache, same_sequence
from kafkaproof.spec.partition.properties.invariants import is_first
from kafkaproof.spec.partition.properties.sessions import has_lapsed, has_session, rests, term_goes_on
from kafkaproof.spec.partition.znodes import ARMED, FIRED
from kafkaproof.spec.partition.zookeeper import assigned


def events_in_turn(before, after, b):
    """An event begins when its broker is controller and has none in progress."""
    return rests(before, b)


def brokers_read(before, after, b):
    """A controller that lists the brokers knows all that are registered, handles those that came, bounced or went, and
    has its watch armed; a new one takes all as live, and reads every state next.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not has_session(before, b):
        return has_lapsed(before, after, b) if old.doing == READING_BROKERS else term_goes_on(before, after, b)
    client = after.zk.clients[b]
    if client.watch != ARMED or client.seen != before.zk.registered:
        return False
    if old.doing == READING_BROKERS:
        everything = new.doing == READING_STATES and new.todo == everybody(len(new.partitions))
        return everything and new.live == before.zk.registered and is_empty(new.joined)
    known = intersection(old.live, before.zk.registered)
    if before.zk.clients[b].watch != FIRED or new.live != old.live:
        return False
    compared = new.joined == difference(before.zk.registered, old.live)
    compared = compared and new.bounced == difference(known, before.zk.clients[b].seen)
    return compared and new.gone == difference(old.live, before.zk.registered)


def tells_leadership(after, b, p, to):
    """Whether the request of a controller says what it remembers, and is on its way to some brokers at least."""
    controller = after.brokers[b].controller
    cached = controller.partitions[p]
    request = after.network.requests[controller.epoch][p]
    same = request.leader == cached.leader and request.leader_epoch == cached.leader_epoch
    return same and is_empty(difference(to, request.to))


def sends_nothing(before, after, b):
    """Whether a controller has sent no LeaderAndIsr in this step."""
    epoch = after.brokers[b].controller.epoch
    for p in range(len(after.zk.partitions)):
        if after.network.requests[epoch][p].to != before.network.requests[epoch][p].to:
            return False
    return True


def states_read(before, after, b, p):
    """A new controller reads the states in turn, each with its assignment, as ZooKeeper has it; after the last it knows
    what is to be deleted, and has sent LeaderAndIsr to every live replica.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not is_first(old.todo, p) or old.doing != READING_STATES:
        return False
    if not has_session(before, b):
        return has_lapsed(before, after, b)
    if differs_from_cache(before.zk.partitions[p], new.partitions[p]):
        return False
    if new.doing == READING_STATES:
        return new.todo == without_member(old.todo, p)
    if new.deleting != before.zk.deleting:
        return False
    if new.replica_batch == STUCK:
        return sends_nothing(before, after, b) and is_empty(new.replicas)
    for q in range(len(new.partitions)):
        to = intersection(before.zk.clients[b].seen, intersection(old.live, assigned(before.zk, q)))
        if is_known(new.partitions[q]) and not tells_leadership(after, b, q, to):
            return False
        for r in range(len(after.brokers)):
            live = contains(old.live, r) and contains(assigned(before.zk, q), r)
            if live and new.partitions[q].replicas[r] != ONLINE_REPLICA:
                return False
    return is_taken_offline(new, difference(hosting(new), old.live))


def hosting(controller):
    """The brokers that have a replica, as a controller knows."""
    found = 0
    for partition in controller.partitions:
        found = union(found, replicas_of(partition.assignment))
    return found


def is_taken_offline(controller, brokers):
    """Whether the replicas on some brokers are Offline or going offline, except those queued for deletion; none, if the
    state machine is dead.
    """
    if controller.replica_batch == STUCK:
        return is_empty(controller.removing)
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        for r in range(len(partition.replicas)):
            hosted = contains(brokers, r) and contains(replicas_of(partition.assignment), r)
            waits = contains(controller.replicas, r) or partition.replicas[r] == OFFLINE_REPLICA
            if hosted and not is_queued(controller, p) and not waits:
                return False
    return True


def waiting_for_leader(controller):
    """The partitions that are New or Offline, and not queued for deletion."""
    found = 0
    for p in range(len(controller.partitions)):
        state = controller.partitions[p].state
        if (state == NEW_PARTITION or state == OFFLINE_PARTITION) and not is_queued(controller, p):
            found = with_member(found, p)
    return found


def elects_all_waiting(controller):
    """Whether exactly the partitions that wait for a leader are to be elected: none, if the state machine is dead."""
    waiting = 0 if controller.partition_batch == STUCK else waiting_for_leader(controller)
    return controller.todo == waiting and controller.strategy == OFFLINE


def newcomers_taken_in(before, after, b):
    """A broker that comes is live, its log directories work, its replicas are Online and are sent LeaderAndIsr; every
    partition that waits for a leader is elected.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.doing != CHANGING or is_empty(old.joined) or not is_empty(new.joined):
        return False
    if new.replica_batch == STUCK:
        return sends_nothing(before, after, b) and new.live == union(old.live, old.joined) and elects_all_waiting(new)
    for p in range(len(new.partitions)):
        partition = new.partitions[p]
        came = intersection(old.joined, replicas_of(partition.assignment))
        if is_known(partition) and not tells_leadership(after, b, p, intersection(came, before.zk.clients[b].seen)):
            return False
        for r in range(len(partition.replicas)):
            if contains(came, r) and partition.replicas[r] != ONLINE_REPLICA:
                return False
    return (
        new.live == union(old.live, old.joined) and knows_no_failure(after, b, old.joined) and (elects_all_waiting(new))
    )


def knows_no_failure(s, b, brokers):
    """Whether no log directory of some brokers has failed, as far as the controller or a waiting answer knows."""
    for r in range(len(s.brokers)):
        if contains(brokers, r) and not is_empty(s.brokers[b].errors[r]):
            return False
    for partition in s.brokers[b].controller.partitions:
        if not is_empty(intersection(partition.failed, brokers)):
            return False
    return True


def leaderless_is_offline(controller):
    """Whether each partition whose leader is not online is Offline, except those queued for deletion."""
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        led = partition.leader != NOBODY and contains(online(controller, partition), partition.leader)
        if is_known(partition) and not led and not is_queued(controller, p):
            if partition.state != OFFLINE_PARTITION and controller.partition_batch != STUCK:
                return False
    return True


def departed_dropped(before, after, b):
    """A broker that bounced or went is no longer live; the partitions that it led are Offline and elected, then its
    replicas go offline; one that bounced is then taken in.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.doing != CHANGING or not is_empty(old.joined):
        return False
    dead = old.gone if is_empty(old.bounced) else old.bounced
    if new.live != difference(old.live, dead) or new.leaving != difference(old.leaving, dead):
        return False
    if new.joined != old.bounced or not is_empty(new.bounced) or not is_empty(intersection(new.gone, dead)):
        return False
    dropped = knows_no_failure(after, b, dead) and is_taken_offline(new, dead)
    return dropped and leaderless_is_offline(new) and elects_all_waiting(new)


def is_touched(controller, p, leaver):
    """Whether a controlled shutdown touches a partition: one with another replica, known, and not to be deleted."""
    assignment = controller.partitions[p].assignment
    hosted = contains(replicas_of(assignment), leaver) and assignment.length > 1
    return hosted and is_known(controller.partitions[p]) and not is_queued(controller, p)


def leaver_moved_away(before, after, b, leaver):
    """A broker that asks to be shut down counts as leaving; the partitions that it leads are elected, and where it
    follows its replica goes offline (KafkaController.doControlledShutdown).
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    asks = contains(before.network.shutdowns, leaver) and contains(old.live, leaver)
    if not rests(before, b) or not asks or new.leaving != with_member(old.leaving, leaver):
        return False
    led = 0
    for p in range(len(new.partitions)):
        touched = is_touched(old, p, leaver)
        if touched and old.partitions[p].leader == leaver:
            led = with_member(led, p)
        elif touched and contains(new.removing, p) == (new.replica_batch == STUCK):
            return False
    return new.todo == led


def waiting_are_elected(before, after, b):
    """When unclean elections become allowed, every partition that waits for a leader is elected."""
    new = after.brokers[b].controller
    return rests(before, b) and before.zk.unclean == 1 and not is_empty(new.todo) and elects_all_waiting(new)


def moved_as_asked(before, after, b, p):
    """A partition whose target is in the ISR is elected unless an online replica of the target leads; then the request
    is deleted.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    cached = old.partitions[p]
    asked = before.zk.targets[p]
    target = replicas_of(asked)
    if not rests(before, b) or asked.length == 0 or is_queued(old, p):
        return False
    if not is_empty(difference(target, cached.isr)) or not same_sequence(new.target, asked):
        return False
    leads = cached.leader != NOBODY and contains(intersection(online(old, cached), target), cached.leader)
    deletes = new.doing == (DELETING_REQUEST if leads else ELECTING)
    return deletes and new.strategy == REASSIGN and new.todo == (0 if leads else only(p))


def deletion_is_heard(before, after, b):
    """Every topic that is queued for deletion is known at once; no leader is elected, and the event is over."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    return rests(before, b) and old.deleting != new.deleting and new.deleting == before.zk.deleting and rests(after, b)


def notifications_read(before, after, b):
    """A controller that reads the notifications of failed log directories sends those brokers LeaderAndIsr once more,
    with their replicas Online until they answer; then the notifications are deleted.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    named = before.zk.log_dir_events
    if not rests(before, b) or is_empty(named):
        return False
    if not has_session(before, b):
        return term_goes_on(before, after, b) and rests(after, b)
    if not is_empty(after.zk.log_dir_events) or after.zk.log_dir_read != union(before.zk.log_dir_read, named):
        return False
    if new.replica_batch == STUCK:
        return sends_nothing(before, after, b) and new.doing == DELETING_EVENTS
    for p in range(len(new.partitions)):
        asked = intersection(intersection(named, replicas_of(old.partitions[p].assignment)), old.live)
        known = intersection(asked, before.zk.clients[b].seen)
        if is_known(new.partitions[p]) and not tells_leadership(after, b, p, known):
            return False
        for r in range(len(after.brokers)):
            if contains(asked, r) and new.partitions[p].replicas[r] != ONLINE_REPLICA:
                return False
    return new.doing == DELETING_EVENTS


def error_queued(before, after, b, p, r):
    """A storage error reaches the controller that asked, once, and waits for its turn."""
    epoch = before.brokers[b].controller.epoch
    sent = contains(before.network.requests[epoch][p].errors, r)
    taken = sent and not contains(after.network.requests[epoch][p].errors, r)
    return epoch > 0 and taken and after.brokers[b].errors[r] == with_member(before.brokers[b].errors[r], p)


def errors_handled(before, after, b, r):
    """Each replica that a storage error names is known as failed; replicas newly failed go offline, and partitions that
    they led are Offline and elected.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    lost = before.brokers[b].errors[r]
    if not rests(before, b) or is_empty(lost) or not is_empty(after.brokers[b].errors[r]):
        return False
    news = False
    for p in range(len(new.partitions)):
        failed = new.partitions[p].failed
        if failed != (with_member(old.partitions[p].failed, r) if contains(lost, p) else old.partitions[p].failed):
            return False
        fresh = contains(lost, p) and not contains(old.partitions[p].failed, r)
        news = news or fresh
        waits = contains(new.removing, p) or new.partitions[p].replicas[r] == OFFLINE_REPLICA
        waits = waits or new.replica_batch == STUCK
        hosted = contains(replicas_of(old.partitions[p].assignment), r)
        if fresh and hosted and not is_queued(old, p) and not waits:
            return False
    return not news or leaderless_is_offline(new) and elects_all_waiting(new)


def notified_once(before, after, b):
    """A broker that has lost a log directory notifies through ZooKeeper, once; without a session it never does again."""
    if not before.brokers[b].up or not before.brokers[b].unnotified or after.brokers[b].unnotified:
        return False
    said = has_session(before, b)
    return after.brokers[b].deaf != said and contains(after.zk.log_dir_events, b) == (
        said or contains(before.zk.log_dir_events, b)
    )


EVENTS = (
    always_step(events_in_turn, of=("rebalance", "admin_election", "broker_change", "resign")),
    always_step(brokers_read, of=("load_brokers", "broker_change")),
    always_step(states_read, of=("load_state",)),
    always_step(newcomers_taken_in, of=("broker_startup",)),
    always_step(departed_dropped, of=("broker_failure",)),
    always_step(leaver_moved_away, of=("controlled_shutdown",)),
    always_step(waiting_are_elected, of=("unclean_enabled",)),
    always_step(moved_as_asked, of=("reassignment",)),
    always_step(deletion_is_heard, of=("topic_deletion",)),
    always_step(notifications_read, of=("log_dir_notification",)),
    always_step(error_queued, of=("receive_error",)),
    always_step(errors_handled, of=("storage_error",)),
    always_step(notified_once, of=("notify",)),
)
