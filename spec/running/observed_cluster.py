"""What is observed on a real ZooKeeper and is left out of the explored models of a cluster.

When a session ends, its ephemerals are deleted before its connection is closed. So its own watches fire, and a client
that still listens handles an event in a session that has ended; its requests are answered EXPIRED. And a process may be
stopped before it hears that its session has ended. An administrator names the partitions that are to be elected.
"""

from dataclasses import replace

from kafkaproof.spec.election import faults
from kafkaproof.spec.election.broker_state import OPEN
from kafkaproof.spec.election.faults import close_session_and_end
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka import zookeeper
from kafkaproof.spec.kafka.declarations import acting
from kafkaproof.spec.kafka.zookeeper import DELETED
from kafkaproof.spec.language.domains import SetOf
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition import brokers, isr
from kafkaproof.spec.partition import zookeeper as partitions
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.history.recordings import PROPOSED_UP_TO_7, UP_TO_7, UP_TO_8
from kafkaproof.spec.partition.network import is_asked_of
from kafkaproof.spec.partition.properties import former as older
from kafkaproof.spec.partition.reassignment import reassignment
from kafkaproof.spec.partition.reassignment.event_properties import looked_at_in_turn
from kafkaproof.spec.partition.triggers import admin_election
from kafkaproof.spec.partition.znodes import ARMED, FIRED
from kafkaproof.spec.replica import broker, replica
from kafkaproof.spec.replica.history import forgotten_ends
from kafkaproof.spec.replica.history.leaderless import obey_or_rest
from kafkaproof.spec.replica.history.role_first import answer_by_role_first
from kafkaproof.spec.replica.network import answer_to
from kafkaproof.spec.running.earlier_recordings import caught_up
from kafkaproof.spec.running.processes import Cluster, cluster, has_planes

ASKED_OF = (SetOf("partitions"), "the partitions of which an administrator asks for an election")


def observed_cluster(
    variant, deletes=True, reassigns=True, keeps_ends=True, updates=True, goes_on=True, is_newest=True
):
    """The cluster of a variant (see `cluster`), with what is observed in addition; raises LookupError.

    Up to format 5 of recordings a leader that leads again forgets the ends of its followers (`keeps_ends`), up to 6
    brokers are sent no UpdateMetadata (`updates`), and up to 7 an event whose session has expired ends at once, with its
    term, brokers of 2.0 take the brokers that they list as live one by one, a leader that is told that nobody leads
    stops leading, and a state whose write met another version is read again at once (`goes_on`). Up to 8 a controller adds
    partitions to a topic by what it remembers, and tells nobody of an ISR that it does not write, and a broker that does not
    lead answers so whatever the epochs are (not `is_newest`).
    """
    plain = cluster(variant, deletes, reassigns, updates, is_newest)
    election = {zookeeper.end_session: end_candidates_session, faults.stop: stop}
    partition = plain.partition.rebound({partitions.end_session: end_controllers_session})
    if any(transition.function.__name__ == admin_election.__name__ for transition in plain.partition.transitions):
        partition = naming_partitions(partition)
    if has_planes(partition) and not keeps_ends:
        partition = partition.rebound({broker.keeps_ends: forgotten_ends.keeps_no_end})
    if not goes_on:
        listed_one_by_one = {leader_zk.take_list_at_once: brokers.take_list}
        partition = partition.rebound(UP_TO_7 | (PROPOSED_UP_TO_7 if has_planes(partition) else listed_one_by_one))
        kept = tuple(each for each in partition.properties if each.name != older.live_as_listed.__name__)
        partition = replace(partition, properties=kept)
        if plain.reassigns:
            partition = looking_at_any_time(partition)
    if has_planes(partition) and not goes_on:
        partition = partition.rebound({replica.obey: obey_or_rest})
    if has_planes(partition) and not is_newest:
        kept = tuple(t for t in partition.transitions if t.function.__name__ != isr.refuse_change.__name__)
        partition = replace(partition, transitions=kept).rebound(UP_TO_8 if goes_on else {})
        partition = partition.rebound({answer_to: answer_by_role_first})
    return Cluster(variant, plain.election.rebound(election), partition)


def looking_at_any_time(model: Model) -> Model:
    """A model whose controller looks at a reassignment at any time, not when it has written an ISR."""
    added = acting(caught_up)
    asked = tuple(p for p in model.properties if p.name != looked_at_in_turn.__name__)
    return replace(model, transitions=model.transitions + added, properties=asked).rebound(
        {reassignment.end_change: isr.end_change}
    )


def naming_partitions(model: Model) -> Model:
    """A model in which an administrator asks for an election of the partitions that the request names."""
    network = model.state.fields["network"].domain.extended(asked_of=ASKED_OF)
    return replace(
        model,
        state=model.state.changed(network=(network, "requests on their way")),
        properties=tuple(each.rebound({is_asked_of: is_named}) for each in model.properties),
    ).rebound({is_asked_of: is_named})


def is_named(network, p):
    """Whether a request names a partition."""
    return contains(network.asked_of, p)


def end_candidates_session(zk, b):
    """closeSession in *election*: the session's own watch on /controller fires, if the session owned it."""
    client = zk.clients[b]
    tells = client.watch == 1 and zookeeper.owns_controller(zk, b)
    answer = zookeeper.end_session(zk, b)
    if tells:
        client.fired = DELETED
    return answer


def end_controllers_session(zk, b):
    """closeSession in *partition*: the session's own watch on /brokers/ids fires."""
    client = zk.clients[b]
    tells = client.watch == ARMED
    partitions.end_session(zk, b)
    if tells:
        client.watch = FIRED


def stop(s, b: Broker):
    """The process of `b` is stopped and closes its session, which may have ended already.

    Guards:  there is a process that believes that its session is open.
    Effects: its ephemerals are gone at once, and so is all that it knew.
    """
    if s.brokers[b].session != OPEN:
        return False

    close_session_and_end(s, b)
    return True
