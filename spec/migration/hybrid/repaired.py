"""Several changes in one delta, and what would end the faults of 3.9 that the model finds: no release does this."""

from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.migration.hybrid.hosts import leads_or_follows, learn_all, learn_change, obey_full, stop
from kafkaproof.spec.migration.hybrid.propagator import is_gone, stop_former
from kafkaproof.spec.partition.context import NO_EPOCH


def at_once(s):
    """Changes come whenever they come: one delta may have several.

    Kafka: MetadataLoader.handleCommit, 3.4 to 3.9; MetadataBatchLoader.loadBatch, 3.6 to 3.9.
    """
    return True


def obey_first(host, b, content):
    """A broker that has registered compares all that it has with what it is told first, in full requests."""
    obey_full(host, b, content)
    learn_all(host, content)


def obey_change(s, b):
    """A broker handles what it is told of a change. A log of a topic that is gone goes first, whatever its leader epoch."""
    if is_gone(s):
        if contains(s.told.replicas, b):
            stop(s.hosts[b], b, NO_EPOCH, True)
        leads_or_follows(s.hosts[b], b, s.log)
    else:
        leads_or_follows(s.hosts[b], b, s.log)
        stop_former(s, b)
    learn_change(s.hosts[b], s.log)
