"""What replicas, producers and consumers do: the transitions of `replica`, in the data plane of a partition.

A process that has ended takes no part: it has no role, and answers nothing.
"""

from kafkaproof.spec.language.combine import on
from kafkaproof.spec.partition.context import Broker, Partition
from kafkaproof.spec.replica import follower, leader
from kafkaproof.spec.replica.clients import consumer
from kafkaproof.spec.replica.leader import serve_fetch as answer_fetch


def in_plane(transition):
    """The transition in the data plane of partition `p`."""
    return on(transition, "planes", "p", Partition)


produce = in_plane(leader.produce)
consume = in_plane(consumer.consume)
send_request = in_plane(follower.send_request)
receive_answer = in_plane(follower.receive_answer)
expand_isr = in_plane(leader.expand_isr)
shrink_isr = in_plane(leader.shrink_isr)
learn_isr = in_plane(leader.learn_isr)


def serve_fetch(s, b: Broker, p: Partition, follower: Broker):
    """A broker receives a fetch, from its followers or from others.

    Guards:  there is a process; those of `leader.serve_fetch`.
    Request: OK; NOT_LEADER; FENCED_LEADER_EPOCH; UNKNOWN_LEADER_EPOCH.
    Effects: its effects.
    Kafka:   ReplicaManager.fetchMessages, Partition.readRecords, updateFollowerFetchState, 2.7 to 3.9.
    """
    if not s.brokers[b].up or not answer_fetch(s.planes[p], b, follower):
        return False

    return True
