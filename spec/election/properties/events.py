"""Properties of what election relies on: sessions, ephemerals and watches of ZooKeeper, and one event at a time.

They speak of each step of each broker; the properties C1 to C10 speak of the cluster as a whole.
"""

from kafkaproof.spec.election.broker_state import (
    CHECKING,
    CHECKING_TO_ELECT,
    CLEANING,
    CONFIRMING,
    CONFIRMING_EPOCH,
    CREATING,
    DELETING,
    DOWN,
    DYING,
    EXPIRED_SESSION,
    FULL,
    IDLE,
    LOADING,
    MOVING,
    NONE,
    OPEN,
    REGISTERING,
    STARTING,
)
from kafkaproof.spec.kafka.zookeeper import ANSWERED, CHANGED, DELETED, NOTHING, ORPHAN, PROCESS, owns_controller
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains


def session_of_process(s):
    """An open session belongs to a process that believes it open, and watches are armed only in open sessions."""
    for b in range(len(s.brokers)):
        client = s.zk.clients[b]
        if client.session and s.brokers[b].session != OPEN:
            return False
        if client.watch and not client.session:
            return False
    return True


def ends_with_process(s):
    """When a process has ended, nothing is left of what it knew; its znodes belong to an orphaned session."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        client = s.zk.clients[b]
        if broker.session == DOWN:
            if broker.active or broker.ruling != NONE or broker.doing != IDLE or broker.seen_epoch != 0:
                return False
            if client.fired != NOTHING or client.registered == PROCESS or owns_controller(s.zk, b):
                return False
            if broker.ghosts.applied != 0 or broker.epoch != 0 or broker.epoch_version != 0:
                return False
    return True


def has_looked(broker):
    """Whether a broker has read /controller since it registered and since it handled the last notification."""
    doing = broker.doing
    return doing != REGISTERING and doing != DYING and doing != CHECKING and doing != CHECKING_TO_ELECT


def hears_of_controller(s):
    """A broker that has read /controller has its watch armed or its notification to handle; before it registers,
    neither.
    """
    for b in range(len(s.brokers)):
        client = s.zk.clients[b]
        doing = s.brokers[b].doing
        hears = client.watch or client.fired != NOTHING
        if (doing == REGISTERING or doing == DYING) and hears:
            return False
        if client.session and has_looked(s.brokers[b]) and not hears:
            return False
    return True


def knows_controller(s):
    """A broker that has no event left to handle is active if and only if /controller names it."""
    for b in range(len(s.brokers)):
        client = s.zk.clients[b]
        doing = s.brokers[b].doing
        quiet = client.session and client.watch and client.fired == NOTHING
        if quiet and s.zk.controller == b and doing == DELETING and s.brokers[b].epoch_version != s.zk.epoch_version:
            return False
        if quiet and doing == CONFIRMING_EPOCH and s.zk.controller != b:
            return False
        rests = doing == IDLE or doing == CLEANING or doing == LOADING or doing == MOVING
        if quiet and rests:
            if s.brokers[b].active and s.zk.controller != b:
                return False
            if not s.brokers[b].active and s.zk.controller == b:
                return False
    return True


def registered_first(s):
    """A broker takes part in elections only after it has created /brokers/ids/b, in the same session."""
    for b in range(len(s.brokers)):
        doing = s.brokers[b].doing
        if s.zk.clients[b].session and doing != REGISTERING and doing != DYING:
            if s.zk.clients[b].registered != PROCESS:
                return False
    return True


def term_is_whole(s):
    """A broker has the epoch and version of a term while it is controller or must delete its /controller, else none."""
    for broker in s.brokers:
        rules = broker.ruling != NONE or broker.doing == DELETING
        if rules and (broker.epoch < 1 or broker.epoch_version < 1):
            return False
        if not rules and (broker.epoch != 0 or broker.epoch_version != 0):
            return False
        if broker.doing == CLEANING and (broker.ruling != STARTING or not broker.active):
            return False
        if broker.doing == LOADING and (broker.ruling == NONE or not broker.active):
            return False
        if broker.doing == DELETING and (broker.active or broker.ruling != NONE):
            return False
    return True


def election_forgotten(s):
    """The epoch that a candidate has read is kept until its registration is decided, and no longer."""
    for broker in s.brokers:
        stands = broker.doing == CREATING or broker.doing == CONFIRMING or broker.doing == CONFIRMING_EPOCH
        if not stands and (broker.read_epoch != 0 or broker.read_version != 0):
            return False
    return True


def same_mind(old, new):
    """Whether what a broker knows and does is unchanged."""
    return (
        old.session == new.session
        and old.doing == new.doing
        and old.active == new.active
        and old.ruling == new.ruling
        and old.epoch == new.epoch
        and old.epoch_version == new.epoch_version
        and old.seen_epoch == new.seen_epoch
    )


def same_tree(old, new):
    """Whether ZooKeeper is unchanged except for sessions and faults."""
    return (
        old.controller == new.controller
        and old.controller_orphaned == new.controller_orphaned
        and old.epoch == new.epoch
        and old.epoch_version == new.epoch_version
        and old.state_epoch == new.state_epoch
        and old.state_readers == new.state_readers
    )


def down_does_nothing(before, after):
    """A broker without a process does nothing, and takes no request, until it starts."""
    for b in range(len(after.brokers)):
        if before.brokers[b].session == DOWN and after.brokers[b].session == DOWN:
            if not same_mind(before.brokers[b], after.brokers[b]):
                return False
    return True


def process_receives(before, after, b, epoch):
    """A control request is received by a live process, which refuses it or remembers its epoch."""
    old = before.brokers[b]
    new = after.brokers[b]
    if old.session == DOWN or not contains(before.network.requests[epoch], b):
        return False
    if contains(after.network.requests[epoch], b):
        return False
    return new.seen_epoch == max(old.seen_epoch, epoch)


def expired_is_told(before, after, b):
    """A request in an expired session changes nothing in ZooKeeper; the broker learns of the expiry, and the event
    ends.
    """
    if before.zk.clients[b].session:
        return after.brokers[b].session == OPEN
    new = after.brokers[b]
    told = new.session == EXPIRED_SESSION and new.doing == IDLE and after.zk.clients[b].watch == 0
    return told and same_tree(before.zk, after.zk) and new.active == before.brokers[b].active


def expired_write_is_told(before, after, b, delivery):
    """A write in an expired session changes nothing in ZooKeeper; unless the connection is lost before the answer, the
    broker learns of the expiry, and the event ends.
    """
    if delivery != ANSWERED and not before.zk.clients[b].session and after.brokers[b].session == OPEN:
        return same_tree(before.zk, after.zk)
    return expired_is_told(before, after, b)


def events_in_turn(before, after, b):
    """An event begins when its broker has none in progress; the broker has a process, and a session if ZooKeeper
    sent the event.
    """
    old = before.brokers[b]
    new = after.brokers[b]
    if old.session == DOWN or old.doing != IDLE or new.doing == IDLE:
        return False
    if new.doing == REGISTERING:
        return old.session == EXPIRED_SESSION and new.ruling == NONE and not new.active
    return old.session == OPEN and before.zk.clients[b].fired != NOTHING and after.zk.clients[b].fired == NOTHING


def fails_at_work(before, after, b):
    """A controller is forced to resign by its own work: by an event that ends, or by its failover."""
    old = before.brokers[b]
    works = old.doing == IDLE or old.doing == CLEANING or old.doing == LOADING
    return old.session != DOWN and old.active == 1 and works and after.brokers[b].doing == MOVING


def registration_is_one(before, after):
    """/controller is created by a candidate, in the transaction that raises the epoch by one, and only where there is
    none.
    """
    owner = after.zk.controller
    if before.zk.controller == owner or owner == NOBODY:
        return before.zk.controller_orphaned == after.zk.controller_orphaned or before.zk.controller != NOBODY
    if before.zk.controller != NOBODY or after.zk.controller_orphaned:
        return False
    stood = before.brokers[owner].doing == CREATING and before.zk.clients[owner].session
    return stood and after.zk.epoch == before.zk.epoch + 1 and after.zk.epoch_version == before.zk.epoch_version + 1


def epoch_with_controller(before, after):
    """/controller_epoch is raised only by the transaction that creates /controller."""
    made = after.zk.controller != NOBODY and before.zk.controller == NOBODY
    return before.zk.epoch < 0 or before.zk.epoch == after.zk.epoch or made


def controller_stays(before, after):
    """/controller ends with the session that created it, or is deleted by its owner, which has resigned, or by hand."""
    owner = before.zk.controller
    if owner == NOBODY or after.zk.controller == owner:
        return True
    if after.zk.controller != NOBODY or after.zk.controller_orphaned:
        return False
    if after.zk.faults > before.zk.faults or before.brokers[owner].doing == DELETING:
        return True
    if before.zk.controller_orphaned:
        return before.zk.clients[owner].session == after.zk.clients[owner].session
    return not after.zk.clients[owner].session


def watch_speaks_once(before, after):
    """A change of /controller fires every armed watch, once; nothing else does."""
    for b in range(len(after.brokers)):
        old = before.zk.clients[b]
        new = after.zk.clients[b]
        event = NOTHING
        if before.zk.controller != after.zk.controller:
            event = DELETED if after.zk.controller == NOBODY else CHANGED
        if old.watch and old.session and new.session and event != NOTHING:
            if new.watch or new.fired != max(old.fired, event):
                return False
        if new.fired > old.fired and (not old.watch or new.fired > event):
            return False
    return True


def ephemerals_go(before, after, b):
    """When the session of a former process expires, all its ephemerals are deleted."""
    owned = before.zk.clients[b].registered == ORPHAN
    if before.zk.controller == b and before.zk.controller_orphaned:
        owned = True
        if after.zk.controller != NOBODY:
            return False
    return owned and after.zk.clients[b].registered != ORPHAN


def fault_strikes(before, after, b):
    """Only an existing process dies or stops, and only an open session expires; afterwards it has ended."""
    if after.zk.clients[b].session:
        return False
    if before.brokers[b].session != DOWN and after.brokers[b].session == DOWN:
        return True
    return before.zk.clients[b].session == 1 and before.brokers[b].session == after.brokers[b].session


def answer_ends_step(before, after, b):
    """A read that is answered, even with EXPIRED, leads to another step of the event, or ends it."""
    return before.brokers[b].doing != after.brokers[b].doing


def reads_what_is(before, after, b):
    """A candidate that has read the epoch knows its value and its version."""
    broker = after.brokers[b]
    if broker.doing != CREATING:
        return True
    return broker.read_epoch == before.zk.epoch and broker.read_version == before.zk.epoch_version


def writes_its_epoch(before, after, b, delivery):
    """A controller writes its epoch into the partition state, in an open session, on the version that is there."""
    if same_tree(before.zk, after.zk):
        return True
    broker = before.brokers[b]
    if not before.zk.clients[b].session or broker.epoch_version != before.zk.epoch_version:
        return False
    return after.zk.state_epoch == broker.epoch and contains(before.zk.state_readers, b)


def works_while_ruling(before, after, b):
    """Only a controller works as one: its context is ready, or being loaded."""
    broker = before.brokers[b]
    ready = broker.ruling == FULL and (broker.doing == IDLE or broker.doing == LOADING)
    return broker.active == 1 and (ready or broker.ruling == STARTING and broker.doing != IDLE)


def writes_while_ruling(before, after, b, choice):
    """Only a controller writes or sends as one: its context is ready, or being loaded."""
    return works_while_ruling(before, after, b)


def forced_resignation(s):
    """A controller that was forced to resign, and has checked that it still is one, deletes /controller next."""
    for broker in s.brokers:
        if broker.doing == DELETING:
            return True
    return False


READS = (
    "register_broker",
    "maybe_resign",
    "look_for_controller",
    "learn_epoch",
    "confirm_controller",
    "confirm_epoch",
    "trigger_move",
)
WRITES = ("found_epoch", "register", "clean", "write_state", "write_when_asked", "delete_own_controller")
ALWAYS = (
    always(session_of_process),
    always(ends_with_process),
    always(hears_of_controller),
    always(knows_controller),
    always(registered_first),
    always(term_is_whole),
    always(election_forgotten),
)
STEPS = (
    always_step(down_does_nothing),
    always_step(process_receives, of=("leader_and_isr", "update_metadata", "stop_replica")),
    always_step(expired_is_told, of=(*READS, "load")),
    always_step(expired_write_is_told, of=WRITES),
    always_step(answer_ends_step, of=READS),
    always_step(events_in_turn, of=("handle_change", "reopen")),
    always_step(fails_at_work, of=("fail_batch",)),
    always_step(registration_is_one),
    always_step(epoch_with_controller),
    always_step(controller_stays),
    always_step(watch_speaks_once),
    always_step(ephemerals_go, of=("expire_orphan",)),
    always_step(fault_strikes, of=("crash", "stop", "expire_session")),
    always_step(works_while_ruling, of=("load",)),
    always_step(writes_while_ruling, of=("clean", "write_state", "write_when_asked", "send")),
    always_step(reads_what_is, of=("learn_epoch",)),
    always_step(writes_its_epoch, of=("write_state", "write_when_asked")),
)
FENCED = ALWAYS + STEPS + (sometimes(forced_resignation, faults=1),)
OF_KNOWLEDGE = ("knows_controller", "term_is_whole", "works_while_ruling", "writes_while_ruling")
"""Properties that hold only where brokers know the controller; they may not where an operator writes or servers lag."""
OF_THE_PRESENT = ("reads_what_is", "watch_speaks_once")
"""Properties of reads and notifications that are up to date; where servers lag they need not be."""
EDITED = tuple(p for p in FENCED if p.name not in OF_KNOWLEDGE)
LAGGING = tuple(p for p in EDITED if p.name not in OF_THE_PRESENT)
