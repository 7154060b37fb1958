"""Properties of each step of controllers: which requests are sent, in which order, and when channels come and go.

What a controller does besides is asked in `kafkaproof.spec.partition.properties`.
"""

from kafkaproof.spec.kafka.state_machines import NON_EXISTENT_PARTITION, OFFLINE_REPLICA, REPLICA_DELETION_STARTED
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import contains, difference, intersection, union
from kafkaproof.spec.partition.context import is_known, is_queued
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.requests.batch import DELETE, DROPPED, STOP, TOLD
from kafkaproof.spec.requests.properties.safety import is_told


def ends_with_term(s):
    """A controller sends the requests of its term; a term that is over has no channels, and no answers (K19)."""
    for b in range(len(s.brokers)):
        epoch = s.brokers[b].controller.epoch
        if epoch > 0 and s.network.senders[epoch] != b:
            return False
    for epoch in range(len(s.network.senders) - 1):
        sender = s.network.senders[epoch]
        if sender != NOBODY and s.brokers[sender].controller.epoch != epoch:
            return False
        for r in range(len(s.brokers)):
            if sender == NOBODY and (
                s.network.channels[epoch][r].queue.length != 0 or s.network.channels[epoch][r].current
            ):
                return False
        for stop in s.network.stops[epoch]:
            if sender == NOBODY and (stop.deleted != 0 or stop.failed != 0):
                return False
    return True


def channels_are_to_live(s):
    """A controller that waits for events has channels to the brokers that it knows as live alone, all batches are
    complete, and those to whom it has listed name the current registration.
    """
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        for r in range(len(s.brokers)):
            channel = s.network.channels[controller.epoch][r]
            if (
                at_work(controller)
                and not contains(controller.live, r)
                and (channel.current or channel.queue.length > 0)
            ):
                return False
            if at_work(controller) and channel.collecting:
                return False
    return True


def sent(before, after, epoch, r):
    """How many batches a step has sent to a broker."""
    return after.network.channels[epoch][r].queue.length - before.network.channels[epoch][r].queue.length


def tells_all(queue, controller):
    """Whether the newest batch lists the live brokers, and says who leads each partition that is not queued for deletion."""
    if queue.length == 0:
        return False
    last = queue.slots[queue.length - 1]
    for p in range(len(controller.partitions)):
        if is_known(controller.partitions[p]):
            if (last.partitions[p].update == TOLD) == is_queued(controller, p):
                return False
    return last.update == 1 and last.alive == controller.live


def starts_replicas(queue, controller, r, members):
    """Whether the newest batch has LeaderAndIsr of each known partition with a replica on `r`, if that is a member."""
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        hosts = contains(intersection(members, replicas_of(partition.assignment)), r)
        wanted = hosts and is_known(partition) and not is_queued(controller, p)
        if wanted and not is_told(queue, p, partition.leader_epoch):
            return False
    return True


def newcomers_are_sent(before, after, b):
    """A broker that comes is sent UpdateMetadata, then LeaderAndIsr for its replicas; the others are sent the list of
    live brokers.
    """
    joined = before.brokers[b].controller.joined
    controller = after.brokers[b].controller
    for r in range(len(after.brokers)):
        queue = after.network.channels[controller.epoch][r].queue
        if contains(joined, r) and (queue.length < 1 or not tells_all(queue, controller)):
            return False
        if contains(joined, r) and not starts_replicas(queue, controller, r, joined):
            return False
        if contains(controller.live, r) and sent(before, after, controller.epoch, r) < 1:
            return False
        if contains(controller.live, r) and queue.slots[queue.length - 1].alive != controller.live:
            return False
    return True


def term_begins_whole(before, after, b):
    """A new controller has read the whole state; live brokers are sent UpdateMetadata, then replicas LeaderAndIsr."""
    controller = after.brokers[b].controller
    if before.zk.controller != NOBODY or after.zk.controller != b or controller.epoch != before.zk.epoch + 1:
        return False
    if controller.live != after.zk.registered:
        return False
    for p in range(len(after.zk.partitions)):
        known = controller.partitions[p]
        written = after.zk.partitions[p]
        if known.leader != written.leader or known.leader_epoch != written.leader_epoch or known.isr != written.isr:
            return False
    for r in range(len(after.brokers)):
        queue = after.network.channels[controller.epoch][r].queue
        if queue.length != 0 and not contains(controller.live, r):
            return False
        if contains(controller.live, r) and not starts_replicas(queue, controller, r, controller.live):
            return False
        if contains(controller.live, r) and queue.slots[0].alive != controller.live:
            return False
    return True


def leaver_is_told(before, after, b, leaver):
    """A broker that shuts down is sent StopReplica for what it follows."""
    controller = after.brokers[b].controller
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        queue = after.network.channels[controller.epoch][leaver].queue
        follows = contains(controller.removing, p) and partition.leader != leaver
        if follows and (queue.length == 0 or queue.slots[queue.length - 1].partitions[p].stop != STOP):
            return False
    return True


def removed_is_told(before, after, b, p, r, delivery):
    """A replica that goes offline on a live broker is sent StopReplica, the others LeaderAndIsr, and all UpdateMetadata,
    in one batch; before a deletion there is no LeaderAndIsr.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if new.epoch == 0 or new.partitions[p].replicas[r] != OFFLINE_REPLICA:
        return True
    others = difference(intersection(replicas_of(new.partitions[p].assignment), old.live), new.partitions[p].failed)
    for q in range(len(after.brokers)):
        queue = after.network.channels[new.epoch][q].queue
        if contains(old.live, q) and q == r:
            if queue.length == 0 or queue.slots[queue.length - 1].partitions[p].stop != STOP:
                return False
        told = is_told(queue, p, new.partitions[p].leader_epoch)
        if contains(others, q) and q != r and not is_queued(old, p) and not told:
            return False
        if is_queued(old, p) and told and sent(before, after, new.epoch, q) > 0:
            return False
    return True


def deletion_is_told(before, after, b, p):
    """When a controller begins to delete a topic, UpdateMetadata with leader -2 is sent to all live brokers."""
    old = before.brokers[b].controller.partitions[p]
    controller = after.brokers[b].controller
    if not is_known(old) or old.state == NON_EXISTENT_PARTITION:
        return True
    if controller.partitions[p].state != NON_EXISTENT_PARTITION:
        return True
    for r in range(len(after.brokers)):
        queue = after.network.channels[controller.epoch][r].queue
        if contains(controller.live, r):
            if queue.length == 0 or queue.slots[queue.length - 1].partitions[p].update != DROPPED:
                return False
    return True


def deletion_is_sent(before, after, b):
    """Replicas whose deletion starts are sent StopReplica with delete, in no leader epoch; no others are."""
    controller = after.brokers[b].controller
    for p in range(len(controller.partitions)):
        for r in range(len(after.brokers)):
            was = before.brokers[b].controller.partitions[p].replicas[r]
            starts = (
                controller.partitions[p].replicas[r] == REPLICA_DELETION_STARTED and was != REPLICA_DELETION_STARTED
            )
            queue = after.network.channels[controller.epoch][r].queue
            if sent(before, after, controller.epoch, r) == 0:
                if starts:
                    return False
            elif (queue.slots[queue.length - 1].partitions[p].stop == DELETE) != starts:
                return False
    return True


def gone_are_dropped(before, after, b):
    """A controller that lists the brokers discards the channels to those that are gone or registered anew; those that
    came have new ones, and the others keep theirs.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    for r in range(len(after.brokers)):
        was = before.network.channels[old.epoch][r]
        channel = after.network.channels[old.epoch][r]
        if new.epoch == 0 or contains(union(new.gone, new.bounced), r):
            if channel.queue.length != 0 or channel.current and not contains(new.bounced, r):
                return False
        elif channel.queue.length != was.queue.length:
            return False
        if new.epoch > 0 and contains(union(new.joined, new.bounced), r) and not channel.current:
            return False
    return True


EVENTS = (
    always(ends_with_term),
    always(channels_are_to_live),
    always_step(newcomers_are_sent, of=("broker_startup",)),
    always_step(term_begins_whole, of=("elect",)),
    always_step(leaver_is_told, of=("controlled_shutdown",)),
    always_step(removed_is_told, of=("remove_replica",)),
    always_step(deletion_is_told, of=("resume_deletion",)),
    always_step(deletion_is_sent, of=("stop_replicas",)),
    always_step(gone_are_dropped, of=("broker_change",)),
)
