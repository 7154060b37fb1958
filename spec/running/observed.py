"""What the explored models of a cluster leave out, and what is seen on a real ZooKeeper.

A session that ends hears of it by its own watches, if its client still listens: its ephemerals go before its
connection is closed. The client then handles an event in a session that is over, and is answered EXPIRED. And a process
may be stopped that has not heard that its session is over.
"""

from kafkaproof.spec.election import faults
from kafkaproof.spec.election.belief import OPEN
from kafkaproof.spec.election.faults import close_session_and_end
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka import zookeeper
from kafkaproof.spec.kafka.zookeeper import DELETED
from kafkaproof.spec.partition import zookeeper as partitions
from kafkaproof.spec.partition.znodes import ARMED, FIRED
from kafkaproof.spec.running.processes import Cluster, cluster


def observed_cluster(variant, deletes=True, reassigns=True):
    """The cluster of a variant (see `cluster`), with what is observed beside; raises LookupError."""
    plain = cluster(variant, deletes, reassigns)
    election = {zookeeper.end_session: end_candidates_session, faults.stop: stop}
    return Cluster(
        variant,
        plain.election.rebound(election),
        plain.partition.rebound({partitions.end_session: end_controllers_session}),
    )


def end_candidates_session(zk, b):
    """closeSession in *election*: the session's own watch on /controller tells, if that was its own."""
    client = zk.clients[b]
    tells = client.watch == 1 and zookeeper.owns_controller(zk, b)
    answer = zookeeper.end_session(zk, b)
    if tells:
        client.fired = DELETED
    return answer


def end_controllers_session(zk, b):
    """closeSession in *partition*: the session's own watch on /brokers/ids tells."""
    client = zk.clients[b]
    tells = client.watch == ARMED
    partitions.end_session(zk, b)
    if tells:
        client.watch = FIRED


def stop(s, b: Broker):
    """The process of `b` is stopped, and closes its session, which may be over already.

    Guards:  there is a process that believes its session to be open.
    Effects: its ephemerals are gone at once, and all that it knew.
    """
    if s.brokers[b].session != OPEN:
        return False

    close_session_and_end(s, b)
    return True
