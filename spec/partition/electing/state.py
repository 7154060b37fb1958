"""What an election in steps adds to the state of `partition`: what *election* keeps of a candidate, and of the epoch.

The candidate's part of a broker is that of *election*, with its names. The term is that of *partition*: it begins where
the election ends, and ends with `forget`.
"""

from kafkaproof.spec.election import broker_state as candidate
from kafkaproof.spec.election.broker_state import CREATING, IDLE, end_election
from kafkaproof.spec.kafka import zookeeper as elections
from kafkaproof.spec.language.domains import Array, Record
from kafkaproof.spec.partition import context, znodes
from kafkaproof.spec.partition.context import READING_BROKERS
from kafkaproof.spec.partition.context import start_process as start_rest
from kafkaproof.spec.partition.network import NETWORK
from kafkaproof.spec.partition.state import initial as begin

NO_EPOCH_YET = -1


def fields_of(record, *names):
    """Some fields of another record, as they are declared there."""
    return {name: (record.fields[name].domain, record.fields[name].meaning) for name in names}


BROKER = context.BROKER.extended(
    **fields_of(candidate.BROKER, "doing", "active", "epoch", "read_epoch", "read_version")
)
GHOSTS = znodes.GHOSTS.extended(**fields_of(elections.GHOSTS, *elections.GHOSTS.fields))
ZOOKEEPER = znodes.ZOOKEEPER.changed(
    ghosts=(GHOSTS, "history, for properties only"), **fields_of(elections.ZOOKEEPER, "epoch")
).extended(**fields_of(elections.ZOOKEEPER, "epoch_version"))
STATE = Record(
    zk=(ZOOKEEPER, "ZooKeeper"),
    brokers=(Array(BROKER, "brokers"), "what each broker knows"),
    network=(NETWORK, "requests on their way"),
)


def initial(s):
    """As with elections in one step, but there is no /controller_epoch yet."""
    begin(s)
    s.zk.epoch = NO_EPOCH_YET


def start_process(broker):
    """A process begins, as without elections in steps; it is no candidate."""
    start_rest(broker)
    broker.active = 0
    broker.epoch = 0
    end_election(broker, IDLE)


def begin_term(broker, epoch, version):
    """The election has succeeded: onControllerFailover goes on, in this epoch."""
    broker.active = 0
    broker.epoch = epoch
    broker.controller.epoch = epoch
    broker.controller.doing = READING_BROKERS
    end_election(broker, IDLE)


def lapse(broker):
    """A request was answered EXPIRED: the election fails."""
    broker.active = 0
    end_election(broker, IDLE)


def ask_again(broker):
    """A request was answered EXPIRED: it is made once more in the next session (up to 1.0)."""
    return 0


def resign(broker):
    """A candidate has no context that could be emptied."""
    broker.active = 0


def is_between(broker):
    """Whether a candidate has created /controller, and is still to raise the epoch."""
    return broker.active == 1 and broker.doing != CREATING
