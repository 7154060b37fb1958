"""The partition system with elections in steps, and what is known of it."""

from dataclasses import replace

from kafkaproof.spec.election import broker_state, election
from kafkaproof.spec.election.history import legacy, requests
from kafkaproof.spec.election.history import zkclient as without_sessions
from kafkaproof.spec.election.model import IN_ONE_MULTI, IN_TWO_WRITES
from kafkaproof.spec.kafka import zookeeper as elections
from kafkaproof.spec.kafka.declarations import acting, asking
from kafkaproof.spec.language.model import CONTINUATION, Model, among
from kafkaproof.spec.language.rebind import original, rebind
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import context, failover, faults, triggers, zookeeper
from kafkaproof.spec.partition.electing import electing, properties, state
from kafkaproof.spec.partition.electing import zookeeper as shared
from kafkaproof.spec.partition.model import (
    ADMIN_ELECTIONS,
    LOG_DIRS,
    REQUESTS_AND_REBALANCE,
    SHUTDOWNS_AND_PREFERRED,
    scope,
)
from kafkaproof.spec.partition.model import FENCED as PRESENT
from kafkaproof.spec.partition.releases import model as releases

OFF = {each.function for each in LOG_DIRS + ADMIN_ELECTIONS} | SHUTDOWNS_AND_PREFERRED | REQUESTS_AND_REBALANCE
OFF |= {faults.allow_unclean, triggers.unclean_enabled, failover.elect}
"""What operators ask for, and failed log directories: explored without the steps of an election."""
MULTI = acting(electing.stand) + IN_ONE_MULTI
TWO_STEPS = acting(electing.stand) + IN_TWO_WRITES + asking(legacy.delete_any_controller, kind=CONTINUATION)
IN_NEW_SESSIONS = (
    *acting(electing.stand),
    *asking(
        rebind(election.maybe_resign, {broker_state.lapse: without_sessions.ask_again}),
        without_sessions.look_for_controller,
        without_sessions.create,
        without_sessions.confirm_owner,
        without_sessions.learn_epoch,
        without_sessions.raise_epoch,
        without_sessions.found_epoch,
        without_sessions.delete_any_controller,
        kind=CONTINUATION,
    ),
)
EPOCH = (elections.get_epoch, elections.create_epoch)
OF_MULTI = (*EPOCH, elections.create_controller_and_set_epoch)
OF_TWO = (*EPOCH, requests.create_controller, requests.read_owner, requests.set_epoch, elections.delete_controller)
SHARED = {elections.session_open: zookeeper.session_open, elections.fire: shared.fire_nothing}
WITH_ELECTIONS = SHARED | {
    elections.read_controller: zookeeper.read_controller,
    broker_state.begin_term: state.begin_term,
    broker_state.resign: state.resign,
    context.start_process: state.start_process,
}
SHARED_OF_TWO = SHARED | {
    elections.owns_controller: shared.owns_controller,
    elections.remove_controller: zookeeper.remove_controller,
}
TWO_REQUESTS = WITH_ELECTIONS | {request: rebind(request, SHARED_OF_TWO) for request in OF_TWO}
UNTIL_1_0 = TWO_REQUESTS | {without_sessions.ask_again: state.ask_again}
IN_ONE_SESSION = {broker_state.lapse: state.lapse, failover.reopen: electing.reopen}
"""From 1.1 on."""
UNTIL_2_0 = TWO_REQUESTS | IN_ONE_SESSION | {legacy.move: without_sessions.give_up}
FROM_2_1 = WITH_ELECTIONS | IN_ONE_SESSION | {request: rebind(request, SHARED) for request in OF_MULTI}


def with_steps(model: Model, steps, requests, asked, **changes) -> Model:
    """A variant whose elections have these steps and requests; of its properties those of safety are kept."""
    kept = tuple(t for t in model.transitions if original(t.function) not in OFF) + steps
    names = {t.function.__name__ for t in kept}
    seams = tuple(each for each in model.seams if each is not zookeeper.create_controller) + requests
    safety = tuple(p for p in model.properties if p.kind in ("always", "step") and names.issuperset(p.of))
    return replace(
        model,
        state=state.STATE,
        initial=state.initial,
        transitions=kept,
        properties=among(properties.adapted(safety) + asked, kept),
        seams=seams,
        **changes,
    )


IN_ANOTHERS_EPOCH = {
    "raised_by_one": 13,
    "epoch_unique": 13,
    "owner_is_newest": 13,
    "written_by_owner": 14,
    "no_stale_write": 16,
    "written_in_own_epoch": 16,
    "context_is_zookeeper": 19,
    "leaderless_for_a_reason": 20,
}


NAMED = {"quick": scope(faults=0), "deep": scope(brokers=3)}


def named_by(model: Model, named=NAMED) -> Model:
    """The model with scopes of its own."""
    return replace(model, scope=scope(), others=named)


FENCED = named_by(
    with_steps(
        PRESENT,
        MULTI,
        OF_MULTI,
        properties.IN_ONE_MULTI,
        variant="electing-fenced",
        releases=Releases("3.4", "3.9"),
        story="As fenced, and an election has its steps: /controller is read, then the epoch, and one transaction creates "
        "/controller and raises the epoch.",
        expected={scope(faults=0): {}, scope(): {}, scope(brokers=3): {}, scope(faults=2): {}},
    ),
    NAMED | {"two-faults": scope(faults=2)},
).rebound(FROM_2_1)
LEGACY = named_by(
    with_steps(
        releases.LEGACY,
        TWO_STEPS,
        OF_TWO,
        properties.IN_TWO_STEPS,
        variant="electing",
        releases=Releases("2.0", "2.0"),
        story="A broker creates /controller, and raises the epoch afterwards: a zombie that resumes in between rules in a "
        "newer epoch than the owner of /controller, whose requests brokers then refuse.",
        expected={
            scope(faults=0): {},
            scope(): IN_ANOTHERS_EPOCH | {"deletes_own": 15},
            scope(brokers=3): IN_ANOTHERS_EPOCH | {"deletes_own": 15},
            scope(faults=2): IN_ANOTHERS_EPOCH | {"deletes_own": 13, "led_if_possible": 23, "online_has_leader": 28},
        },
        safety_only=(),
    )
).rebound(UNTIL_2_0)
SWALLOWED = IN_ANOTHERS_EPOCH | {"deletes_own": 10, "online_has_leader": 31, "led_if_possible": 31}
ZKCLIENT = named_by(
    with_steps(
        releases.JBOD,
        IN_NEW_SESSIONS,
        OF_TWO,
        properties.IN_TWO_STEPS,
        variant="electing-zkclient",
        releases=Releases("1.0", "1.0"),
        story="The same with a client that opens new sessions by itself, and with a failure to raise the epoch that is "
        "swallowed: two controllers rule in one epoch, and both write.",
        expected={scope(faults=0): {}, scope(): SWALLOWED, scope(brokers=3): SWALLOWED},
        safety_only=(),
    )
).rebound(UNTIL_1_0)
MODELS = (ZKCLIENT, LEGACY, FENCED)
