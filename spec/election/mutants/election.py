"""Mutants of controller election: one deliberate mistake each, on the variant `fenced`.

Mutations known for C1 to C10 and that this system can express. A mutant is not held
to the rules of writing a transition.
"""

from kafkaproof.spec.election import active_controller, election, requests
from kafkaproof.spec.election.broker_state import CONFIRMING, CREATING, DOWN, FULL, IDLE, LOADING, begin_term, lapse
from kafkaproof.spec.election.history.requests import unchecked_delete_notification, unchecked_set_state
from kafkaproof.spec.election.model import scope
from kafkaproof.spec.election.network import Epoch, Receiver, arriving, put_request, take_request
from kafkaproof.spec.election.requests import is_stale, obey
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.zookeeper import (
    ABSENT,
    BADVERSION,
    EXPIRED,
    LOST_DROPPED,
    NODEEXISTS,
    OK,
    PROCESS,
    Delivery,
    checked_delete_controller,
    checked_delete_notification,
    checked_set_state,
    create_controller_and_set_epoch,
    delete_controller,
    end_session,
    get_epoch,
    outcome,
    owns_controller,
    put_controller,
    put_epoch,
    read_state,
    session_open,
)
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere
from kafkaproof.spec.language.sets import with_member


def leave_controller(zk, b):
    """closeSession that forgets /controller."""
    client = zk.clients[b]
    client.session = 0
    client.watch = 0
    if client.registered == PROCESS:
        client.registered = ABSENT
    return OK


def leave_broker_id(zk, b):
    """closeSession that forgets /brokers/ids/b."""
    zk.clients[b].session = 0
    zk.clients[b].watch = 0
    if owns_controller(zk, b):
        zk.controller = NOBODY
    return OK


def raise_any_version(zk, b, value, version, delivery):
    """multi[create /controller, setData /controller_epoch whatever its version]."""
    if not session_open(zk, b):
        return EXPIRED
    answer = NODEEXISTS if zk.controller != NOBODY else OK
    if answer == OK and delivery != LOST_DROPPED:
        put_controller(zk, b)
        put_epoch(zk, value)
    return outcome(zk, answer, delivery)


def half_a_multi(zk, b, value, version, delivery):
    """A multi that is not all or nothing: the epoch is raised although /controller exists."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.controller != NOBODY and zk.epoch_version == version and delivery != LOST_DROPPED:
        put_epoch(zk, value)
        return outcome(zk, NODEEXISTS, delivery)
    return create_controller_and_set_epoch(zk, b, value, version, delivery)


def keep_epoch(s, b: Broker, delivery: Delivery):
    """Registration that raises the epoch at the first election only."""
    broker = s.brokers[b]
    if broker.doing != CREATING:
        return False

    epoch = max(1, broker.read_epoch)
    answer = create_controller_and_set_epoch(s.zk, b, epoch, broker.read_version, delivery)
    if answer == OK:
        begin_term(broker, epoch, broker.read_version + 1)
    elif answer == NODEEXISTS or answer == BADVERSION:
        broker.doing = CONFIRMING
    elif answer == EXPIRED:
        lapse(broker)
    return True


def unchecked_delete_controller(zk, b, epoch, version, delivery):
    """/controller deleted without the check of the epoch."""
    return delete_controller(zk, b, epoch, delivery)


def read_any_state(zk, b, epoch):
    """The state written without the check of the epoch, by controllers that do not mind a newer one."""
    if not session_open(zk, b):
        return EXPIRED
    zk.state_readers = with_member(zk.state_readers, b)
    return OK


def refresh_version(s, b: Broker):
    """A controller reads the epoch's version again before it goes to work."""
    broker = s.brokers[b]
    if broker.doing != LOADING:
        return False

    answer = read_state(s.zk, b, broker.epoch)
    if answer == OK:
        get_epoch(s.zk, b, broker)
        broker.epoch_version = broker.read_version
        broker.read_epoch = 0
        broker.read_version = 0
        broker.ruling = FULL
        broker.doing = IDLE
    elif answer == EXPIRED:
        lapse(broker)
    return True


def obey_any(s, b: Receiver, epoch: Epoch):
    """A request is obeyed whatever its epoch."""
    if s.brokers[b].session == DOWN or not arriving(s.network, b, epoch):
        return False

    take_request(s.network, b, epoch)
    obey(s.brokers[b], epoch)
    return True


def obey_and_forget(s, b: Receiver, epoch: Epoch):
    """A request is compared and obeyed, but its epoch is not remembered."""
    broker = s.brokers[b]
    if broker.session == DOWN or not arriving(s.network, b, epoch):
        return False

    take_request(s.network, b, epoch)
    if not is_stale(broker, epoch):
        broker.ghosts.applied = epoch
    return True


def send_early(s, b: Broker, to: Receiver):
    """A candidate sends requests with the epoch that it is about to write."""
    if s.brokers[b].doing != CREATING:
        return False

    put_request(s.network, to, s.brokers[b].read_epoch + 1)
    return True


ONE = scope()
TWO = scope(epochs=3, faults=2)
NO_FAULT = scope(faults=0)


def mutant(name, kills, replacements, scope=ONE):
    """A mutant of `fenced`, told by the docstring of what replaces something."""
    told = next(iter(replacements.values()))
    return Mutant(name, first_paragraph(told), kills, everywhere(replacements), scope)


def in_each_request(name, replacement):
    """One mutant for each kind of control request."""
    kinds = (requests.leader_and_isr, requests.update_metadata, requests.stop_replica)
    return tuple(
        mutant(f"{kind.__name__.replace('_', '-')}-{name}", "applied_never_fall", {kind: replacement}) for kind in kinds
    )


UNVERSIONED = {create_controller_and_set_epoch: raise_any_version}
UNRAISED = {election.register: keep_epoch}
UNCHECKED_STATE = {checked_set_state: unchecked_set_state}
BLIND = {read_state: read_any_state, checked_set_state: unchecked_set_state}
UNCHECKED_NOTIFICATION = {checked_delete_notification: unchecked_delete_notification}
UNCHECKED_CONTROLLER = {checked_delete_controller: unchecked_delete_controller}

MUTANTS = (
    mutant("controller-outlives-session", "one_owner", {end_session: leave_controller}),
    mutant("broker-id-outlives-session", "one_owner", {end_session: leave_broker_id}),
    mutant("epoch-without-version", "epoch_unique", UNVERSIONED),
    mutant("epoch-not-raised", "epoch_unique", UNRAISED),
    mutant("ruling-in-an-old-epoch", "own_epoch", UNRAISED),
    mutant("state-unchecked", "no_stale_write", UNCHECKED_STATE),
    mutant("notification-unchecked", "no_stale_write", UNCHECKED_NOTIFICATION),
    mutant("controller-unchecked", "no_stale_write", UNCHECKED_CONTROLLER, TWO),
    mutant("version-refreshed", "one_token", {active_controller.load: refresh_version}),
    *in_each_request("uncompared", obey_any),
    *in_each_request("forgotten", obey_and_forget),
    mutant("resignation-unconditional", "deletes_own", UNCHECKED_CONTROLLER, TWO),
    mutant("zombie-writes-state", "idle_zombie", UNCHECKED_STATE),
    mutant("zombie-deletes-notification", "idle_zombie", UNCHECKED_NOTIFICATION),
    mutant("epoch-sent-before-written", "epoch_bound", {active_controller.send: send_early}, NO_FAULT),
    mutant("epoch-set-unconditionally", "epoch_node", UNVERSIONED),
    mutant("state-epoch-falls", "state_epoch_never_falls", BLIND),
    mutant("half-a-multi", "owner_is_newest", {create_controller_and_set_epoch: half_a_multi}),
)
