"""Properties of requests that tell brokers what to tell clients, and of what a process keeps: each is sent to the living,
says what its controller knows, is taken once, and ends with the process that it was sent to.

Sources: AbstractControllerBrokerRequestBatch, ControllerChannelManager, KafkaApis.isBrokerEpochStale, 2.7 to 3.9.
"""

from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import difference, is_empty
from kafkaproof.spec.partition.context import NO_EPOCH, is_queued
from kafkaproof.spec.partition.metadata.network import halt_arrives, is_update_of, update_arrives
from kafkaproof.spec.partition.properties.sessions import hears_nothing
from kafkaproof.spec.partition.zookeeper import known_as_they_are


def is_of_context(controller, p, update):
    """Whether UpdateMetadata says of a partition what a controller knows; of one whose topic is queued for deletion, that
    it is to be forgotten.
    """
    known = controller.partitions[p]
    if is_queued(controller, p):
        return update.leader_epoch == NO_EPOCH
    return update.leader == known.leader and update.leader_epoch == known.leader_epoch and update.isr == known.isr


def differs(old, new):
    """Whether something else is told of a partition than before."""
    return old.leader != new.leader or old.leader_epoch != new.leader_epoch or old.isr != new.isr


def told_by_context(before, after):
    """What is newly told of a partition is what the controller of the epoch knows, and of who is live, its list; both go to
    brokers alone that it knows as live, in their present registrations.
    """
    for b in range(len(before.brokers)):
        controller = after.brokers[b].controller
        epoch = controller.epoch
        live = known_as_they_are(after.zk, b, controller.live)
        was_live = before.network.live[epoch]
        is_live = after.network.live[epoch]
        if epoch > 0 and is_live.brokers != was_live.brokers:
            if is_live.brokers != controller.live or not is_empty(difference(is_live.to, live)):
                return False
        for p in range(len(controller.partitions)):
            update = after.network.updates[epoch][p]
            if epoch > 0 and differs(before.network.updates[epoch][p], update):
                if not is_of_context(controller, p, update) or not is_empty(difference(update.to, live)):
                    return False
    return True


def is_told_nothing(s, b):
    """Whether no request is on its way to a broker."""
    for epoch in range(len(s.network.live)):
        if update_arrives(s.network, epoch, b):
            return False
        for p in range(len(s.zk.partitions)):
            if is_update_of(s.network, epoch, p, b) or halt_arrives(s.network, epoch, p, b):
                return False
    return hears_nothing(s, b)


def requests_end_with_process(before, after, b):
    """What was on its way to a process that has ended, or to a former registration, is dropped."""
    return is_told_nothing(after, b)


def update_taken_once(before, after, b, epoch):
    """UpdateMetadata is taken once, with all that it says."""
    for p in range(len(after.zk.partitions)):
        if is_update_of(after.network, epoch, p, b):
            return False
    return update_arrives(before.network, epoch, b) and not update_arrives(after.network, epoch, b)


def halt_taken_once(before, after, b, epoch, p):
    """StopReplica without delete is taken once."""
    return halt_arrives(before.network, epoch, p, b) and not halt_arrives(after.network, epoch, p, b)


def metadata_ends_with_process(s):
    """Without a process nobody is told anything."""
    for broker in s.brokers:
        known = not is_empty(broker.metadata.alive)
        for cached in broker.metadata.partitions:
            known = known or cached.known == 1
        if known and not broker.up:
            return False
    return True


MEMORY = (
    always_step(told_by_context),
    always_step(requests_end_with_process, of=("crash", "stop", "restart", "reopen")),
    always_step(update_taken_once, of=("update_metadata",)),
    always_step(halt_taken_once, of=("halt_replica",)),
    always(metadata_ends_with_process),
)
