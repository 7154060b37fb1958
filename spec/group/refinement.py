"""`replica` keeps the contract of `storage`: the contract allows every behaviour of replicated logs.

The contract is a model of its own: brokers append records, each with a callback; appends succeed or fail; the leader
moves. It uses `storage` and `faults.fail_over` themselves, without groups. A record is identified by its number, which
takes the place of a generation.

At every step (`kafkaproof.checker.refine`) both agree on the next record, on the records that each broker waits for,
and on those acknowledged. Once the leader that ZooKeeper names has begun to lead, it leads here too, and its log is the
log.
"""

from dataclasses import replace

from kafkaproof.spec.group import faults
from kafkaproof.spec.group.producer.network import PRODUCER, conclude
from kafkaproof.spec.group.records import APPEND, OFFSET_RECORD, clear_append, forget_append, remember_append
from kafkaproof.spec.group.sorts import Broker
from kafkaproof.spec.group.storage import STORAGE, Failure, acknowledge, leads, may_fail, may_succeed, put_record
from kafkaproof.spec.group.sync import Slot
from kafkaproof.spec.language.domains import Array, Bound, Flag, Number, Record, Sequence, SetOf, renamed
from kafkaproof.spec.language.model import FAULT, Model, Transition
from kafkaproof.spec.language.refinement import Refinement
from kafkaproof.spec.language.sets import contains, difference, is_empty, union, with_member, without_member
from kafkaproof.spec.replica import state
from kafkaproof.spec.replica.broker import LEADER, enough_in_sync
from kafkaproof.spec.replica.clients import network as clients
from kafkaproof.spec.replica.model import CURRENT

LOG_BROKER = Record(
    owned=(Flag(), "it believes that it leads"),
    loading=(Flag(), "never: a load takes no time here"),
    appends=(Sequence(APPEND, Bound("appends")), "appends whose callback has not run"),
)
LOG = renamed(
    Record(
        brokers=(Array(LOG_BROKER, "brokers"), "what each broker waits for"),
        storage=(STORAGE, "the log"),
        producer=(PRODUCER, "no transactions"),
        next=(Number(0, Bound("records")), "the next record"),
        acknowledged=(SetOf("records"), "records whose append has succeeded"),
    ),
    {"epochs": "leaders"},
)


def initial(s):
    """An empty log, which broker 0 leads."""
    s.storage.epoch = 1
    s.brokers[0].owned = 1
    conclude(s.producer)


def append(s, b: Broker, waits: Flag()):
    """A broker appends the next record, whether it leads or not.

    Guards:  it believes that it leads.
    Effects: the record is in the log if the broker leads; a callback waits, if there is one.
    Kafka:   ReplicaManager.appendRecords, 0.10.2 to 3.9.
    """
    if not s.brokers[b].owned:
        return False

    position = put_record(s.storage, b, OFFSET_RECORD, s.next + 1)
    if waits:
        remember_append(s.brokers[b], OFFSET_RECORD, position, s.next + 1, 0)
    s.next += 1
    return True


def succeed(s, b: Broker, i: Slot):
    """An append is acknowledged.

    Guards:  it may be.
    Effects: its callback has run.
    Kafka:   DelayedProduce.onComplete, 0.9 to 3.9.
    """
    append = s.brokers[b].appends.slots[i]
    if append.kind != OFFSET_RECORD or not may_succeed(s.storage, b, append.position):
        return False

    acknowledge(s.storage, append.position)
    s.acknowledged = with_member(s.acknowledged, append.generation - 1)
    forget_append(s.brokers[b], i)
    return True


def fail(s, b: Broker, i: Slot, error: Failure):
    """An append fails.

    Guards:  it may fail with this error.
    Effects: its callback has run.
    Kafka:   DelayedProduce.onComplete, 0.9 to 3.9.
    """
    append = s.brokers[b].appends.slots[i]
    if append.kind != OFFSET_RECORD or not may_fail(s.storage, append.position, error):
        return False

    forget_append(s.brokers[b], i)
    return True


def lead(s, b: Broker):
    """A broker learns that it leads.

    Guards:  it leads, and does not know it.
    Effects: it believes that it leads.
    Kafka:   Partition.makeLeader, 0.9 to 3.9.
    """
    if s.brokers[b].owned or not leads(s.storage, b):
        return False

    s.brokers[b].owned = 1
    return True


def follow(s, b: Broker):
    """A broker learns that it no longer leads.

    Guards:  it no longer leads, and does not know it.
    Effects: it appends nothing from now on.
    Kafka:   Partition.makeFollower, 0.9 to 3.9.
    """
    if not s.brokers[b].owned or leads(s.storage, b):
        return False

    s.brokers[b].owned = 0
    return True


def crash(s, b: Broker):
    """The process of a broker dies.

    Guards:  none.
    Effects: its callbacks are lost, and it no longer believes that it leads.
    Kafka:   none.
    """
    s.brokers[b].owned = 0
    appends = s.brokers[b].appends
    for append in appends.slots:
        clear_append(append)
    appends.length = 0
    s.storage.faults += 1
    return True


TRANSITIONS = (
    Transition(append, "broker {b}"),
    Transition(succeed, "broker {b}"),
    Transition(fail, "broker {b}"),
    Transition(lead, "broker {b}"),
    Transition(follow, "broker {b}"),
    Transition(crash, "broker {b}"),
    Transition(faults.fail_over, "cluster", kind=FAULT),
)
SIZES = (
    "brokers",
    "log",
    "records",
    "leaders",
    "appends",
    "faults",
    "clients",
    "ids",
    "generations",
    "protocols",
    "topics",
    "periods",
)
CONTRACT = Model(
    system="offsets-log",
    variant="contract",
    story="What groups assume about the offsets log.",
    state=LOG,
    initial=initial,
    transitions=TRANSITIONS,
    properties=(),
    scope=dict.fromkeys(SIZES, 1),
    largest=dict.fromkeys(SIZES, 4),
    lanes=lambda scope: ["cluster"],
    abstract=True,
)
NOTING = Record(**{name: (field.domain, field.meaning) for name, field in clients.CLIENTS.fields.items()}).extended(
    acknowledged=(SetOf("records"), "records whose producers were told that all replicas have them")
)


def commit_and_note(s_clients, zk, b, broker):
    """Answer producers that wait for records below the high watermark, and note these records as acknowledged."""
    enough = enough_in_sync(broker)
    for i in range(len(broker.log.slots)):
        if i < broker.hw:
            id = broker.log.slots[i].id
            if enough and contains(broker.waiting, id):
                s_clients.acknowledged = with_member(s_clients.acknowledged, id)
            broker.waiting = without_member(broker.waiting, id)


def noting(model):
    """A variant of `replica` that notes which records were acknowledged."""
    parts = {
        name: (NOTING if name == "clients" else field.domain, field.meaning)
        for name, field in state.STATE.fields.items()
    }
    return replace(model, state=Record(**parts), properties=(), expected={}).rebound({clients.commit: commit_and_note})


REPLICATED = noting(CURRENT)


def scope_of(sizes):
    """The scope of the contract that corresponds to a scope of `replica`."""
    small = dict.fromkeys(("clients", "ids", "protocols", "topics"), 1)
    return small | {
        "brokers": sizes["brokers"],
        "log": sizes["log"],
        "records": sizes["records"],
        "leaders": sizes["epochs"] + 1,
        "appends": sizes["records"],
        "faults": sizes["faults"],
        "generations": sizes["records"],
        "periods": 0,
    }


def passes(s, a):
    """Whether the leader that ZooKeeper names, once it has begun to lead, leads in both with the same log."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        if broker.state == LEADER and s.zk.leader == b and broker.leader_epoch == s.zk.leader_epoch:
            return a.storage.leaders[a.storage.epoch - 1] == b and same_records(broker.log, a.storage.log)
    return True


def same_records(log, other):
    """Whether two logs hold the same records."""
    if log.length != other.length:
        return False
    for i in range(log.length):
        if log.slots[i].id + 1 != other.slots[i].generation:
            return False
    return True


def agrees(s, a):
    """Whether brokers wait for the same records in both, and the same records were acknowledged."""
    for b in range(len(s.brokers)):
        waiting = 0
        for i in range(a.brokers[b].appends.length):
            waiting = with_member(waiting, a.brokers[b].appends.slots[i].generation - 1)
        if waiting != s.brokers[b].waiting:
            return False
    return s.clients.acknowledged == a.acknowledged


def is_matched(a, s):
    """The converse, for a state of the contract and one of `replica`: the same broker leads with the same log; a broker
    that believes it leads in the contract leads in `replica`; what the contract has acknowledged, or still waits for,
    was acknowledged in `replica`, or is still waited for.

    A callback may run later in the contract than in `replica`; and `replica` still waits for an append that has timed
    out in the contract.
    """
    waiting = s.clients.acknowledged
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        waiting = union(waiting, broker.waiting)
        if a.brokers[b].owned and broker.state != LEADER:
            return False
        if a.brokers[b].owned and a.storage.leaders[a.storage.epoch - 1] == b:
            by_right = s.zk.leader == b and broker.leader_epoch == s.zk.leader_epoch
            if not by_right or not same_records(broker.log, a.storage.log):
                return False
    known = is_empty(difference(all_waited_for(a), waiting))
    return known and is_empty(difference(a.acknowledged, s.clients.acknowledged))


def all_waited_for(a):
    """The records that at least one broker waits for."""
    found = 0
    for broker in a.brokers:
        for i in range(broker.appends.length):
            found = with_member(found, broker.appends.slots[i].generation - 1)
    return found


def passes_back(a, s):
    """`passes`, with its arguments exchanged."""
    return passes(s, a)


TO_CONTRACT = Refinement(
    system="replica",
    abstract=CONTRACT,
    added=(),
    equal={"clients.next_record": "next"},
    passes=passes,
    agrees=agrees,
    sizes=scope_of,
    noted=noting,
    name="group",
)


def to_replication(sizes):
    """The converse: every behaviour of the contract is one of `replica` at a scope."""
    return Refinement(
        system="offsets-log",
        abstract=REPLICATED,
        added=(),
        equal={"next": "clients.next_record"},
        passes=passes_back,
        agrees=is_matched,
        sizes=lambda scope: sizes,
    )
