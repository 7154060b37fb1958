"""StopReplica(delete) and its answers, in addition to the messages of `partition`.

A controller's requests to one broker arrive in order: StopReplica replaces a LeaderAndIsr that has not arrived. (What
the older request would have done it may also do by arriving early.) Answers reach the controller that asked, as long as
its term lasts. (In Kafka an answer may wait in the event queue and be handled in a later term.)
"""

from kafkaproof.spec.language.domains import Choice
from kafkaproof.spec.language.sets import contains, union, with_member, without_member
from kafkaproof.spec.partition.network import drop_requests as drop_others
from kafkaproof.spec.partition.network import fall_silent as fall_silent_elsewhere
from kafkaproof.spec.partition.network import take_request

Answered = Choice("NO_ANSWER", "DELETED", "FAILED")
NO_ANSWER, DELETED, FAILED = Answered


def put_stop(network, epoch, p, to):
    """Send StopReplica(delete) to a set of brokers."""
    for b in range(len(network.proposals[p])):
        if contains(to, b):
            take_request(network, epoch, p, b)
    network.stops[epoch][p].to = union(network.stops[epoch][p].to, to)


def stop_arrives(network, epoch, p, b):
    """Whether a StopReplica is on its way to `b`: an arrival."""
    return contains(network.stops[epoch][p].to, b)


def is_overtaken(network, epoch, p, b, leader_epoch):
    """Whether the StopReplica that arrives is of an older leader epoch than the replica has; none carries one here."""
    return False


def is_of_deletion(network, epoch, p, b):
    """Whether the StopReplica that arrives is for the deletion of the topic: here each is."""
    return True


def take_stop(network, epoch, p, b):
    """The StopReplica is delivered."""
    network.stops[epoch][p].to = without_member(network.stops[epoch][p].to, b)


def put_stopped(network, epoch, p, b, failed):
    """Broker `b` answers that its replica is deleted, or (`failed`) that its log directory does not work."""
    stop = network.stops[epoch][p]
    if failed:
        stop.failed = with_member(stop.failed, b)
    else:
        stop.deleted = with_member(stop.deleted, b)


def answered(network, epoch, p, b):
    """The answer of `b` that arrives at the controller that asked, NO_ANSWER for none: an arrival."""
    stop = network.stops[epoch][p]
    if contains(stop.deleted, b):
        return DELETED
    return FAILED if contains(stop.failed, b) else NO_ANSWER


def take_answer(network, epoch, p, b):
    """The answer is delivered, or lost."""
    stop = network.stops[epoch][p]
    stop.deleted = without_member(stop.deleted, b)
    stop.failed = without_member(stop.failed, b)


def drop_requests(network, b):
    """The process of `b` is another one: requests that carry the old broker epoch are refused (2.2+)."""
    drop_others(network, b)
    for epoch in range(len(network.stops)):
        for p in range(len(network.proposals)):
            take_stop(network, epoch, p, b)


def fall_silent(network, b):
    """The process of `b` has ended, and its answers with it."""
    fall_silent_elsewhere(network, b)
    for epoch in range(len(network.stops)):
        for p in range(len(network.proposals)):
            take_answer(network, epoch, p, b)
