"""What a broker knows of the partition: its log and, in memory, its role and (as a leader) its followers.

Not in the state, and why:

- the checkpointed high watermark: a restart chooses any value up to the present one (`faults.bounce`), which
  allows all that a checkpoint at any earlier moment would;
- when a follower last caught up: time is not modelled, so a follower whose known end differs from the leader's may
  count as out of sync whenever the leader looks. The rule that the high watermark also waits for replicas that caught
  up recently (0.10 and later) only forbids steps: the lag may always have passed;
- the znode's version: a leader has the present one as long as it has the present leader epoch, because only the
  controller raises that epoch, and only the leader writes in between;
- a follower's copy of the ISR, which nothing reads.

A high watermark moves in the step that causes it, as in Kafka: a fetch, an append, a new ISR.
"""

from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Id, Number, Record, SetOf
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.replica.storage import LOG, LeaderEpoch, Offset, start_of_epoch

Broker = Id("brokers")
State = Choice("NONE", "LEADER", "TRUNCATING", "FETCHING")
NONE, LEADER, TRUNCATING, FETCHING = State
UNKNOWN_END = -1

BROKER = Record(
    log=(LOG, "the partition log; its length is the log end offset"),
    hw=(Offset, "high watermark"),
    state=(State, "role; a follower waits for the end of an epoch (TRUNCATING) or fetches"),
    leader_epoch=(LeaderEpoch, "leader epoch of the last LeaderAndIsr, -1 in a new process"),
    leader=(Id("brokers", nobody=True), "leader named by that request"),
    isr=(SetOf("brokers"), "a leader's committed ISR, else empty"),
    pending=(SetOf("brokers"), "ISR that a leader has proposed and has no answer for, else empty"),
    ends=(Array(Number(UNKNOWN_END, Bound("log")), "brokers"), "as a leader, each follower's last fetch offset"),
    heard=(SetOf("brokers"), "as a leader, followers that have fetched in this leader epoch"),
    waiting=(SetOf("records"), "records whose producers wait for all replicas (acks=all)"),
    required=(Array(Number(0, 0), "min_isr"), "its length is min.insync.replicas"),
)


def is_counted(broker, member):
    """Whether a replica is in the maximal ISR: committed or proposed."""
    return contains(broker.isr, member) or contains(broker.pending, member)


def replicated_up_to(broker, b):
    """The offset up to which all replicas of the maximal ISR have the log, as far as the leader knows."""
    end = broker.log.length
    for member in range(len(broker.ends)):
        if member != b and is_counted(broker, member):
            end = min(end, broker.ends[member])
    return end


def advance(broker, b):
    """Raise the leader's high watermark as far as the maximal ISR allows. It never falls."""
    broker.hw = max(broker.hw, replicated_up_to(broker, b))


def in_sync(broker):
    """The number of replicas in the maximal ISR."""
    count = 0
    for member in range(len(broker.ends)):
        if is_counted(broker, member):
            count += 1
    return count


def enough_in_sync(broker):
    """Whether the ISR has min.insync.replicas members."""
    return in_sync(broker) >= len(broker.required)


def epoch_start(broker):
    """Where the leader's own epoch starts in its log."""
    return start_of_epoch(broker.log, broker.leader_epoch)


def forget_ends(broker):
    """Know no follower's end."""
    for f in range(len(broker.ends)):
        broker.ends[f] = UNKNOWN_END


def forget_leadership(broker):
    """Clear what only a leader keeps."""
    broker.isr = 0
    broker.pending = 0
    broker.heard = 0
    broker.waiting = 0
    forget_ends(broker)


def keeps_ends(broker):
    """Whether a broker that is named as leader goes on with the ends that it knows: if it leads already (0.9 to 3.9).

    It keeps them in whatever epoch it led. It may have missed that another broker led in between, and that a follower
    has truncated its log since.
    """
    return broker.state == LEADER


def lead(broker, b, epoch, isr):
    """Lead in this epoch: take the ISR from the request, keep the log and the high watermark.

    No follower has fetched in this epoch yet, so none joins the ISR by an end that was known before.
    """
    if not keeps_ends(broker):
        forget_ends(broker)
    broker.state = LEADER
    broker.leader = b
    broker.leader_epoch = epoch
    broker.isr = isr
    broker.pending = 0
    broker.heard = 0
    advance(broker, b)


def follow(broker, leader, epoch):
    """Follow `leader` in this epoch, and fetch from the log's own end on."""
    forget_leadership(broker)
    broker.leader = leader
    broker.leader_epoch = epoch
    broker.state = FETCHING


def rest(broker, epoch):
    """Neither lead nor follow, because nobody leads in this epoch (-1: because no request has arrived yet)."""
    forget_leadership(broker)
    broker.state = NONE
    broker.leader = NOBODY
    broker.leader_epoch = epoch
