"""Properties of what ZooKeeper and the brokers hold of partitions: P1 to P9, and of lost replicas."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import contains, difference, is_empty
from kafkaproof.spec.partition.context import NO_EPOCH, WRITING_LEADER, WRITING_REMOVAL
from kafkaproof.spec.partition.zookeeper import assigned


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
    """The ISR is a subset of the assignment (P2)."""
    for p in range(len(s.zk.partitions)):
        if not is_empty(difference(s.zk.partitions[p].isr, assigned(s.zk, p))):
            return False
    return True


def isr_not_empty(s):
    """A partition that has a state has an ISR (P3)."""
    for state in s.zk.partitions:
        if exists(state) and is_empty(state.isr):
            return False
    return True


def epoch_step(before, after):
    """A write raises the leader epoch by one, or changes neither it nor the leader; the controller epoch never
    decreases (P4).
    """
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        if exists(new) and new.controller_epoch < old.controller_epoch:
            return False
        if exists(new) and new.leader_epoch != old.leader_epoch and new.leader_epoch != old.leader_epoch + 1:
            return False
    return True


def raises_epoch(controller):
    """Whether a controller is about to write a state with another leader epoch."""
    return controller.doing == WRITING_LEADER or controller.doing == WRITING_REMOVAL


def raised_by_election(before, after):
    """Only a controller that has elected, or takes a replica offline, raises a leader epoch; proposals do not (P4)."""
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        if exists(old) and new.leader_epoch > old.leader_epoch:
            raised = False
            for broker in before.brokers:
                if raises_epoch(broker.controller):
                    raised = raised or broker.controller.result.leader_epoch == new.leader_epoch
            if not raised:
                return False
    return True


def leader_raises_epoch(before, after):
    """A new leader has a higher leader epoch (P5)."""
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        if exists(new) and new.leader != old.leader and new.leader_epoch <= old.leader_epoch:
            return False
    return True


def unique_leader(s):
    """All that know a leader epoch, brokers or ZooKeeper, know the same leader for it (P6)."""
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
    """As long as unclean elections were neither allowed nor requested, each new leader is a member of the previous ISR
    (P7).
    """
    if after.zk.unclean or after.zk.ghosts.forced:
        return True
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        if exists(old) and new.leader != NOBODY and new.leader != old.leader:
            if not contains(old.isr, new.leader):
                return False
    return True


def is_assigned(s, b, p):
    """Whether a broker has a replica of a partition: here it always keeps it."""
    return True


def local_epoch(s):
    """No broker has a leader epoch for its replica that was never written (P8)."""
    for b in range(len(s.brokers)):
        for p in range(len(s.zk.partitions)):
            newer = s.brokers[b].replicas[p].leader_epoch > s.zk.partitions[p].leader_epoch
            if newer and is_assigned(s, b, p):
                return False
    return True


def is_replica_lost(s, b, p):
    """Whether a process has lost a replica: its log directory has failed."""
    return s.brokers[b].replicas[p].failed == 1


def local_epoch_never_falls(before, after):
    """The leader epoch of a process never decreases, unless it loses the replica (P8)."""
    for b in range(len(after.brokers)):
        for p in range(len(after.zk.partitions)):
            if after.brokers[b].replicas[p].leader_epoch < before.brokers[b].replicas[p].leader_epoch:
                if before.brokers[b].up and after.brokers[b].up and not is_replica_lost(after, b, p):
                    return False
    return True


def isr_writer(before, after):
    """A write that does not change the leader epoch was proposed by the leader of that epoch, which believes that it
    leads (P9).
    """
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        if differs(old, new) and old.leader_epoch == new.leader_epoch:
            if old.leader == NOBODY or new.leader != old.leader:
                return False
            if before.network.proposals[p][old.leader] != old.leader_epoch:
                return False
    return True


def lost_leads_nothing(s):
    """A replica whose log directory has failed neither leads nor follows, and proposes no ISR."""
    for p in range(len(s.zk.partitions)):
        for b in range(len(s.brokers)):
            replica = s.brokers[b].replicas[p]
            silent = replica.leader == NOBODY and s.network.proposals[p][b] == NO_EPOCH
            if replica.failed and not silent:
                return False
    return True


STATES = (
    always(leader_in_isr),
    always(isr_assigned),
    always(isr_not_empty),
    always_step(epoch_step),
    always_step(raised_by_election),
    always_step(leader_raises_epoch),
    always(unique_leader),
    always_step(clean),
    always(local_epoch),
    always_step(local_epoch_never_falls),
    always_step(isr_writer),
    always(lost_leads_nothing),
)
