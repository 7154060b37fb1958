"""Properties of channels: what a batch says is what its controller knows, and only what is complete arrives."""

from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.requests.network import LATE


def told_as_known(before, after):
    """LeaderAndIsr in a batch that a step begins names the leader and the leader epoch that the controller remembers."""
    for b in range(len(after.brokers)):
        controller = after.brokers[b].controller
        for r in range(len(after.brokers)):
            length = before.network.channels[controller.epoch][r].queue.length
            queue = after.network.channels[controller.epoch][r].queue
            for p in range(len(controller.partitions)):
                if controller.epoch > 0 and queue.length > length:
                    told = queue.slots[queue.length - 1].partitions[p]
                    known = controller.partitions[p]
                    same = told.leader == known.leader and told.leader_epoch == known.leader_epoch
                    if told.leader_and_isr and not same:
                        return False
    return True


def complete_arrives(before, after, b, epoch, delivery):
    """A request arrives of a batch that is complete, or of a channel that was discarded."""
    channel = before.network.channels[epoch][b]
    return delivery == LATE or channel.queue.length > (1 if channel.collecting else 0)


def stopped_has_log(s):
    """A replica that was told to fetch no more has a log."""
    for broker in s.brokers:
        for replica in broker.replicas:
            if replica.stopped and not replica.ghosts.log:
                return False
    return True


CHANNELS = (
    always_step(told_as_known),
    always_step(complete_arrives, of=("leader_and_isr", "update_metadata", "stop_replica")),
    always(stopped_has_log),
)
