"""What a broker knows of the partition: its log, and in memory its role and, as a leader, its followers.

Left out of the state, with the reason:

- the checkpointed high watermark: a restart chooses any value up to the present one (`faults.bounce`), which
  allows all that a checkpoint at any earlier moment would;
- when a follower had last caught up: time is not modelled, so a follower whose known end is not the leader's
  may be taken for out of sync whenever the leader looks. The rule that the high watermark also waits for
  replicas which were caught up lately (0.10 and later) only forbids steps: the lag may always have passed;
- the znode's version: a leader's is the present one while its leader epoch is, since only the controller
  raises that, and only the leader writes in between;
- a follower's copy of the ISR, which nothing reads.

A high watermark moves in the step that gives the reason, as in Kafka: a fetch, an append, a new ISR.
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
    leader=(Id("brokers", nobody=True), "leader named by it"),
    isr=(SetOf("brokers"), "a leader's committed ISR, else empty"),
    pending=(SetOf("brokers"), "ISR that a leader has proposed and has no answer for, else empty"),
    ends=(Array(Number(UNKNOWN_END, Bound("log")), "brokers"), "as a leader, each follower's last fetch offset"),
    waiting=(SetOf("records"), "records whose producers wait for all replicas (acks=all)"),
    required=(Array(Number(0, 0), "min_isr"), "as many places as min.insync.replicas says"),
)


def is_counted(broker, member):
    """Whether a replica is in the maximal ISR: committed or proposed."""
    return contains(broker.isr, member) or contains(broker.pending, member)


def replicated_up_to(broker, b):
    """The log end offset that all replicas of the maximal ISR have, as far as the leader knows."""
    end = broker.log.length
    for member in range(len(broker.ends)):
        if member != b and is_counted(broker, member):
            end = min(end, broker.ends[member])
    return end


def advance(broker, b):
    """Raise the leader's high watermark as far as the maximal ISR allows; it never falls."""
    broker.hw = max(broker.hw, replicated_up_to(broker, b))


def in_sync(broker):
    """How many replicas the maximal ISR has."""
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


def forget_leadership(broker):
    """What only a leader keeps is gone."""
    broker.isr = 0
    broker.pending = 0
    broker.waiting = 0
    for f in range(len(broker.ends)):
        broker.ends[f] = UNKNOWN_END


def lead(broker, b, epoch, isr):
    """Begin to lead: the ISR is the request's, no follower's end is known, log and high watermark stay."""
    broker.state = LEADER
    broker.leader = b
    broker.leader_epoch = epoch
    broker.isr = isr
    broker.pending = 0
    for f in range(len(broker.ends)):
        broker.ends[f] = UNKNOWN_END
    advance(broker, b)


def follow(broker, leader, epoch):
    """Follow `leader` in this epoch: it fetches from its log's end on."""
    forget_leadership(broker)
    broker.leader = leader
    broker.leader_epoch = epoch
    broker.state = FETCHING


def rest(broker, epoch):
    """Neither lead nor follow, as long as nobody leads in this epoch (-1: as long as nothing was heard)."""
    forget_leadership(broker)
    broker.state = NONE
    broker.leader = NOBODY
    broker.leader_epoch = epoch
