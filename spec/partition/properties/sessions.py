"""Properties of how partitions' controllers, processes and sessions begin and end.

Sources: KafkaController.elect, maybeResign, processExpire, and KafkaServer.startup and shutdown, 2.7 to 3.9.
"""

from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import IDLE, LAPSED, READING_BROKERS


def rests(s, b):
    """Whether a broker is controller and no event is in progress."""
    return s.brokers[b].controller.epoch > 0 and s.brokers[b].controller.doing == IDLE


def has_session(s, b):
    """Whether the session of a broker is open."""
    return contains(s.zk.registered, b)


def term_goes_on(before, after, b):
    """Whether a controller keeps its term, and what it knows of brokers and leaders, when its request is refused because
    its session is over.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    for p in range(len(new.partitions)):
        known = old.partitions[p]
        kept = new.partitions[p]
        if kept.leader != known.leader or kept.isr != known.isr or kept.leader_epoch != known.leader_epoch:
            return False
    return new.epoch == old.epoch and new.live == old.live


def is_unanswered(before, after, b, delivery):
    """Whether a controller's request is not answered, or is refused because its session or its term is over."""
    return delivery != ANSWERED or not has_session(before, b) or after.brokers[b].controller.epoch == 0


def is_tried_again(before, after, b):
    """Whether a request that is not answered is still to be made; one that is refused ends the event, where the session is
    over, or the term, where another controller has been elected.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if new.epoch == 0:
        return old.epoch < before.zk.epoch
    return new.doing == (old.doing if has_session(before, b) else IDLE)


def loses_answer(s, b, delivery):
    """Whether the answer to a request of a broker is lost: without a session it is refused at once."""
    return has_session(s, b) and delivery != ANSWERED


def has_lapsed(before, after, b):
    """Whether a failover that is refused because its session is over keeps its term, and nothing else."""
    new = after.brokers[b].controller
    return new.epoch == before.brokers[b].controller.epoch and new.doing == LAPSED


def term_begins(before, after, b):
    """A controller is elected where there is none, in a session, in the next epoch; its term begins with an empty
    context.
    """
    if before.zk.controller != NOBODY or not has_session(before, b) or before.brokers[b].controller.epoch > 0:
        return False
    elected = after.zk.controller == b and after.zk.epoch == before.zk.epoch + 1
    return (
        elected
        and after.brokers[b].controller.epoch == after.zk.epoch
        and (after.brokers[b].controller.doing == READING_BROKERS)
    )


def term_stands(before, after, b):
    """A controller that reads /controller keeps its term only if it owns it, and the answer says if it does not."""
    own = before.zk.controller == b and has_session(before, b)
    if own or after.brokers[b].controller.epoch > 0 or before.zk.controller == b:
        return False
    dropped = has_session(before, b) and before.zk.controller != NOBODY
    for r in range(len(before.brokers)):
        if after.brokers[b].errors[r] != (0 if dropped else before.brokers[b].errors[r]):
            return False
    return True


def registers_anew(before, after, b):
    """A process that registers had no session; it is not controller, has no answer in its queue, and no request to the
    former registration reaches it.
    """
    if has_session(before, b) or not has_session(after, b) or not after.brokers[b].up:
        return False
    for r in range(len(before.brokers)):
        if after.brokers[b].errors[r] != 0:
            return False
    return after.brokers[b].controller.epoch == 0 and hears_nothing(after, b)


def hears_nothing(s, b):
    """Whether no request is on its way to a broker."""
    for epoch in range(len(s.network.requests)):
        for p in range(len(s.zk.partitions)):
            if contains(s.network.requests[epoch][p].to, b):
                return False
    return True


def says_nothing(s, b):
    """Whether no answer of a broker is on its way."""
    for epoch in range(len(s.network.requests)):
        for p in range(len(s.zk.partitions)):
            if contains(s.network.requests[epoch][p].errors, b):
                return False
    return True


def ends_whole(before, after, b):
    """Only a live process ends; what was on its way to it and from it is dropped."""
    ended = before.brokers[b].up == 1 and after.brokers[b].up == 0
    return ended and hears_nothing(after, b) and says_nothing(after, b)


def dies_in_session(before, after, b):
    """A process that dies leaves its session open, until that times out."""
    return has_session(before, b) and has_session(after, b)


def closes_session(before, after, b):
    """A process that has asked to be shut down closes its session (KafkaServer.controlledShutdown, shutdown)."""
    return contains(before.network.shutdowns, b) and not has_session(after, b)


def asks_once(before, after, b):
    """A process asks to be shut down once, and until its end."""
    return not contains(before.network.shutdowns, b) and contains(after.network.shutdowns, b)


def session_ends(before, after, b):
    """A session that ends was open; with it goes what the broker owned, but nothing that its process knows."""
    if not has_session(before, b) or has_session(after, b) or after.zk.controller == b:
        return False
    old = before.brokers[b]
    new = after.brokers[b]
    return (
        old.up == new.up
        and old.controller.epoch == new.controller.epoch
        and (old.controller.doing == new.controller.doing)
    )


def of_the_living(before, after, b):
    """Only a live process loses its session, and only one that has not asked yet asks for a shutdown."""
    return before.brokers[b].up == 1 and after.brokers[b].up == 1


def of_the_dead(before, after, b):
    """A session is closed by its timeout only after its process has ended."""
    return before.brokers[b].up == 0 and after.brokers[b].up == 0


SESSIONS = (
    always_step(term_begins, of=("elect",)),
    always_step(term_stands, of=("resign",)),
    always_step(registers_anew, of=("restart", "reopen")),
    always_step(ends_whole, of=("crash", "stop")),
    always_step(dies_in_session, of=("crash",)),
    always_step(closes_session, of=("stop",)),
    always_step(asks_once, of=("shut_down",)),
    always_step(session_ends, of=("expire_session", "expire_orphan")),
    always_step(of_the_living, of=("expire_session", "shut_down")),
    always_step(of_the_dead, of=("expire_orphan",)),
)
