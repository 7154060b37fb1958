"""Properties of partition replication."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, sometimes
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.replication.replication import presumes_leadership, same_entry


def has_all_committed(s, leader, member):
    """Whether `member` holds every record below `leader`'s high watermark exactly as `leader` does."""
    l = s.replicas[leader]
    for i in range(len(l.log.slots)):
        if i < l.hw and not same_entry(l.log, s.replicas[member].log, i):
            return False
    return True


def weak_isr(s):
    """Every record below a presumed leader's high watermark is in the log of each member of the ISR that this leader
    knows.
    """
    for l in range(len(s.replicas)):
        for m in range(len(s.replicas)):
            if presumes_leadership(s, l) and contains(s.replicas[l].isr, m) and not has_all_committed(s, l, m):
                return False
    return True


def strong_isr(s):
    """Every record below a presumed leader's high watermark is in the log of each member of the ISR in ZooKeeper, so
    the next elected leader has it.
    """
    for l in range(len(s.replicas)):
        for m in range(len(s.replicas)):
            if presumes_leadership(s, l) and contains(s.quorum.isr, m) and not has_all_committed(s, l, m):
                return False
    return True


def leader_in_isr(s):
    """The leader in ZooKeeper, if there is one, is a member of the ISR (P1)."""
    if s.quorum.leader == NOBODY:
        return True
    return contains(s.quorum.isr, s.quorum.leader)


def two_leaders(s):
    """Two replicas believe at the same time that they lead."""
    leaders = 0
    for r in range(len(s.replicas)):
        if presumes_leadership(s, r):
            leaders += 1
    return leaders > 1


def record_committed(s):
    """A high watermark has passed a record."""
    for replica in s.replicas:
        if replica.hw > 0:
            return True
    return False


PROPERTIES = (
    always(weak_isr),
    always(strong_isr),
    always(leader_in_isr),
    sometimes(two_leaders),
    sometimes(record_committed),
)
