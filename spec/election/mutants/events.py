"""Mutants of what election stands on: sessions, ephemerals, watches, one event at a time; on the variant `fenced`."""

from kafkaproof.spec.election import election, faults, session
from kafkaproof.spec.election.active_controller import at_work
from kafkaproof.spec.election.broker_state import (
    CHECKING,
    CHECKING_TO_ELECT,
    DOWN,
    ELECTING,
    FULL,
    IDLE,
    MOVING,
    NONE,
    OPEN,
    end_election,
    end_process,
    lapse,
    resign,
)
from kafkaproof.spec.election.mutants.election import (
    NO_FAULT,
    TWO,
    UNCHECKED_CONTROLLER,
    UNCHECKED_STATE,
    UNVERSIONED,
    half_a_multi,
    mutant,
)
from kafkaproof.spec.election.network import Epoch, Receiver, arriving, take_request
from kafkaproof.spec.election.requests import is_stale, leader_and_isr, obey
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.zookeeper import (
    ABSENT,
    EXPIRED,
    LOST_DROPPED,
    MINE,
    NOBODY,
    NODEEXISTS,
    NONODE,
    OK,
    PROCESS,
    create_controller_and_set_epoch,
    create_epoch,
    end_orphan,
    end_session,
    fire,
    get_epoch,
    open_session,
    outcome,
    owns_controller,
    read_controller,
    remove_controller,
    session_open,
    take_event,
)


def leave_session(zk, b):
    """closeSession that takes the ephemerals away and leaves the session open."""
    if zk.clients[b].registered == PROCESS:
        zk.clients[b].registered = ABSENT
    if owns_controller(zk, b):
        remove_controller(zk)
    return OK


def remember_seen(broker):
    """A process that starts again remembers the highest epoch that its predecessor had seen."""
    broker.session = DOWN
    broker.active = 0
    broker.ghosts.applied = 0
    resign(broker)
    end_election(broker, IDLE)


def read_unwatched(zk, b):
    """getData of /controller that arms no watch."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.controller == NOBODY:
        return NONODE
    return MINE if zk.controller == b else OK


def keep_activity(s, b: Broker):
    """A broker that reads that another is the controller stays active."""
    broker = s.brokers[b]
    if broker.doing != CHECKING and broker.doing != CHECKING_TO_ELECT:
        return False

    answer = read_controller(s.zk, b)
    if answer == EXPIRED:
        lapse(broker)
        return True
    broker.doing = ELECTING if broker.doing == CHECKING_TO_ELECT else IDLE
    return True


def start_unregistered(s, b: Broker):
    """A process looks for the controller before it has created /brokers/ids/b."""
    broker = s.brokers[b]
    if broker.session != DOWN:
        return False

    open_session(s.zk, b)
    broker.session = OPEN
    broker.doing = CHECKING_TO_ELECT
    return True


def resign_keeping_version(broker):
    """A broker that gives up its term keeps the version of the epoch."""
    broker.ruling = NONE
    broker.epoch = 0


def end_election_remembering(broker, doing):
    """A candidate whose registration is decided keeps what it has read of the epoch."""
    broker.doing = doing


def obey_without_process(s, b: Receiver, epoch: Epoch):
    """A request is obeyed by a broker whose process is gone."""
    if not arriving(s.network, b, epoch):
        return False

    take_request(s.network, b, epoch)
    if not is_stale(s.brokers[b], epoch):
        obey(s.brokers[b], epoch)
    return True


def read_after_expiry(zk, b):
    """getData of /controller is answered in a session that is over."""
    zk.clients[b].watch = 1
    if zk.controller == NOBODY:
        return NONODE
    return MINE if zk.controller == b else OK


def create_epoch_after_expiry(zk, b, value, delivery):
    """/controller_epoch is created in a session that is over."""
    answer = NODEEXISTS if zk.epoch >= 0 else OK
    if answer == OK and delivery != LOST_DROPPED:
        zk.epoch = value
    return outcome(zk, answer, delivery)


def stay(broker, doing):
    """A candidate that was refused asks again, for ever."""
    broker.read_epoch = 0
    broker.read_version = 0


def leave_event(zk, b):
    """What the watch said is handled, and stays to be handled again."""
    return OK


def obey_anew(broker, epoch):
    """A request is obeyed, and its epoch is not remembered."""
    broker.ghosts.applied = epoch


def at_work_amid(broker):
    """A controller goes on working while another event is in progress."""
    return broker.ruling == FULL


def fire_again(zk, event):
    """A watch that stays armed when it has spoken."""
    for client in zk.clients:
        if client.watch and client.fired < event:
            client.fired = event


def end_orphan_in_part(zk, b):
    """The session of a former process expires and leaves /brokers/ids/b."""
    if zk.controller == b and zk.controller_orphaned:
        remove_controller(zk)


def read_value_alone(zk, b, reader):
    """getData of /controller_epoch that takes no notice of its version."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.epoch < 0:
        return NONODE
    reader.read_epoch = zk.epoch
    return OK


def fail_amid(s, b: Broker):
    """A controller is forced to resign in the middle of any event."""
    broker = s.brokers[b]
    if broker.session == DOWN or not broker.active or broker.doing == MOVING:
        return False

    broker.doing = MOVING
    s.zk.faults += 1
    return True


HALF = {create_controller_and_set_epoch: half_a_multi}
MUTANTS = (
    mutant("session-outlives-process", "session_of_process", {end_session: leave_session}),
    mutant("seen-epoch-outlives-process", "ends_with_process", {end_process: remember_seen}),
    mutant("controller-unwatched", "hears_of_controller", {read_controller: read_unwatched}, NO_FAULT),
    mutant("active-for-ever", "knows_controller", {election.maybe_resign: keep_activity}),
    mutant("unregistered", "registered_first", {session.start: start_unregistered}, NO_FAULT),
    mutant("version-kept", "term_is_whole", {resign: resign_keeping_version}),
    mutant("candidacy-remembered", "election_forgotten", {end_election: end_election_remembering}, NO_FAULT),
    mutant("obeyed-without-process", "down_does_nothing", {leader_and_isr: obey_without_process}),
    mutant("seen-epoch-forgotten", "process_receives", {obey: obey_anew}, NO_FAULT),
    mutant("read-after-expiry", "expired_is_told", {read_controller: read_after_expiry}),
    mutant("created-after-expiry", "expired_write_is_told", {create_epoch: create_epoch_after_expiry}),
    mutant("asked-for-ever", "answer_ends_step", {end_election: stay}),
    mutant("event-left", "events_in_turn", {take_event: leave_event}, NO_FAULT),
    mutant("fails-amid", "fails_at_work", {faults.fail_batch: fail_amid}),
    mutant("registered-on-any-version", "registration_is_one", UNVERSIONED),
    mutant("raised-without-controller", "epoch_with_controller", HALF),
    mutant("foreign-controller-deleted", "controller_stays", UNCHECKED_CONTROLLER, TWO),
    mutant("watch-stays-armed", "watch_speaks_once", {fire: fire_again}, NO_FAULT),
    mutant("broker-id-left", "ephemerals_go", {end_orphan: end_orphan_in_part}),
    mutant("session-never-closed", "fault_strikes", {end_session: leave_session}),
    mutant("working-amid", "works_while_ruling", {at_work: at_work_amid}),
    mutant("writing-amid", "writes_while_ruling", {at_work: at_work_amid}),
    mutant("version-unread", "reads_what_is", {get_epoch: read_value_alone}, NO_FAULT),
    mutant("written-by-the-deposed", "writes_its_epoch", UNCHECKED_STATE),
)
