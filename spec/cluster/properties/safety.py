"""Properties of the composed cluster: those of `partition`, those of `replica` for each partition, and how they fit.

What `partition` assumes of the data plane (a leader may propose any ISR that includes itself, while it believes that it
leads, with its leader epoch) is checked here: `leads_as_told`, `proposals_hold`. What `replica` assumes of controllers
(writes with the next leader epoch, on the current version, of members of the ISR) is P4, P5, P9 and P10.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Property, always, always_step
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.sets import contains, difference, is_empty
from kafkaproof.spec.partition.deletion import properties as topic_deletion
from kafkaproof.spec.partition.properties import safety as partition
from kafkaproof.spec.partition.zookeeper import assigned
from kafkaproof.spec.replica.broker import LEADER, NONE
from kafkaproof.spec.replica.network import SENT
from kafkaproof.spec.replica.properties import safety as replica
from kafkaproof.spec.replica.properties.safety import enough_replicas as replica_enough
from kafkaproof.spec.replica.properties.safety import is_cut
from kafkaproof.spec.replica.storage import NO_EPOCH

NOT_ASKED = (
    replica.local_epoch,
    replica.local_epoch_never_falls,  # checked for the brokers already
    replica.version_is_mended,  # of leaders that write the ISR themselves
    replica.enough_replicas,  # checked below, with the arguments that produce has here
)


def holds(data):
    """A property of a data plane."""
    return True


def holds_of_step(before, after):
    """A property of a step of a data plane."""
    return True


def everywhere(s):
    """It holds in the data plane of each partition."""
    for data in s.planes:
        if not holds(data):
            return False
    return True


def at_every_step(before, after):
    """It holds of the step of each partition's data plane."""
    for p in range(len(after.planes)):
        if not holds_of_step(before.planes[p], after.planes[p]):
            return False
    return True


def of_each_partition(prop: Property) -> Property:
    """A property of `replica`, checked in the data plane of each partition."""
    asked = {holds: prop.predicate, holds_of_step: prop.predicate}
    predicate = rebind(everywhere if prop.kind == "always" else at_every_step, asked)
    predicate.__doc__ = prop.predicate.__doc__
    return Property(prop.name, prop.kind, predicate)


def is_of_each_plane(prop: Property) -> bool:
    """Whether a property is checked in the data plane of each partition separately."""
    return prop.predicate.__code__ in (everywhere.__code__, at_every_step.__code__)


def enough_replicas(before, after, b, p, acks):
    """With acks=all nothing is appended while the ISR is below min.insync.replicas (D6)."""
    return replica_enough(before.planes[p], after.planes[p], b, acks)


def one_state(s):
    """The data planes have the states that are in ZooKeeper."""
    for p in range(len(s.planes)):
        state = s.zk.partitions[p]
        copy = s.planes[p].zk
        if copy.leader != state.leader or copy.leader_epoch != state.leader_epoch or copy.isr != state.isr:
            return False
    return True


def has_role(told, found, b):
    """Whether a replica leads, follows, or does neither as LeaderAndIsr has told it."""
    return (found.state == LEADER) == (told.leader == b) and (found.state == NONE) == (told.leader == NOBODY)


def leads_as_told(s):
    """A replica leads or follows as in the newest LeaderAndIsr that its broker has accepted."""
    for p in range(len(s.planes)):
        for b in range(len(s.brokers)):
            told = s.brokers[b].replicas[p]
            found = s.planes[p].brokers[b]
            if found.leader != told.leader or found.leader_epoch != told.leader_epoch:
                return False
            if not has_role(told, found, b):
                return False
    return True


def is_of_replicas(s, p, alter):
    """Whether a leader proposes an ISR of replicas."""
    return is_empty(difference(alter.isr, assigned(s.zk, p)))


def is_of_replicas_or_former(s, p, alter):
    """Whether it does, or does not know yet that the replicas have changed."""
    return alter.epoch < s.zk.partitions[p].leader_epoch or is_of_replicas(s, p, alter)


def proposals_hold(s):
    """A leader proposes ISRs of replicas that include itself, in its leader epoch, and only while it leads."""
    for p in range(len(s.planes)):
        for b in range(len(s.brokers)):
            alter = s.planes[p].network.alters[b]
            if alter.state == SENT:
                if alter.epoch != s.network.proposals[p][b] or not contains(alter.isr, b):
                    return False
                if not is_of_replicas(s, p, alter):
                    return False
    return True


INTERFACE = (always(one_state), always(leads_as_told), always(proposals_hold))
DATA = tuple(of_each_partition(p) for p in replica.SAFETY if p.predicate not in NOT_ASKED)
SAFETY = partition.SAFETY + DATA + (always_step(enough_replicas, of=("produce",)),) + INTERFACE


def has_log_records(s, b, p):
    """Whether a broker has records of a partition."""
    return s.planes[p].brokers[b].log.length > 0


def is_cut_and_kept(old, new):
    """Whether a log is shorter than it may be, and its broker still has the replica, or may have."""
    is_deleted = new.leader_epoch == NO_EPOCH and new.log.length == 0 and new.hw == 0
    return is_cut(old, new) and not is_deleted


WITH_DELETIONS = {topic_deletion.has_log: has_log_records}
"""Properties that differ where topics are deleted."""
WITH_REASSIGNMENTS = WITH_DELETIONS | {is_cut: is_cut_and_kept, is_of_replicas: is_of_replicas_or_former}
"""Properties that differ where partitions are reassigned."""
