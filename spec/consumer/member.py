"""What one consumer knows: its rebalance in progress, what it has claimed, what its threads read.

Three threads run Kafka's code here: the client library's event thread (`callback`: registration, and the rebalance that
follows it), the watcher executor (a rebalance after a watch), and the auto-committer. The first two rebalance under one
lock; `doing` is the program counter of the thread that holds it.

The registry (topicRegistry) is the set of partitions that the consumer believes it owns: it commits their offsets, and
releases them in the next rebalance. The threads may read other partitions: a new session clears the registry at once,
but the fetchers run on until a rebalance stops them.
"""

from kafkaproof.spec.consumer.assignment import owner, owner_thread
from kafkaproof.spec.consumer.zookeeper import ZOOKEEPER
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Number, Record, SetOf
from kafkaproof.spec.language.sets import contains, is_empty, with_member

Consumer = Id("consumers")
Partition = Id("partitions")
Callback = Choice(
    "NONE",
    "START",  # the process starts: must register
    "NEW_SESSION",  # the library has opened a new session: must reset and register
    "REBALANCE",  # registered: must rebalance once the lock is free
)
NONE, START, NEW_SESSION, REBALANCE = Callback
Doing = Choice(
    "IDLE",
    "LOOKING",  # an attempt begins: must read its own id and the brokers
    "RELEASING",  # fetchers are stopped: must delete the owner nodes of the registry's partitions
    "LISTING",  # must list the members
    "READING_IDS",  # must read what they subscribe to
    "READING_TOPIC",  # must read how many partitions there are
    "READING_OFFSETS",  # knows its own partitions: must read where to begin
    "CLAIMING",  # must create the owner nodes
    "UNDOING",  # another consumer has one of them: must delete those that it has created
    "FAILED",  # fetchers are stopped: must try again, or give up
)
(IDLE, LOOKING, RELEASING, LISTING, READING_IDS, READING_TOPIC, READING_OFFSETS, CLAIMING, UNDOING, FAILED) = Doing

POSITION = Record(
    offset=(Number(0, Bound("offsets")), "offset of the next record"),
    uncommitted=(Flag(), "it differs from the offset last read from ZooKeeper or committed"),
)
CONSUMER = Record(
    up=(Flag(), "there is a process"),
    callback=(Callback, "what the event thread must do"),
    doing=(Doing, "the rebalance in progress"),
    failures=(Array(Flag(), "retries"), "failed attempts of this rebalance; the last possible one is not counted"),
    registry=(SetOf("partitions"), "the registry: partitions that it believes it owns"),
    streams=(Array(SetOf("partitions"), "threads"), "partitions that each thread reads"),
    members=(SetOf("consumers"), "members listed in this attempt"),
    size=(Number(0, Bound("partitions")), "partitions of the topic, read in this attempt"),
    mine=(SetOf("partitions"), "partitions that this attempt's assignment gives it"),
    left=(SetOf("partitions"), "partitions that are left to do in the present phase"),
    claimed=(SetOf("partitions"), "partitions whose claim has succeeded in this attempt"),
    conflict=(Flag(), "a claim of this attempt has failed"),
    positions=(Array(POSITION, "partitions"), "how far it has read, by partition"),
)
STATE = Record(zk=(ZOOKEEPER, "ZooKeeper"), consumers=(Array(CONSUMER, "consumers"), "what each consumer knows"))


def initial(s, missing: Flag()):
    """No consumer runs yet. The topic has all its partitions, or lacks the last one (`missing`)."""
    s.zk.size = len(s.zk.partitions) - missing
    for partition in s.zk.partitions:
        partition.owner = NOBODY


def forget_positions(consumer):
    """Forget what was read of partitions outside the registry."""
    for p in range(len(consumer.positions)):
        if not contains(consumer.registry, p):
            consumer.positions[p].offset = 0
            consumer.positions[p].uncommitted = 0


def reset(consumer):
    """resetState: clear the registry, but not the fetchers, nor what an attempt in progress has read."""
    for p in range(len(consumer.positions)):
        if contains(consumer.registry, p):
            consumer.positions[p].offset = 0
            consumer.positions[p].uncommitted = 0
    consumer.registry = 0


def is_committed(consumer):
    """Whether everything that was read from the registry's partitions is committed."""
    for position in consumer.positions:
        if position.uncommitted:
            return False
    return True


def reads(consumer, p):
    """Whether a thread of the consumer reads partition p."""
    for partitions in consumer.streams:
        if contains(partitions, p):
            return True
    return False


def stop_fetchers(consumer):
    """closeFetchers: stop all threads. Offsets are committed next."""
    for t in range(len(consumer.streams)):
        consumer.streams[t] = 0


def forget_attempt(consumer):
    """Forget what an attempt has read and done."""
    consumer.members = 0
    consumer.size = 0
    consumer.mine = 0
    consumer.left = 0
    consumer.claimed = 0
    consumer.conflict = 0
    forget_positions(consumer)


def fail(consumer):
    """End an attempt that has failed: fetchers are stopped."""
    stop_fetchers(consumer)
    forget_attempt(consumer)
    consumer.doing = FAILED


def gives_up(consumer):
    """Count a failed attempt. Returns whether it was the last one (rebalance.max.retries)."""
    for i in range(len(consumer.failures) - 1):
        if not consumer.failures[i]:
            consumer.failures[i] = 1
            return False
    return True


def end_rebalance(consumer):
    """End the rebalance: the lock is free."""
    for i in range(len(consumer.failures)):
        consumer.failures[i] = 0
    consumer.doing = IDLE


def begin_release(consumer, c):
    """Enter the phase that releases the registry's partitions, or skip it if there are none."""
    consumer.left = consumer.registry
    consumer.doing = RELEASING
    if is_empty(consumer.left):
        end_release(consumer, c)


def end_release(consumer, c):
    """Everything is released: the registry is empty."""
    consumer.registry = 0
    forget_positions(consumer)
    after_release(consumer, c)


def after_release(consumer, c):
    """Everything is released: the members are listed next."""
    consumer.doing = LISTING


def after_members(consumer, c):
    """The members are known: the topic is read next."""
    consumer.doing = READING_TOPIC


def after_topic(consumer, c):
    """The partitions are known, and so is the assignment."""
    decide(consumer, c)


def decide(consumer, c):
    """Compute the assignment. Without a partition for `c` the rebalance is over."""
    assign(consumer, c)
    if is_empty(consumer.mine):
        start_fetchers(consumer)
    else:
        after_assignment(consumer)


def assign(consumer, c):
    """The partitions that this attempt's assignment gives to `c`."""
    for p in range(len(consumer.positions)):
        if p < consumer.size and owner(p, consumer.size, consumer.members, len(consumer.streams)) == c:
            consumer.mine = with_member(consumer.mine, p)
    consumer.left = consumer.mine


def thread_for(consumer, p):
    """The thread to which this attempt's assignment gives partition p."""
    return owner_thread(p, consumer.size, consumer.members, len(consumer.streams))


def start_fetchers(consumer):
    """updateFetcher: the claimed partitions become the registry, and the threads read them."""
    consumer.registry = consumer.mine
    for p in range(len(consumer.positions)):
        if contains(consumer.mine, p):
            t = thread_for(consumer, p)
            consumer.streams[t] = with_member(consumer.streams[t], p)
    forget_attempt(consumer)
    end_rebalance(consumer)


def after_assignment(consumer):
    """The assignment is known: offsets are read next."""
    consumer.doing = READING_OFFSETS


def after_offsets(consumer):
    """The offsets are known: partitions are claimed next."""
    consumer.left = consumer.mine
    consumer.doing = CLAIMING


def after_claims(consumer):
    """Every claim has succeeded: the fetchers start."""
    start_fetchers(consumer)


def begin_undo(consumer):
    """After a conflict, the claims that succeeded are undone next."""
    consumer.left = consumer.claimed
    consumer.doing = UNDOING


def end_claims(consumer):
    """Every claim has been tried."""
    if not consumer.conflict:
        after_claims(consumer)
    elif is_empty(consumer.claimed):
        fail(consumer)
    else:
        begin_undo(consumer)


def end_process(consumer):
    """Clear all that the process knew: it is gone."""
    consumer.up = 0
    consumer.callback = NONE
    consumer.registry = 0
    stop_fetchers(consumer)
    forget_attempt(consumer)
    end_rebalance(consumer)
