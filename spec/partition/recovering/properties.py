"""What leader_recovery_state says: who sets it, who takes it back, and that it says nothing of now."""

from kafkaproof.spec.kafka.strategies import may_be_recovering
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.properties.states import exists


def recovering_alone(s):
    """A partition that is RECOVERING has one replica in its ISR."""
    for state in s.zk.partitions:
        members = 0
        for b in range(len(s.brokers)):
            members += 1 if contains(state.isr, b) else 0
        if state.recovering and members != 1:
            return False
    return True


def marked_when_unclean(before, after):
    """An election from outside the ISR marks the partition RECOVERING, and nothing else does."""
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        elected = exists(old) and new.leader_epoch != old.leader_epoch and new.leader != NOBODY
        unclean = elected and not contains(old.isr, new.leader)
        if unclean and not new.recovering or new.recovering and not old.recovering and not unclean:
            return False
    return True


def recovered_by_leader(before, after):
    """A partition is RECOVERED by the next ISR that its leader has written, and by nothing else."""
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        by_leader = exists(old) and new.leader_epoch == old.leader_epoch and new.isr != old.isr
        if old.recovering and (new.recovering == 1) == by_leader:
            return False
    return True


def marked_as_replayed(before, after):
    """Every mark is one that replay of real logs lets pass."""
    for p in range(len(after.zk.partitions)):
        old = before.zk.partitions[p]
        new = after.zk.partitions[p]
        written = new.leader_epoch != old.leader_epoch or new.isr != old.isr
        if written and new.recovering and not may_be_recovering(old.recovering, old.isr, new.leader, new.isr):
            return False
    return True


def leads_though_recovering(s):
    """A broker leads a partition that is RECOVERING, as if it were not."""
    for p in range(len(s.zk.partitions)):
        state = s.zk.partitions[p]
        for b in range(len(s.brokers)):
            told = s.brokers[b].replicas[p]
            if state.recovering and told.leader == b and told.leader_epoch == state.leader_epoch and s.brokers[b].up:
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
