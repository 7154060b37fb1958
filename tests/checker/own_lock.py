"""A model of one's own, as somebody would write it who knows the public package alone."""

from kafkaproof.model import (
    NOBODY,
    Array,
    Bound,
    Flag,
    Id,
    Model,
    Number,
    Record,
    Size,
    Transition,
    always,
    eventually,
    sometimes,
    weak,
)

Broker = Id("brokers")
LOCK = Record(
    owner=(Id("brokers", nobody=True), "who holds the lock"),
    version=(Number(0, Bound("versions")), "how often it was taken"),
)
BROKER = Record(
    believes=(Flag(), "believes that it holds the lock"),
    version=(Number(0, Bound("versions")), "version of the lock that it took"),
)
STATE = Record(
    lock=(LOCK, "the lock in ZooKeeper"),
    brokers=(Array(BROKER, "brokers"), "what each broker knows"),
    stale=(Flag(), "a write was accepted from a broker that no longer held the lock"),
)


def initial(s):
    s.lock.owner = NOBODY


def take(s, b: Broker):
    """Broker `b` takes the lock that nobody holds."""
    if s.lock.owner != NOBODY:
        return False

    s.lock.owner = b
    s.lock.version += 1
    s.brokers[b].believes = 1
    s.brokers[b].version = s.lock.version
    return True


def expire(s, b: Broker):
    """The session of the holder expires; broker `b` does not know."""
    if s.lock.owner != b:
        return False

    s.lock.owner = NOBODY
    return True


def write(s, b: Broker):
    """Broker `b`, which believes it holds the lock, writes, and nobody checks."""
    if not s.brokers[b].believes:
        return False

    if s.brokers[b].version != s.lock.version:
        s.stale = 1
    return True


def checked_write(s, b: Broker):
    """Broker `b` writes with its version."""
    if not s.brokers[b].believes:
        return False

    if s.brokers[b].version != s.lock.version:
        s.brokers[b].believes = 0
    return True


def scope(*, brokers=2, versions=2) -> Size:
    """A scope: the brokers, and how often the lock may be taken."""
    return Size(brokers=brokers, versions=versions)


def no_stale_write(s):
    """No write is accepted from a broker after another has taken the lock."""
    return not s.stale


def is_free(s):
    """Nobody holds the lock."""
    return s.lock.owner == NOBODY


def two_believers(s):
    """Two brokers believe at once that they hold the lock."""
    believers = 0
    for broker in s.brokers:
        believers += broker.believes
    return believers > 1


LANE = "broker {b}"
MODEL = Model(
    system="lock",
    variant="unchecked",
    story="A write that nobody checks lands after the lock has moved on.",
    state=STATE,
    initial=initial,
    transitions=(Transition(take, LANE), Transition(expire, "zookeeper"), Transition(write, LANE)),
    properties=(always(no_stale_write), sometimes(two_believers), eventually(is_free, given=(weak("expire"),))),
    scope=scope(),
    largest=scope(brokers=7, versions=9),
    lanes=lambda scope: ["zookeeper"] + [f"broker {b}" for b in range(scope["brokers"])],
    sizes={"brokers": "brokers that want the lock", "versions": "how often it is taken"},
    expected={scope(): {"no_stale_write": 5}, scope(brokers=1): {}},
    interchangeable={"brokers": ()},
    abstract=True,
)
CHECKED = MODEL.rebound({write: checked_write}, variant="checked", expected={scope(): {}})
