"""Request threads, which append the records that they have prepared (up to 0.10.2)."""

from kafkaproof.spec.group.history.unlocked.storage import append_prepared
from kafkaproof.spec.group.sorts import Broker
from kafkaproof.spec.language.domains import Bound, Number

Thread = Number(0, Bound("prepared", -1))


def append(s, b: Broker, i: Thread):
    """A thread of broker `b` appends the record that it has prepared.

    Guards:  record `i` is prepared.
    Effects: it is in the log after all that was appended meanwhile; its callback waits.
    Kafka:   GroupMetadataManager.store (GroupCoordinator.doSyncGroup, handleCommitOffsets), 0.9 to 0.10.2.
    """
    broker = s.brokers[b]
    if i >= broker.prepared.length:
        return False

    append_prepared(s.storage, b, broker, i)
    return True
