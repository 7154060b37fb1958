"""What leader_recovery_state says: who sets it, who takes it back, and that it says nothing of now."""

from kafkaproof.spec.kafka.strategies import may_be_recovering
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.properties.states import differs, exists


def size_of(isr, brokers):
    """How many members an ISR has, of so many brokers."""
    members = 0
    for b in range(brokers):
        members += 1 if contains(isr, b) else 0
    return members


def is_unclean(old, new):
    """Whether a step has elected a leader from outside the ISR."""
    elected = exists(old) and new.leader_epoch != old.leader_epoch and new.leader != NOBODY
    return elected and not contains(old.isr, new.leader)


def is_by_leader(old, new):
    """Whether a step has written an ISR that the leader asks for."""
    return exists(old) and new.leader_epoch == old.leader_epoch and new.isr != old.isr


def recovering_alone(s):
    """A partition that is RECOVERING has one replica in its ISR."""
    for state in s.zk.partitions:
        if state.recovering and size_of(state.isr, len(s.brokers)) != 1:
            return False
    return True


def marked_when_unclean(before, after):
    """An election from outside the ISR marks the partition RECOVERING, and nothing else does."""
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        unclean = is_unclean(old, new)
        if unclean and not new.recovering or new.recovering and not old.recovering and not unclean:
            return False
    return True


def recovered_by_leader(before, after):
    """A partition is RECOVERED by the next ISR that its leader has written, and by nothing else."""
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        if old.recovering and (new.recovering == 1) == is_by_leader(old, new):
            return False
    return True


def marked_as_replayed(before, after):
    """Every mark is one that replay of real logs lets pass."""
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        passes = may_be_recovering(old.recovering, old.isr, new.leader, new.isr)
        if differs(old, new) and new.recovering and not passes:
            return False
    return True


def is_led_though_recovering(s, b, p):
    """Whether a process leads a partition that is RECOVERING, in its present leader epoch."""
    state = s.zk.partitions[p]
    replica = s.brokers[b].replicas[p]
    leads = replica.leader == b and replica.leader_epoch == state.leader_epoch and s.brokers[b].up
    return state.recovering == 1 and leads


def leads_though_recovering(s):
    """A broker leads a partition that is RECOVERING, as if it were not."""
    for p in range(len(s.zk.partitions)):
        for b in range(len(s.brokers)):
            if is_led_though_recovering(s, b, p):
                return True
    return False


def recovering_without_leader(s):
    """A partition is RECOVERING, and its leader is gone."""
    for state in s.zk.partitions:
        if state.recovering and state.leader == NOBODY:
            return True
    return False


SAFETY = (
    always(recovering_alone),
    always_step(marked_when_unclean),
    always_step(recovered_by_leader),
    always_step(marked_as_replayed),
)
GOALS = (sometimes(leads_though_recovering, replicas=2), sometimes(recovering_without_leader, faults=2))
