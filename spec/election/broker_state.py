"""What one broker knows: its session, the controller event in progress, and its term as controller.

`doing` is the program counter of the one event that a controller has in progress (one thread, one
event at a time, from 0.11 on; one lock before). activeControllerId is kept as far as it is ever
compared: whether it is the broker itself (`active`).
"""

from kafkaproof.spec.election.network import NETWORK
from kafkaproof.spec.kafka.zookeeper import ZOOKEEPER
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Number, Record

Session = Choice("DOWN", "OPEN", "EXPIRED")
DOWN, OPEN, EXPIRED_SESSION = Session
Doing = Choice(
    "IDLE",
    "REGISTERING",  # must create /brokers/ids/b
    "DYING",  # found its id taken: must close its session and end
    "CHECKING",  # maybeResign: must read /controller
    "CHECKING_TO_ELECT",  # maybeResign, and elect afterwards
    "ELECTING",  # elect: must read /controller
    "READING_EPOCH",  # found no controller: must read /controller_epoch
    "CREATING_EPOCH",  # found no epoch: must create /controller_epoch
    "CREATING",  # must create /controller (2.1+: and raise the epoch)
    "CONFIRMING",  # /controller exists: must see who owns it
    "CONFIRMING_EPOCH",  # owns it: must see whether the epoch is its own too
    "RAISING",  # owns /controller, up to 2.0: must raise the epoch
    "CLEANING",  # controller: must delete notifications
    "LOADING",  # controller: must read the partition state
    "MOVING",  # forced to resign: triggerControllerMove
    "DELETING",  # resigned: must delete /controller
)
(
    IDLE,
    REGISTERING,
    DYING,
    CHECKING,
    CHECKING_TO_ELECT,
    ELECTING,
    READING_EPOCH,
    CREATING_EPOCH,
    CREATING,
    CONFIRMING,
    CONFIRMING_EPOCH,
    RAISING,
    CLEANING,
    LOADING,
    MOVING,
    DELETING,
) = Doing
Ruling = Choice("NONE", "STARTING", "FULL")
NONE, STARTING, FULL = Ruling

HISTORY = Record(applied=(Number(0, Bound("epochs")), "controller epoch of the last request that was accepted"))
BROKER = Record(
    session=(Session, "what the process knows about its session; DOWN without a process"),
    doing=(Doing, "the controller event in progress"),
    active=(Flag(), "activeControllerId is the broker itself"),
    ruling=(Ruling, "how far onControllerFailover came, unless onControllerResignation has run since"),
    epoch=(Number(0, Bound("epochs")), "controller epoch of the term, 0 without one"),
    epoch_version=(Number(0, Bound("epochs")), "version of /controller_epoch of the term"),
    read_epoch=(Number(0, Bound("epochs")), "value of /controller_epoch read in this election"),
    read_version=(Number(0, Bound("epochs")), "its version"),
    seen_epoch=(Number(0, Bound("epochs")), "highest controller epoch in a request that was accepted"),
    ghosts=(HISTORY, "history, for properties only"),
)


def state_of(broker, zookeeper=ZOOKEEPER):
    """The record of a whole state, with records `broker` for the brokers and `zookeeper` for ZooKeeper."""
    return Record(
        zk=(zookeeper, "ZooKeeper"),
        brokers=(Array(broker, "brokers"), "what each broker knows"),
        network=(NETWORK, "control requests on their way"),
    )


STATE = state_of(BROKER)


def initial(s):
    """No broker runs; ZooKeeper has the state of the partition, and no /controller_epoch."""
    s.zk.controller = NOBODY
    s.zk.epoch = -1


def begin_term(broker, epoch, version):
    """The registration has succeeded: onControllerFailover starts, in this epoch."""
    broker.active = 1
    broker.ruling = STARTING
    broker.epoch = epoch
    broker.epoch_version = version
    end_election(broker, CLEANING)


def end_election(broker, doing):
    """Leave the election for another step, and forget the epoch that was read."""
    broker.read_epoch = 0
    broker.read_version = 0
    broker.doing = doing


def resign(broker):
    """onControllerResignation: the context is emptied."""
    broker.ruling = NONE
    broker.epoch = 0
    broker.epoch_version = 0


def lapse(broker):
    """A request was answered EXPIRED: the event in progress fails, beliefs stay."""
    broker.session = EXPIRED_SESSION
    end_election(broker, IDLE)
    if broker.ruling == NONE:
        resign(broker)


def end_process(broker):
    """The process is gone with all that it knew."""
    broker.session = DOWN
    broker.active = 0
    broker.seen_epoch = 0
    broker.ghosts.applied = 0
    resign(broker)
    end_election(broker, IDLE)
