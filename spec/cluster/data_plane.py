"""What replicas, producers and consumers do: the transitions of `replica`, in the data plane of a partition.

A process that has ended takes no part: it has no role, and answers nothing.
"""

from kafkaproof.spec.partition.context import Broker, Partition
from kafkaproof.spec.replica.clients.consumer import consume as read
from kafkaproof.spec.replica.follower import receive_answer as take_answer
from kafkaproof.spec.replica.follower import send_request as ask
from kafkaproof.spec.replica.leader import Acks
from kafkaproof.spec.replica.leader import expand_isr as propose_larger
from kafkaproof.spec.replica.leader import learn_isr as take_isr
from kafkaproof.spec.replica.leader import produce as append
from kafkaproof.spec.replica.leader import serve_fetch as answer_fetch
from kafkaproof.spec.replica.leader import shrink_isr as propose_smaller


def produce(s, b: Broker, p: Partition, acks: Acks):
    """A producer sends its next record to a broker that believes to lead.

    Guards:  those of `leader.produce`.
    Request: OK; NOT_ENOUGH_REPLICAS.
    Effects: its effects.
    Kafka:   ReplicaManager.appendRecords, Partition.appendRecordsToLeader.
    """
    if not append(s.planes[p], b, acks):
        return False

    return True


def consume(s, b: Broker, p: Partition):
    """The consumer reads its next record from broker `b`.

    Guards:  those of `consumer.consume`.
    Effects: its effects.
    Kafka:   Fetcher (clients), ReplicaManager.fetchMessages.
    """
    if not read(s.planes[p], b):
        return False

    return True


def send_request(s, b: Broker, p: Partition):
    """A follower sends its fetch, for the first time or again.

    Guards:  those of `follower.send_request`.
    Effects: its effects.
    Kafka:   AbstractFetcherThread.doWork, ReplicaFetcherThread.
    """
    if not ask(s.planes[p], b):
        return False

    return True


def serve_fetch(s, b: Broker, p: Partition, follower: Broker):
    """A broker gets a fetch, of its followers or of others.

    Guards:  there is a process; those of `leader.serve_fetch`.
    Request: OK; NOT_LEADER; FENCED_LEADER_EPOCH; UNKNOWN_LEADER_EPOCH.
    Effects: its effects.
    Kafka:   ReplicaManager.fetchMessages, Partition.fetchRecords, updateFollowerFetchState.
    """
    if not s.brokers[b].up or not answer_fetch(s.planes[p], b, follower):
        return False

    return True


def receive_answer(s, b: Broker, p: Partition):
    """A follower gets an answer, and sends its next fetch.

    Guards:  those of `follower.receive_answer`.
    Effects: its effects.
    Kafka:   AbstractFetcherThread.processFetchRequest, truncateOnFetchResponse.
    """
    if not take_answer(s.planes[p], b):
        return False

    return True


def expand_isr(s, b: Broker, p: Partition, follower: Broker):
    """A leader proposes to add a follower that has caught up to the ISR.

    Guards:  those of `leader.expand_isr`.
    Effects: its effects.
    Kafka:   Partition.maybeExpandIsr, 2.7 to 3.9.
    """
    if not propose_larger(s.planes[p], b, follower):
        return False

    return True


def shrink_isr(s, b: Broker, p: Partition, follower: Broker):
    """A leader proposes to remove a follower that is out of sync from the ISR.

    Guards:  those of `leader.shrink_isr`.
    Effects: its effects.
    Kafka:   Partition.maybeShrinkIsr, 2.7 to 3.9.
    """
    if not propose_smaller(s.planes[p], b, follower):
        return False

    return True


def learn_isr(s, b: Broker, p: Partition):
    """A leader hears that its proposal was written.

    Guards:  those of `leader.learn_isr`.
    Effects: its effects.
    Kafka:   Partition.submitAlterPartition, handleAlterPartitionUpdate, 2.7 to 3.9.
    """
    if not take_isr(s.planes[p], b):
        return False

    return True
