"""What a replica knows of the producer follows its log: the steps of `replica` that append to a log or truncate it."""

from kafkaproof.spec.language.combine import then
from kafkaproof.spec.replica import faults, follower
from kafkaproof.spec.replica.broker import Broker
from kafkaproof.spec.replica.producing.network import note_record, reload


def known_up_to(entry):
    """The end of the log as far as it is known of the producer, whose records are all there is."""
    return entry.batches.slots[entry.batches.length - 1].offset + 1 if entry.batches.length > 0 else 0


def follow_log(s, b: Broker):
    """What is appended is noted; after a truncation the log is read anew (ProducerStateManager.truncateAndReload)."""
    broker = s.brokers[b]
    known = known_up_to(broker.producer)
    if broker.log.length > known:
        note_record(s.clients, broker, broker.log.length - 1)
    elif broker.log.length < known:
        reload(s.clients, broker)


def load_producers(s, b: Broker):
    """The new process reads the log (UnifiedLog.rebuildProducerState)."""
    reload(s.clients, s.brokers[b])


receive_answer = then(follower.receive_answer, follow_log)
bounce = then(faults.bounce, load_producers)
