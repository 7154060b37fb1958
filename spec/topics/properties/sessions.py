"""Properties of how topics' controllers, processes and sessions begin and end.

Sources: KafkaController.elect, maybeResign, processExpire, and KafkaServer.startup, 2.7 to 3.9.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import IDLE, READING_BROKERS
from kafkaproof.spec.topics.properties.writes import is_late


def rests(s, b):
    """Whether a broker is controller and no event is in progress."""
    return s.brokers[b].controller.epoch > 0 and s.brokers[b].controller.doing == IDLE


def has_session(s, b):
    """Whether the session of a broker is open."""
    return contains(s.zk.registered, b)


def is_refused(s, b):
    """Whether a write of a controller is refused: its session is over, or another controller was elected."""
    return not has_session(s, b) or is_late(s, b)


def term_begins(before, after, b):
    """A controller is elected where there is none, in a session, in the next epoch; its term begins with an empty
    context.
    """
    if before.zk.controller != NOBODY or not has_session(before, b) or before.brokers[b].controller.epoch > 0:
        return False
    controller = after.brokers[b].controller
    elected = after.zk.controller == b and after.zk.epoch == before.zk.epoch + 1
    return elected and controller.epoch == after.zk.epoch and controller.doing == READING_BROKERS


def term_stands(before, after, b):
    """A controller that reads that it does not own /controller gives up its term."""
    return rests(before, b) and before.zk.controller != b and after.brokers[b].controller.epoch == 0


def registers_anew(before, after, b):
    """A process that registers had no session, and is not controller."""
    registers = not has_session(before, b) and has_session(after, b) and after.brokers[b].up == 1
    return registers and after.brokers[b].controller.epoch == 0


def process_ends(before, after, b):
    """Only a live process ends; its session ends with it, and its logs stay."""
    for p in range(len(after.zk.partitions)):
        if after.brokers[b].logs[p] != before.brokers[b].logs[p]:
            return False
    return before.brokers[b].up == 1 and after.brokers[b].up == 0


def session_ends(before, after, b):
    """A live process whose session ends goes on with what it believes."""
    old = before.brokers[b]
    new = after.brokers[b]
    ended = has_session(before, b) and not has_session(after, b)
    same = old.controller.epoch == new.controller.epoch and old.controller.doing == new.controller.doing
    return ended and same and old.up == 1 and new.up == 1


SESSIONS = (
    always_step(term_begins, of=("elect",)),
    always_step(term_stands, of=("resign",)),
    always_step(registers_anew, of=("restart", "reopen")),
    always_step(process_ends, of=("crash",)),
    always_step(session_ends, of=("expire_session",)),
)
