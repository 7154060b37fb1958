"""Properties of controllers: C4, C9, C12 to C14, C17."""

from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    NON_EXISTENT_PARTITION,
    ONLINE_PARTITION,
    partition_move_is_legal,
    replica_move_is_legal,
)
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty
from kafkaproof.spec.partition.context import (
    IDLE,
    LAPSED,
    READING_BROKERS,
    READING_STATES,
    is_known,
    online,
    online_or_leaving,
)
from kafkaproof.spec.partition.properties.states import exists
from kafkaproof.spec.partition.znodes import FIRED
from kafkaproof.spec.partition.zookeeper import assigned, listed


def no_stale_write(before, after):
    """Every write of a state with a new leader epoch is by the controller that was elected last (C4)."""
    for p in range(len(after.zk.partitions)):
        new = after.zk.partitions[p]
        written = exists(new) and new.leader_epoch != before.zk.partitions[p].leader_epoch
        if written and new.controller_epoch != after.zk.epoch:
            return False
    return True


def no_stale_delete(before, after, b, delivery):
    """Requests of operators and notifications are deleted by the last controller that was elected (C4)."""
    deleted = before.zk.preferred == 1 and after.zk.preferred == 0
    deleted = deleted or not is_empty(difference(listed(before.zk), listed(after.zk)))
    deleted = deleted or before.zk.log_dir_read != after.zk.log_dir_read
    return not deleted or before.brokers[b].controller.epoch == before.zk.epoch


def epoch_bound(s):
    """No broker has seen, and no state holds, a controller epoch that has not been written yet (C9)."""
    for broker in s.brokers:
        if broker.seen_epoch > s.zk.epoch:
            return False
    for state in s.zk.partitions:
        if state.controller_epoch > s.zk.epoch:
            return False
    return True


def rules(s, b):
    """Whether `b` is the current controller, waits for events, and has handled every event."""
    controller = s.brokers[b].controller
    quiet = controller.doing == IDLE and s.zk.clients[b].watch != FIRED and is_empty(s.zk.isr_changed)
    return quiet and controller.epoch > 0 and controller.epoch == s.zk.epoch and s.zk.controller == b


def differs_from_cache(state, cached):
    """Whether the leader or ISR that a controller remembers differs from the state."""
    return cached.leader != state.leader or cached.isr != state.isr or cached.leader_epoch != state.leader_epoch


def same_sequence(some, others):
    """Whether two sequences are equal."""
    for i in range(len(some.slots)):
        if some.slots[i] != others.slots[i]:
            return False
    return some.length == others.length


def is_assigned_so(zk, p, cached):
    """Whether a controller remembers the current assignment."""
    return same_sequence(zk.assignments[p], cached.assignment)


def context_is_zookeeper(s):
    """While no answer to a write is lost, the current controller, once it has handled everything, remembers the live
    brokers, the assignments, the leaders, and the ISRs (C12).
    """
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        if rules(s, b) and not s.zk.ghosts.lost:
            if controller.live != s.zk.registered:
                return False
            for p in range(len(s.zk.partitions)):
                if differs_from_cache(s.zk.partitions[p], controller.partitions[p]):
                    return False
                if not is_assigned_so(s.zk, p, controller.partitions[p]):
                    return False
    return True


def legal_moves(before, after):
    """Partitions and replicas move only as the tables allow (C13)."""
    for b in range(len(after.brokers)):
        old = before.brokers[b].controller
        new = after.brokers[b].controller
        goes_on = old.epoch > 0 and new.epoch == old.epoch and new.doing != LAPSED
        if goes_on and old.doing != READING_BROKERS and old.doing != READING_STATES:
            for p in range(len(new.partitions)):
                if not old.starting and not legal_partition(old.partitions[p].state, new.partitions[p].state):
                    return False
                for r in range(len(new.partitions[p].replicas)):
                    moved = legal_replica(old.partitions[p].replicas[r], new.partitions[p].replicas[r])
                    if not moved and not is_forgotten(new.partitions[p]):
                        return False
    return True


def is_forgotten(partition):
    """Whether a partition is not in the context any more: here it always is."""
    return False


def legal_partition(old, new):
    """Whether a partition may be in `new` after `old`."""
    return new == old or partition_move_is_legal(old, new)


def legal_replica(old, new):
    """Whether a replica may be in `new` after `old`."""
    return new == old or replica_move_is_legal(old, new)


def is_none(controller, p):
    """Whether a partition does not exist for a controller: here all always do."""
    return False


def online_has_leader(s):
    """At the end of an event, Online partitions have a leader, and New ones are not known to have a state (C14)."""
    for broker in s.brokers:
        if broker.controller.epoch > 0 and broker.controller.doing == IDLE:
            for p in range(len(broker.controller.partitions)):
                partition = broker.controller.partitions[p]
                if partition.state == NON_EXISTENT_PARTITION and not is_none(broker.controller, p):
                    return False
                if partition.state == NEW_PARTITION and is_known(partition):
                    return False
                if partition.state == ONLINE_PARTITION and partition.leader == NOBODY:
                    return False
    return True


def is_led(controller, p, state):
    """Whether a partition has a leader as far as the controller knows; one that is shutting down counts."""
    return state.leader != NOBODY and contains(online_or_leaving(controller, controller.partitions[p]), state.leader)


def could_lead(s, b, p):
    """The online replicas of a partition, as the controller of `b` knows them, that are in the ISR if one exists."""
    candidates = intersection(online(s.brokers[b].controller, s.brokers[b].controller.partitions[p]), assigned(s.zk, p))
    return intersection(candidates, s.zk.partitions[p].isr) if exists(s.zk.partitions[p]) else candidates


def led_if_possible(s):
    """While no answer to a write is lost, and nothing is queued for deletion, the current controller, once it has
    handled everything, has a leader for every partition that some replica could lead (C17).
    """
    for b in range(len(s.brokers)):
        if rules(s, b) and not s.zk.ghosts.lost:
            for p in range(len(s.zk.partitions)):
                led = is_led(s.brokers[b].controller, p, s.zk.partitions[p]) or contains(s.zk.deleting, p)
                if not led and not is_empty(could_lead(s, b, p)):
                    return False
    return True


def failed_is_lost(s):
    """If the current controller, once it has handled everything, believes that a replica of a live process has failed,
    that replica is lost.
    """
    for b in range(len(s.brokers)):
        for p in range(len(s.zk.partitions)):
            for r in range(len(s.brokers)):
                taken = rules(s, b) and contains(s.brokers[b].controller.partitions[p].failed, r)
                if taken and s.brokers[r].up and not s.brokers[r].replicas[p].failed:
                    return False
    return True


CONTROLLERS = (
    always_step(no_stale_write),
    always_step(no_stale_delete, of=("delete_request",)),
    always(epoch_bound),
    always(context_is_zookeeper),
    always_step(legal_moves),
    always(online_has_leader),
    always(led_if_possible),
)
WITH_BROKER_EPOCHS = (always(failed_is_lost),)
"""Not checked where a restart goes unnoticed: there the answers to later requests reveal it, which are not modelled."""
