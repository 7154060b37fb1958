"""Properties of partitions: P1 to P12, and C4, C9, C12 to C15 as far as they speak of them."""

from dataclasses import replace

from spec.language.domains import NOBODY
from spec.language.model import always, always_step
from spec.language.rebind import rebind
from spec.language.sets import contains, difference, intersection, is_empty, without_member
from spec.partition.context import (
    CONTROLLED_SHUTDOWN, IDLE, NO_EPOCH, OFFLINE, READING_BROKERS, READING_STATES, online,
)
from spec.partition.legal import (
    NEW_PARTITION, NON_EXISTENT_PARTITION, ONLINE_PARTITION, partition_move_is_legal, replica_move_is_legal,
)
from spec.partition.strategies import (
    controlled_shutdown_isr, controlled_shutdown_leader, controlled_shutdown_recipients, new_topic_isr,
    new_topic_leader, offline_isr, offline_leader, offline_recipients, preferred_leader, replicas_of,
)
from spec.partition.zookeeper import FIRED, as_they_are, known_as_they_are


def exists(state):
    """Whether a partition's state znode exists."""
    return state.leader_epoch != NO_EPOCH


def differs(old, new):
    """Whether a step wrote a state."""
    same = old.leader == new.leader and old.isr == new.isr and old.controller_epoch == new.controller_epoch
    return not same or old.leader_epoch != new.leader_epoch


def leader_in_isr(s):
    """A leader is a member of the ISR (P1)."""
    for state in s.zk.partitions:
        if state.leader != NOBODY and not contains(state.isr, state.leader):
            return False
    return True


def isr_assigned(s):
    """The ISR is a part of the assignment (P2)."""
    for state in s.zk.partitions:
        if not is_empty(difference(state.isr, replicas_of(s.brokers[0].assignment))):
            return False
    return True


def isr_not_empty(s):
    """A partition that has a state has an ISR (P3)."""
    for state in s.zk.partitions:
        if exists(state) and is_empty(state.isr):
            return False
    return True


def no_stale_write(before, after):
    """Every write of a controller is by the last one elected: states with a new leader epoch (C4)."""
    for p in range(len(after.zk.partitions)):
        new = after.zk.partitions[p]
        if new.leader_epoch != before.zk.partitions[p].leader_epoch and new.controller_epoch != after.zk.epoch:
            return False
    return True


def no_stale_delete(before, after, b, fate):
    """A request for preferred leaders is deleted by the last controller that was elected (C4)."""
    deleted = before.zk.preferred == 1 and after.zk.preferred == 0
    return not deleted or before.brokers[b].controller.epoch == before.zk.epoch


def epoch_step(before, after):
    """A write raises the leader epoch by one or leaves it and the leader alone; the controller epoch never
    falls (P4).
    """
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        if new.controller_epoch < old.controller_epoch:
            return False
        if new.leader_epoch != old.leader_epoch and new.leader_epoch != old.leader_epoch + 1:
            return False
    return True


def leader_raises_epoch(before, after):
    """Another leader has another, larger leader epoch (P5)."""
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        if new.leader != old.leader and new.leader_epoch <= old.leader_epoch:
            return False
    return True


def local_epoch(s):
    """No broker has a leader epoch that was never written (P8)."""
    for broker in s.brokers:
        for p in range(len(s.zk.partitions)):
            if broker.replicas[p].leader_epoch > s.zk.partitions[p].leader_epoch:
                return False
    return True


def local_epoch_never_falls(before, after):
    """The leader epoch that a process has never falls (P8)."""
    for b in range(len(after.brokers)):
        for p in range(len(after.zk.partitions)):
            if after.brokers[b].replicas[p].leader_epoch < before.brokers[b].replicas[p].leader_epoch:
                if before.brokers[b].up and after.brokers[b].up:
                    return False
    return True


def epoch_bound(s):
    """No broker has seen, and no state holds, a controller epoch that was not yet written (C9)."""
    for broker in s.brokers:
        if broker.seen_epoch > s.zk.epoch:
            return False
    for state in s.zk.partitions:
        if state.controller_epoch > s.zk.epoch:
            return False
    return True


def unique_leader(s):
    """Whoever knows a leader epoch, brokers or ZooKeeper, knows the same leader of it (P6)."""
    for p in range(len(s.zk.partitions)):
        for a in range(len(s.brokers)):
            mine = s.brokers[a].replicas[p]
            if mine.leader_epoch == s.zk.partitions[p].leader_epoch and mine.leader != s.zk.partitions[p].leader:
                return False
            for b in range(a):
                yours = s.brokers[b].replicas[p]
                if mine.leader_epoch == yours.leader_epoch and mine.leader != yours.leader:
                    return False
    return True


def clean(before, after):
    """While unclean elections were never allowed, each leader is of the ISR before it (P7)."""
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        if exists(old) and new.leader != NOBODY and new.leader != old.leader and not after.zk.unclean:
            if not contains(old.isr, new.leader):
                return False
    return True


def isr_writer(before, after):
    """A write that leaves the leader epoch alone is wished by the leader, in that epoch: it believes to lead (P9)."""
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        if differs(old, new) and old.leader_epoch == new.leader_epoch:
            if old.leader == NOBODY or new.leader != old.leader:
                return False
            if before.network.wishes[p][old.leader] != old.leader_epoch:
                return False
    return True


def expected_leader(broker, state, unclean):
    """Whom the strategy of the event in progress elects from a state."""
    controller = broker.controller
    if controller.strategy == OFFLINE:
        return offline_leader(broker.assignment, state.isr, online(controller), unclean)
    if controller.strategy == CONTROLLED_SHUTDOWN:
        return controlled_shutdown_leader(broker.assignment, state.isr, controller.live, controller.leaving)
    return preferred_leader(broker.assignment, state.isr, online(controller))


def expected_isr(controller, state, leader):
    """The ISR that goes with it."""
    if controller.strategy == OFFLINE:
        return offline_isr(state.isr, online(controller), leader)
    if controller.strategy == CONTROLLED_SHUTDOWN:
        return controlled_shutdown_isr(state.isr, controller.leaving)
    return state.isr


def strategy(before, after, b, p, fate):
    """What an election writes is what its strategy makes of the state that it replaces (P10)."""
    old = before.zk.partitions[p]
    new = after.zk.partitions[p]
    if not differs(old, new):
        return True
    leader = expected_leader(before.brokers[b], old, 0)
    if leader == NOBODY:
        leader = expected_leader(before.brokers[b], old, after.zk.unclean)
    return new.leader == leader and new.isr == expected_isr(before.brokers[b].controller, old, leader)


def first_state(before, after, b, p, fate):
    """The first state of a partition has all online replicas in the ISR, led by the first of them (P10)."""
    new = after.zk.partitions[p]
    if not differs(before.zk.partitions[p], new):
        return True
    live = online(before.brokers[b].controller)
    assignment = before.brokers[b].assignment
    return new.leader == new_topic_leader(assignment, live) and new.isr == new_topic_isr(assignment, live)


def leaderless_for_a_reason(before, after, b, p, r, fate):
    """Only at the start of a reign is a leader taken away while a member of the ISR is online (P11)."""
    controller = before.brokers[b].controller
    old = before.zk.partitions[p]
    taken = old.leader != NOBODY and after.zk.partitions[p].leader == NOBODY
    return not taken or controller.starting or is_empty(without_member(intersection(old.isr, online(controller)), r))


def rebalanced(before, after, b, p, fate):
    """A preferred election leaves the ISR alone, and moves to the first replica (P12)."""
    old = before.zk.partitions[p]
    new = after.zk.partitions[p]
    chosen = before.brokers[b].controller.strategy
    if not differs(old, new) or chosen == OFFLINE or chosen == CONTROLLED_SHUTDOWN:
        return True
    return new.isr == old.isr and new.leader == before.brokers[b].assignment.slots[0]


def rules(s, b):
    """Whether `b` rules by right, waits for events, and has heard everything."""
    controller = s.brokers[b].controller
    quiet = controller.doing == IDLE and s.zk.clients[b].watch != FIRED and is_empty(s.zk.isr_changed)
    return quiet and controller.epoch > 0 and controller.epoch == s.zk.epoch and s.zk.controller == b


def differs_from_cache(state, cached):
    """Whether a controller remembers another leader or ISR than there is."""
    return cached.leader != state.leader or cached.isr != state.isr or cached.leader_epoch != state.leader_epoch


def context_is_zookeeper(s):
    """While no answer to a write is lost, a controller by right that has handled everything remembers who
    lives, who leads, and the ISRs (C12).
    """
    for b in range(len(s.brokers)):
        if rules(s, b) and not s.zk.ghosts.lost:
            if s.brokers[b].controller.live != s.zk.registered:
                return False
            for p in range(len(s.zk.partitions)):
                if differs_from_cache(s.zk.partitions[p], s.brokers[b].controller.partitions[p]):
                    return False
    return True


def legal_moves(before, after):
    """Partitions and replicas move only as the tables allow (C13)."""
    for b in range(len(after.brokers)):
        old = before.brokers[b].controller
        new = after.brokers[b].controller
        goes_on = old.epoch > 0 and new.epoch == old.epoch
        if goes_on and old.doing != READING_BROKERS and old.doing != READING_STATES:
            for p in range(len(new.partitions)):
                if not old.starting and not legal_partition(old.partitions[p].state, new.partitions[p].state):
                    return False
                for r in range(len(new.partitions[p].replicas)):
                    if not legal_replica(old.partitions[p].replicas[r], new.partitions[p].replicas[r]):
                        return False
    return True


def legal_partition(old, new):
    """Whether a partition may be in `new` after `old`."""
    return new == old or partition_move_is_legal(old, new)


def legal_replica(old, new):
    """Whether a replica may be in `new` after `old`."""
    return new == old or replica_move_is_legal(old, new)


def online_has_leader(s):
    """At the end of an event, Online partitions have a leader, and New ones are not known to have a state (C14)."""
    for broker in s.brokers:
        if broker.controller.epoch > 0 and broker.controller.doing == IDLE:
            for partition in broker.controller.partitions:
                if partition.state == NON_EXISTENT_PARTITION:
                    return False
                if partition.state == NEW_PARTITION and partition.leader_epoch != NO_EPOCH:
                    return False
                if partition.state == ONLINE_PARTITION and partition.leader == NOBODY:
                    return False
    return True


def told(after, b, p):
    """Whom the newest request of the controller of `b` is on its way to."""
    return after.network.requests[after.brokers[b].controller.epoch][p].to


def expected_recipients(broker):
    """The live replicas that the strategy of the event in progress tells."""
    controller = broker.controller
    if controller.strategy == OFFLINE:
        return offline_recipients(broker.assignment, online(controller))
    if controller.strategy == CONTROLLED_SHUTDOWN:
        return controlled_shutdown_recipients(broker.assignment, controller.live)
    return intersection(replicas_of(broker.assignment), controller.live)


def recipients(before, after, b, p, fate):
    """Every live replica that its strategy names is told of an election, and nobody else (C15)."""
    written = before.brokers[b].controller.result.leader_epoch
    if after.brokers[b].controller.partitions[p].leader_epoch != written:
        return True
    return told(after, b, p) == known_as_they_are(before.zk, b, expected_recipients(before.brokers[b]))


def removal_recipients(before, after, b, p, r, fate):
    """Every other live replica is told when a replica is taken out of the ISR, and nobody else (C15)."""
    controller = before.brokers[b].controller
    if after.brokers[b].controller.partitions[p].leader_epoch != controller.result.leader_epoch:
        return True
    others = without_member(intersection(replicas_of(before.brokers[b].assignment), controller.live), r)
    return told(after, b, p) == known_as_they_are(before.zk, b, others)


SAFETY = (
    always(leader_in_isr),
    always(isr_assigned),
    always(isr_not_empty),
    always_step(no_stale_write),
    always_step(no_stale_delete, of=("delete_request",)),
    always_step(epoch_step),
    always_step(leader_raises_epoch),
    always(unique_leader),
    always_step(clean),
    always(local_epoch),
    always_step(local_epoch_never_falls),
    always_step(isr_writer),
    always_step(strategy, of=("write_leader",)),
    always_step(first_state, of=("create_first_state",)),
    always_step(leaderless_for_a_reason, of=("write_removal",)),
    always_step(rebalanced, of=("write_leader",)),
    always(epoch_bound),
    always(context_is_zookeeper),
    always_step(legal_moves),
    always(online_has_leader),
    always_step(recipients, of=("write_leader",)),
    always_step(removal_recipients, of=("write_removal",)),
)
WITHOUT_BROKER_EPOCHS = tuple(
    replace(p, predicate=rebind(p.predicate, {known_as_they_are: as_they_are})) for p in SAFETY
)
