"""The election system: its variants, oldest first, and what is known of each."""

from kafkaproof.spec.election import active_controller, broker_state, election, faults, requests, session
from kafkaproof.spec.election.history import legacy, standing, zkclient, zkclient_session
from kafkaproof.spec.election.history import requests as old
from kafkaproof.spec.election.lagging import faults as lagging_faults
from kafkaproof.spec.election.lagging import zookeeper as lagging
from kafkaproof.spec.election.properties import events, liveness
from kafkaproof.spec.election.properties import safety as properties
from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.kafka import zookeeper
from kafkaproof.spec.kafka.declarations import ASK, BROKER, ZOOKEEPER, acting, asking, lanes
from kafkaproof.spec.language.domains import Size
from kafkaproof.spec.language.model import CONTINUATION, FAULT, Arrow, Model, Transition, among
from kafkaproof.spec.language.releases import Releases

WATCH = Arrow(ZOOKEEPER, BROKER, "/controller", "event")
EXPIRY = Arrow(ZOOKEEPER, BROKER, "session expired", "event")
SEND = Arrow(BROKER, "broker {to}", "control request")

SEAMS = (
    zookeeper.open_session,
    zookeeper.create_broker,
    zookeeper.read_controller,
    zookeeper.get_epoch,
    zookeeper.create_epoch,
    zookeeper.create_controller_and_set_epoch,
    zookeeper.read_state,
    zookeeper.checked_set_state,
    zookeeper.checked_delete_controller,
    zookeeper.checked_delete_notification,
    zookeeper.delete_controller,
    old.reopen_session,
    old.read_owner,
    old.set_epoch,
    old.create_controller,
    old.unchecked_set_state,
    old.unchecked_delete_notification,
)


FAULTS = (
    *declared.faults(faults.crash, lane=BROKER),
    Transition(faults.stop, BROKER, (ASK,), kind=FAULT),
    *declared.faults(faults.expire_session, faults.expire_orphan, faults.delete_controller),
    *declared.faults(faults.fail_batch, lane=BROKER),
)
NOTICE = Transition(session.notice_expiry, BROKER, (EXPIRY,))
SESSION = (
    *asking(session.start),
    *asking(session.register_broker, session.die, kind=CONTINUATION),
    *asking(session.reopen),
    NOTICE,
)
REQUESTS = acting(requests.leader_and_isr, requests.update_metadata, requests.stop_replica)
CHANGE = Transition(election.handle_change, BROKER, (WATCH,))
IN_ONE_MULTI = asking(
    election.maybe_resign,
    election.look_for_controller,
    election.learn_epoch,
    election.found_epoch,
    election.register,
    election.confirm_controller,
    election.confirm_epoch,
    kind=CONTINUATION,
)
"""The steps of an election from 2.1 on, and up to 2.0."""
IN_TWO_WRITES = asking(
    election.maybe_resign,
    legacy.look_for_controller,
    legacy.create,
    legacy.confirm_owner,
    legacy.learn_epoch,
    legacy.raise_epoch,
    legacy.found_epoch,
    kind=CONTINUATION,
)
FENCED_CONTROLLER = (
    CHANGE,
    *IN_ONE_MULTI,
    *asking(
        active_controller.clean,
        active_controller.load,
        active_controller.write_state,
        active_controller.write_when_asked,
        active_controller.trigger_move,
    ),
    *asking(active_controller.delete_own_controller, kind=CONTINUATION),
    Transition(active_controller.send, BROKER, (SEND,)),
)
LEGACY_CONTROLLER = (
    CHANGE,
    *IN_TWO_WRITES,
    *asking(legacy.clean, active_controller.load, legacy.write_state),
    *asking(legacy.delete_any_controller, kind=CONTINUATION),
    *acting(legacy.trigger_move),
    Transition(active_controller.send, BROKER, (SEND,)),
)
ZKCLIENT_SESSION = (
    *asking(zkclient_session.start),
    *asking(zkclient_session.register_broker, session.die, kind=CONTINUATION),
    *asking(zkclient_session.reopen, zkclient_session.new_session),
    NOTICE,
    *acting(zkclient_session.handle_new_session),
    Transition(zkclient_session.handle_change, BROKER, (WATCH,)),
)
ZKCLIENT_CONTROLLER = (
    *asking(zkclient.data_event),
    *asking(
        zkclient.look_for_controller,
        zkclient.create,
        zkclient.confirm_owner,
        zkclient.learn_epoch,
        zkclient.raise_epoch,
        zkclient.found_epoch,
        kind=CONTINUATION,
    ),
    *asking(zkclient.clean, zkclient.load, zkclient.write_state),
    *asking(zkclient.delete_any_controller, kind=CONTINUATION),
    *acting(zkclient.trigger_move),
    Transition(zkclient.send, BROKER, (SEND,)),
)


SIZES = {
    "brokers": "brokers, each of which may become the controller",
    "epochs": "elections",
    "faults": "crashes, shutdowns, expiries of living sessions, lost answers, failed batches, and what operators do to "
    "/controller and its epoch: how many in all",
    "receivers": "brokers that receive requests of controllers",
}


def scope(*, brokers=2, epochs=2, faults=1, receivers=1) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(brokers=brokers, epochs=epochs, faults=faults, receivers=receivers)


def model(variant, releases, story, transitions, properties, standard, expected, state=broker_state.STATE):
    """A variant of election from its own transitions and its recorded verdicts."""
    return Model(
        system="election",
        variant=variant,
        releases=releases,
        story=story,
        state=state,
        initial=broker_state.initial,
        transitions=transitions + REQUESTS + FAULTS,
        properties=among(properties, transitions + FAULTS),
        scope=standard,
        largest=scope(brokers=7, epochs=6, faults=6, receivers=3),
        others={"quick": scope(), "deep": scope(epochs=3, faults=2)},
        sizes=SIZES,
        interchangeable={"brokers": ("receivers",)},
        lanes=lanes,
        seams=SEAMS,
        answers=zookeeper.Answer.names,
        expected=expected,
    )


OLD_VIOLATIONS = {
    "own_epoch": 13,
    "epoch_node": 13,
    "epoch_unique": 13,
    "one_token": 13,
    "owner_is_newest": 13,
    "idle_zombie": 14,
    "no_stale_write": 14,
}


NOBODY_STANDS = {"one_controller": 13}


def later(violations, steps):
    """The same violations, each so many steps later: two brokers register before they stand."""
    return {name: length + steps for name, length in violations.items()}


ZKCLIENT = model(
    "zkclient",
    Releases("0.9", "1.0"),
    "A client that opens new sessions by itself, an election whose failure to raise the epoch is swallowed, "
    "and a resignation that forgets to resign: brokers rule in another's epoch, or for ever.",
    ZKCLIENT_SESSION + ZKCLIENT_CONTROLLER,
    properties.ZKCLIENT + liveness.ZKCLIENT,
    scope(brokers=3),
    {
        scope(faults=0): {},
        scope(): OLD_VIOLATIONS | {"deletes_own": 10, "one_controller": 23, "one_ruler": 23},
        scope(brokers=3): OLD_VIOLATIONS | {"deletes_own": 10},
    },
    zkclient_session.STATE,
).rebound({broker_state.end_process: zkclient_session.end_process}, safety_only=(scope(brokers=3),))
LEGACY = model(
    "legacy",
    Releases("1.1", "2.0"),
    "/controller is created first and the epoch raised later: a zombie obtains the higher epoch, its writes "
    "land unchecked, and a broker that resigns deletes another's /controller.",
    SESSION + LEGACY_CONTROLLER,
    properties.LEGACY + liveness.LEGACY,
    scope(brokers=3),
    {
        scope(faults=0): {},
        scope(): later(OLD_VIOLATIONS, 4) | {"deletes_own": 19} | NOBODY_STANDS,
        scope(epochs=3, faults=2): later(OLD_VIOLATIONS, 4) | {"deletes_own": 17} | NOBODY_STANDS,
        scope(brokers=3): later(OLD_VIOLATIONS, 4) | {"deletes_own": 19} | NOBODY_STANDS,
    },
)
FENCED = model(
    "fenced",
    Releases("2.1", "3.9"),
    "One transaction creates /controller and raises the epoch, and every write of a controller is checked "
    "against the epoch's version: a deposed controller may believe what it likes, and changes nothing.",
    SESSION + FENCED_CONTROLLER,
    properties.FENCED + events.FENCED + liveness.FENCED,
    scope(brokers=3),
    {
        scope(faults=0): {},
        scope(): NOBODY_STANDS,
        scope(epochs=3, faults=2): NOBODY_STANDS,
        scope(brokers=3): NOBODY_STANDS,
    },
)
STANDING = model(
    "fenced-standing",
    None,
    "As fenced, but a broker that finds no /controller after its watch has fired stands for election, which no release "
    "does: a deletion before the watch is armed again leaves no cluster without a controller.",
    SESSION + FENCED_CONTROLLER,
    properties.FENCED + events.FENCED + liveness.FENCED,
    scope(),
    {scope(faults=0): {}, scope(): {}, scope(epochs=3, faults=2): {}},
).rebound({election.handle_change: standing.handle_change})
EDITED = model(
    "fenced-edited",
    None,
    "No release of its own, but fenced when an operator writes /controller_epoch by hand: the controller owns "
    "/controller and stays active, and every write that it makes is refused, until its session ends or somebody "
    "deletes it.",
    SESSION + FENCED_CONTROLLER + declared.faults(faults.edit_epoch),
    properties.EDITED + events.EDITED + liveness.FENCED,
    scope(brokers=3),
    {scope(): NOBODY_STANDS, scope(epochs=3, faults=2): NOBODY_STANDS, scope(brokers=3): NOBODY_STANDS},
)
LAGGING = model(
    "fenced-lagging",
    Releases("2.1", "3.9"),
    "As fenced, and the servers of ZooKeeper lag, so that reads are stale and watches late: brokers stand and "
    "rule a while longer in vain, and what a write's condition does not allow does not happen.",
    SESSION + FENCED_CONTROLLER + declared.faults(lagging_faults.catch_up),
    properties.FENCED + events.LAGGING,
    scope(brokers=3),
    {scope(faults=0): {}, scope(): {}, scope(brokers=3): {}},
    lagging.STATE,
).rebound(lagging.LATE, initial=lagging.initial)
MODELS = (ZKCLIENT, LEGACY, FENCED, STANDING, EDITED, LAGGING)
