"""Properties of groups: what members learn, and how they act on it (G4 to G6)."""

from kafkaproof.spec.group.coordinator import members_of
from kafkaproof.spec.group.group_states import COMPLETING_REBALANCE, STABLE
from kafkaproof.spec.group.member import WORKING
from kafkaproof.spec.group.network import shared_instance
from kafkaproof.spec.group.properties.safety import accepted
from kafkaproof.spec.group.records import GROUP_RECORD
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import contains, is_empty


def assigned_by(client, record):
    """Whether a record gives a client, in its generation, the assignment that it has."""
    if record.kind != GROUP_RECORD or record.generation != client.generation or not contains(record.members, client.id):
        return False
    return (record.owner == client.id) == (client.owns == 1)


def assignment_is_stored(s):
    """A leader sent the assignment that a member has, for the member's generation, and it is in the log (G4, G11)."""
    for client in s.clients:
        if client.phase == WORKING:
            found = False
            for record in s.storage.log.slots:
                found = found or assigned_by(client, record)
            if not found:
                return False
    return True


def acts_when_assigned(s):
    """Only a member that has synchronized in its present generation acts on a partition (G5)."""
    for client in s.clients:
        if client.owns and (client.phase != WORKING or client.generation == 0):
            return False
    return True


def both_act(mine, yours):
    """Whether two clients act on the partition, and believe they are in the same generation."""
    return mine.owns and yours.owns and mine.generation == yours.generation


def disjoint(s):
    """No two members of one generation of one coordinator act on the same partition, unless the group
    was deleted (G6).
    """
    for m in range(len(s.clients)):
        for n in range(m):
            mine = s.clients[m]
            yours = s.clients[n]
            if both_act(mine, yours) and mine.epoch == yours.epoch and not s.storage.ghosts.deleted:
                return False
    return True


def disjoint_by_number(s):
    """No two members of the same generation act on the same partition, even if different coordinators gave the
    generation, unless the group was deleted (G6).
    """
    for m in range(len(s.clients)):
        for n in range(m):
            mine = s.clients[m]
            yours = s.clients[n]
            if both_act(mine, yours) and not s.storage.ghosts.deleted:
                return False
    return True


def leader_assigns(before, after, b, m, late, owner):
    """Only the leader's assignment is stored (G4)."""
    request = before.network.late[m] if late else before.network.requests[m]
    return not accepted(before, after, b) or request.id == before.brokers[b].group.leader


def instance_is_one(s):
    """A group.instance.id belongs to at most one member id (G15)."""
    for broker in s.brokers:
        for i in range(len(s.clients)):
            ids = 0
            for member in broker.group.members:
                if contains(member.instance, i):
                    ids += 1
            if ids > 1:
                return False
    return True


def replaced_is_fenced(before, after, b, m, late):
    """A commit of a static member is accepted only under the id that its group.instance.id has (G15)."""
    group = before.brokers[b].group
    request = before.network.late[m] if late else before.network.requests[m]
    if not accepted(before, after, b) or is_empty(shared_instance(before.network, m)):
        return True
    return contains(group.members[request.id].instance, 0)


def one_member(s):
    """A group limited to one member has no more than one when a generation is complete (KIP-389)."""
    for broker in s.brokers:
        state = broker.group.state
        if state == COMPLETING_REBALANCE or state == STABLE:
            if members_of(broker.group) > 1:
                return False
    return True


SAFETY = (
    always_step(leader_assigns, of=("sync",)),
    always(assignment_is_stored),
    always(acts_when_assigned),
    always(disjoint),
    always(disjoint_by_number),
)
STATIC = tuple(p for p in SAFETY if p.predicate not in (disjoint, disjoint_by_number)) + (
    always(instance_is_one),
    always_step(replaced_is_fenced, of=("commit",)),
)
"""A former process of a static member goes on acting until it is fenced, so disjointness is not claimed here."""
LIMITED = (always(one_member),)
