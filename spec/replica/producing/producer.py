"""An idempotent producer: it sends records in the order of their sequence numbers, and again until it is answered."""

from kafkaproof.spec.language.domains import Bound, Number
from kafkaproof.spec.replica.broker import Broker, advance, enough_in_sync
from kafkaproof.spec.replica.clients.network import commit
from kafkaproof.spec.replica.producing.network import answer_duplicate, may_arrive, take_in_sequence
from kafkaproof.spec.replica.producing.sequences import DUPLICATE, remembered
from kafkaproof.spec.replica.zookeeper import OK

ProducedRecord = Number(0, Bound("records", -1))


def produce(s, b: Broker, record: ProducedRecord):
    """A record reaches a broker, for the first time or again: its producer has had no answer, or an earlier request is late.

    A producer sends its records in order, the first time. One that was refused is sent again, and then comes behind later
    ones that were on their way.

    Guards:  the record was sent before, or is the next, and not too many are in flight.
    Request: OK; DUPLICATE; NOT_LEADER_OR_FOLLOWER; OUT_OF_ORDER_SEQUENCE_NUMBER; UNKNOWN_PRODUCER_ID; INVALID_PRODUCER_EPOCH;
             NOT_ENOUGH_REPLICAS.
    Effects: on OK the log has one more record, and the leader knows it; on DUPLICATE the producer is told where it
             stands, as soon as the high watermark has passed it.
    Kafka:   ReplicaManager.appendRecords, Partition.appendRecordsToLeader, 0.11 to 3.9;
             Log.analyzeAndValidateProducerState, 0.11 to 3.0; UnifiedLog.analyzeAndValidateProducerState, 3.1 to 3.9.
    """
    broker = s.brokers[b]
    if not may_arrive(s.clients, record, remembered(broker.producer)):
        return False

    answer = take_in_sequence(s.clients, broker, record, enough_in_sync(broker))
    if answer == OK:
        advance(broker, b)
        commit(s.clients, s.zk, b, broker)
    elif answer == DUPLICATE:
        answer_duplicate(s.clients, broker, record)
    return True


def bump_epoch(s):
    """The producer begins a new epoch, at sequence number 0; what it has sent before may still arrive.

    It does so by itself where it cannot know what became of a batch (from 2.5 on), or another process begins with the same
    transactional id.

    Guards:  none.
    Effects: its next record is the first of the epoch.
    Kafka:   TransactionManager.bumpIdempotentProducerEpoch, 2.5 to 3.9 (KIP-360);
             TransactionCoordinator.handleInitProducerId, 0.11 to 3.9.
    """
    s.clients.producer_epoch += 1
    s.clients.first[s.clients.producer_epoch] = s.clients.next_record
    return True
