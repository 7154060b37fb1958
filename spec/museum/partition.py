"""The partition system: its variants, oldest first, and what is known of each."""

from spec import zookeeper as answers
from spec.language.model import Arrow, Model, Transition
from spec.museum import leader_zk
from spec.partition import cluster, events, failover, faults, isr, machines, network, replica, zookeeper
from spec.properties import partition_goals as goals
from spec.properties.partition import SAFETY, WITHOUT_BROKER_EPOCHS

LANE = "broker {b}"
ASK = Arrow(LANE, "zookeeper", "{answer}", "request")
SEAMS = (
    zookeeper.create_controller, zookeeper.read_controller, zookeeper.list_brokers, zookeeper.get_state,
    zookeeper.create_state, zookeeper.set_state, zookeeper.delete_preferred, zookeeper.set_isr,
    zookeeper.take_notification, zookeeper.list_broker_ids,
)


def lanes(scope):
    """One lane for ZooKeeper, one for each broker."""
    return ["zookeeper"] + [f"broker {i}" for i in range(scope["brokers"])]


def asking(*functions):
    """Transitions that make a request to ZooKeeper."""
    return tuple(Transition(function, LANE, (ASK,)) for function in functions)


def acting(*functions):
    """Transitions of a broker that ask nothing."""
    return tuple(Transition(function, LANE) for function in functions)


FAULTS = acting(faults.crash, faults.restart, faults.stop, faults.shut_down) + tuple(
    Transition(function, "zookeeper")
    for function in (
        faults.expire_session, faults.expire_orphan, faults.delete_controller, faults.ask_for_preferred,
        faults.allow_unclean,
    )
)
COMMON = asking(
    failover.elect, failover.resign, failover.load_brokers, failover.load_state,
    machines.read_for_election, machines.write_leader, machines.create_first_state, machines.read_for_removal,
    machines.write_removal, events.broker_change, events.delete_request,
) + acting(
    failover.reopen, events.broker_startup, events.broker_failure, events.controlled_shutdown,
    events.unclean_enabled, events.preferred_election, events.rebalance, replica.leader_and_isr,
)


def model(variant, story, transitions, properties, scope, expected):
    """A variant of partition from its own transitions and its recorded verdicts."""
    return Model(
        system="partition",
        variant=variant,
        story=story,
        state=cluster.STATE,
        initial=cluster.initial,
        transitions=transitions + FAULTS,
        properties=properties,
        scope=dict(zip(SIZES, scope)),
        largest={"brokers": 5, "replicas": 5, "partitions": 2, "epochs": 4, "leader_epochs": 10, "faults": 5},
        lanes=lanes,
        seams=SEAMS,
        answers=answers.Answer.names,
        expected=expected,
    )


SIZES = ("brokers", "replicas", "partitions", "epochs", "leader_epochs", "faults")
ONE_FAULT = {"no_stale_write": 7, "context_is_zookeeper": 10, "leaderless_for_a_reason": 15}
FENCED = model(
    "fenced",
    "Every write of a controller is checked against the epoch, and leaders ask the controller to change an "
    "ISR: a deposed controller changes nothing.",
    COMMON + asking(isr.alter_partition),
    SAFETY + goals.WITH_BROKER_EPOCHS,
    (3, 2, 1, 2, 3, 2),
    {
        (2, 2, 1, 2, 3, 1): {}, (2, 2, 1, 2, 3, 2): {}, (3, 2, 1, 2, 3, 2): {}, (3, 3, 1, 2, 3, 1): {},
        (3, 2, 2, 2, 2, 1): {}, (3, 3, 1, 2, 3, 2): {},
    },
)
LEGACY = model(
    "legacy",
    "Nothing checks the writes of a controller, and leaders write the ISR: a zombie's election lands after its "
    "successor's, and names a leader whom nobody obeys (KAFKA-6082).",
    COMMON + asking(leader_zk.change_isr, leader_zk.isr_notification),
    WITHOUT_BROKER_EPOCHS + goals.GOALS,
    (3, 2, 1, 2, 3, 1),
    {
        (2, 2, 1, 2, 3, 1): ONE_FAULT,
        (3, 2, 1, 2, 3, 1): ONE_FAULT,
        (2, 2, 1, 2, 3, 2): ONE_FAULT | {"no_stale_delete": 10, "online_has_leader": 19},
        (3, 2, 1, 2, 3, 2): ONE_FAULT | {"no_stale_delete": 10, "online_has_leader": 15},
    },
).rebound({
    zookeeper.checked_create_state: zookeeper.create_state,
    zookeeper.checked_set_state: zookeeper.set_state,
    zookeeper.checked_delete_preferred: zookeeper.delete_preferred,
    zookeeper.list_brokers: zookeeper.list_broker_ids,
    zookeeper.known_as_they_are: zookeeper.as_they_are,
    network.drop_requests: network.keep_requests,
})
MODELS = (LEGACY, FENCED)
