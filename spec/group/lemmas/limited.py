"""Lemmas of groups with room for one member (limited), beside those of *current*.

In short: of those who join only one is kept waiting, and who does not wait has no part in the next generation. So a
coordinator gives a generation to one client.
"""

from kafkaproof.spec.group.coordinator import JOIN_PARKED, MEMBER
from kafkaproof.spec.group.group_states import COMPLETING_REBALANCE, STABLE
from kafkaproof.spec.group.lemmas.group import knows_generation
from kafkaproof.spec.group.lemmas.member import CURRENT
from kafkaproof.spec.group.properties.invariants import Place
from kafkaproof.spec.group.sorts import Broker, Client, KnownId
from kafkaproof.spec.language.sets import contains, is_empty


def one_waits(s, b: Broker, id: KnownId, other: KnownId):
    """No two joins wait in a group."""
    members = s.brokers[b].group.members
    return id == other or members[id].parked != JOIN_PARKED or members[other].parked != JOIN_PARKED


def one_is_member(s, b: Broker, id: KnownId, other: KnownId):
    """A generation that is complete has one member, and so has one that is being loaded."""
    group = s.brokers[b].group
    if group.state != COMPLETING_REBALANCE and group.state != STABLE and not s.brokers[b].loading:
        return True
    return id == other or group.members[id].status != MEMBER or group.members[other].status != MEMBER


def one_is_stored(s, p: Place, id: KnownId, other: KnownId):
    """So has one in the log."""
    members = s.storage.log.slots[p].members
    return id == other or not contains(members, id) or not contains(members, other)


def nobody_is_static(s, b: Broker, id: KnownId):
    """No member has a group.instance.id, which would keep it in the group while it does not join."""
    return is_empty(s.brokers[b].group.members[id].instance)


def no_static_is_stored(s, p: Place):
    """Nor has one in the log."""
    for instance in s.storage.log.slots[p].instances:
        if not is_empty(instance):
            return False
    return True


def generation_given(client, answer):
    """The generation that a client was given, heard or not; 0 for none."""
    return client.generation if client.generation > 0 else answer.generation


def epoch_given(client, answer):
    """The leader epoch of the coordinator that gave it."""
    return client.epoch if client.generation > 0 else answer.epoch


def id_given(client, answer):
    """The member id with which it was given."""
    return client.id if client.generation > 0 else answer.id


def given_by_elected(s, m: Client):
    """Who has a generation was given it by a coordinator that was elected."""
    client = s.clients[m]
    answer = s.network.answers[m]
    return generation_given(client, answer) == 0 or 1 <= epoch_given(client, answer) <= s.storage.epoch


def given_is_known(s, m: Client, b: Broker):
    """The coordinator that has given a client its generation has made no later one, or still has this one, with the
    client as leader, unless the group was deleted, or the broker has moved on.
    """
    client = s.clients[m]
    answer = s.network.answers[m]
    broker = s.brokers[b]
    epoch = epoch_given(client, answer)
    generation = generation_given(client, answer)
    if generation == 0 or s.storage.ghosts.deleted or s.storage.leaders[epoch - 1] != b:
        return True
    return knows_generation(broker, epoch, generation, id_given(client, answer))


def given_to_one(s, m: Client, n: Client):
    """A generation of a coordinator is given to one client, unless the group was deleted."""
    mine = s.network.answers[m]
    yours = s.network.answers[n]
    generation = generation_given(s.clients[m], mine)
    if m == n or generation == 0 or s.storage.ghosts.deleted:
        return True
    if generation != generation_given(s.clients[n], yours):
        return True
    return epoch_given(s.clients[m], mine) != epoch_given(s.clients[n], yours)


LIMITED = (
    *CURRENT,
    one_waits,
    one_is_member,
    one_is_stored,
    nobody_is_static,
    no_static_is_stored,
    given_by_elected,
    given_is_known,
    given_to_one,
)
