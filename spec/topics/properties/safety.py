"""Properties of topics: those of `partition`, whose text is theirs, and what only this system asks."""

from kafkaproof.spec.kafka.state_machines import NEW_PARTITION, NON_EXISTENT_PARTITION, ONLINE_PARTITION
from kafkaproof.spec.kafka.strategies import offline_leader, replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Property, Transition, always, always_step, concerning
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty
from kafkaproof.spec.partition.context import ELECTING, REMOVING, is_queued
from kafkaproof.spec.partition.deletion import event_properties as deletion_events
from kafkaproof.spec.partition.deletion import properties as topic_deletion
from kafkaproof.spec.partition.deletion.properties import at_rest
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.properties.states import exists
from kafkaproof.spec.partition.reassignment import event_properties
from kafkaproof.spec.partition.reassignment import properties as partition_reassignment
from kafkaproof.spec.partition.reassignment.network import NOTHING_WANTED
from kafkaproof.spec.partition.reassignment.state import CHECKING
from kafkaproof.spec.topics.properties import goals, liveness


def raises_epoch(controller):
    """Whether a controller may read and write a state in its next step, with another leader epoch."""
    return controller.doing == ELECTING or controller.doing == REMOVING or controller.doing == CHECKING


def force_elects(s):
    """While the current controller is at rest and a replica is live, a forced election finds a leader."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        for p in range(len(s.zk.partitions)):
            assigned = s.zk.assignments[p]
            state = s.zk.partitions[p]
            live = not is_empty(intersection(replicas_of(assigned), controller.live))
            leads = state.leader != NOBODY and contains(controller.live, state.leader)
            if at_rest(s, b) and exists(state) and live and not leads and not is_queued(controller, p):
                if offline_leader(assigned, state.isr, controller.live, 1) == NOBODY:
                    return False
    return True


def state_tells(s):
    """At rest, an Online partition has a leader, a New one has no state, and only one being deleted is NonExistent
    (C14).
    """
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        for p in range(len(s.zk.partitions)):
            partition = controller.partitions[p]
            if at_rest(s, b) and partition.assignment.length > 0 and not is_queued(controller, p):
                if partition.state == ONLINE_PARTITION and partition.leader == NOBODY:
                    return False
                if partition.state == NEW_PARTITION and exists(s.zk.partitions[p]):
                    return False
                if partition.state == NON_EXISTENT_PARTITION:
                    return False
    return True


def asks_more(before, after):
    """Whether an operator asks for a deletion, or for something of the controller."""
    asks = not is_empty(difference(after.zk.deleting, topics_of(after.zk, before.zk.deleting)))
    return asks or before.network.alteration.wanted == NOTHING_WANTED and after.network.alteration.wanted > 0


def requests_counted(before, after):
    """Every request of an operator counts as one request, and nothing else does."""
    return after.zk.requests - before.zk.requests == (1 if asks_more(before, after) else 0)


def is_counted(before, after):
    """Whether what operators ask for is counted, here apart from the faults."""
    return after.zk.requests == before.zk.requests + 1


SAFETY = (always(force_elects), always(state_tells))
AT_ONCE = {
    partition_reassignment.raises_epoch: raises_epoch,
    deletion_events.is_counted: is_counted,
    topic_deletion.may_lose_log: partition_reassignment.may_lose_log,
}
WITHOUT = {"raised_by_election", "unsent_for_ever", "dies_in_session", "proposal_granted", "is_deleted"} | {
    "stopped_twice"
}
"""What is asked between a controller's read and its write, between a process's end and its session's, or of leaders that
propose only what is assigned; a goal whose name is that of a promise
here; and one that takes a fault and two topics (see `partition/recreating`).
"""


def of_topics(found: tuple[Property, ...], own: tuple[Property, ...], transitions: tuple[Transition, ...]):
    """The properties of a model of partitions as they are in coarse steps, and those of topics."""
    kept = tuple(p.rebound(AT_ONCE) for p in found if p.name not in WITHOUT)
    return concerning(kept + SAFETY + own, transitions)


def kip455(found, transitions):
    """The properties of `kip455`."""
    return of_topics(found, (always_step(requests_counted),) + goals.COMMON + liveness.KIP455, transitions)


def kip455_zk(found, transitions):
    """The properties of `kip455-zk`, whose controller looks at the ISR that the leader has written, and not at its own."""
    return tuple(p for p in kip455(found, transitions) if p.name != event_properties.looked_at_in_turn.__name__)


def two_phase(found, transitions):
    """The properties of variants that reassign in two phases."""
    return of_topics(found, goals.OLD + liveness.TWO_PHASE, transitions)
