"""Liveness of controller election (L1, L2): if threads run and watches are delivered, one controller remains."""

from kafkaproof.spec.election.broker_state import CLEANING, DOWN, FULL, LOADING
from kafkaproof.spec.election.properties.safety import rulers, rules, rules_by_channels
from kafkaproof.spec.kafka.zookeeper import owns_controller
from kafkaproof.spec.language.fairness import at_last, strong, weak
from kafkaproof.spec.language.model import eventually, eventually_always


def somebody_lives(s):
    """Some broker has a process."""
    for broker in s.brokers:
        if broker.session != DOWN:
            return True
    return False


def begins(s, b):
    """The term of broker `b` begins, or it must read the partition state again."""
    return s.brokers[b].doing == CLEANING or s.brokers[b].doing == LOADING


def is_current(zk, broker):
    """Whether a term has the epoch that ZooKeeper has, and the version by which writes are fenced."""
    return broker.epoch == zk.epoch and broker.epoch_version == zk.epoch_version


def has_epoch(zk, broker):
    """Whether a term has the epoch that ZooKeeper has; up to 2.0 nothing is fenced by its version."""
    return broker.epoch == zk.epoch


def holds_token(s, b):
    """Whether broker `b` is controller, owns /controller, and is current."""
    broker = s.brokers[b]
    return broker.active and broker.ruling == FULL and owns_controller(s.zk, b) and is_current(s.zk, broker)


def one_controller(s):
    """Eventually exactly one broker is controller, owns /controller, and has the epoch of ZooKeeper and its version
    (L1).
    """
    tokens = 0
    for b in range(len(s.brokers)):
        if holds_token(s, b):
            tokens += 1
    return tokens == 1 and rulers(s) == 1


def one_ruler(s):
    """Of two brokers that act as controller at once, one eventually learns that it is not (L2)."""
    return rulers(s) <= 1


EVENTS = (
    "die",
    "reopen",
    "maybe_resign",
    "look_for_controller",
    "learn_epoch",
    "found_epoch",
    "register",
    "create",
    "confirm_controller",
    "confirm_owner",
    "confirm_epoch",
    "raise_epoch",
    "trigger_move",
    "delete_own_controller",
    "delete_any_controller",
    "data_event",
    "new_session",
)
BROKERS_RUN = (
    weak(*EVENTS, each=("b",)),
    # Events are handled in turn: no other work of the same thread, or under the same lock, overtakes one forever.
    strong("register_broker", "handle_change", "handle_new_session", each=("b",)),
    weak("clean", "load", each=("b",), when=begins),
    weak("notice_expiry", each=("b",)),
    weak("expire_orphan", each=("b",)),
)
ONE_CONTROLLER = eventually_always(one_controller, given=BROKERS_RUN + (at_last(somebody_lives),))
ONE_RULER = eventually(one_ruler, given=BROKERS_RUN, brokers=2, faults=1)
FENCED = (ONE_CONTROLLER, ONE_RULER)
LEGACY = (ONE_CONTROLLER.rebound({is_current: has_epoch}), ONE_RULER)
ZKCLIENT = tuple(p.rebound({rules: rules_by_channels}) for p in LEGACY)
