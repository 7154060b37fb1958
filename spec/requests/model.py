"""The requests system: its variants, oldest first, and what is known of each."""

from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.kafka.declarations import BROKER, ZOOKEEPER, acting, asking
from kafkaproof.spec.language.domains import Size
from kafkaproof.spec.language.model import CONTINUATION, Arrow, Model, Transition, among
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.requests import broker, events, failover, faults, network, state, zookeeper
from kafkaproof.spec.requests.history import shared_queue
from kafkaproof.spec.requests.properties.events import EVENTS
from kafkaproof.spec.requests.properties.goals import GOALS
from kafkaproof.spec.requests.properties.handling import HANDLING
from kafkaproof.spec.requests.properties.liveness import LIVENESS
from kafkaproof.spec.requests.properties.safety import SAFETY, WITHOUT_BROKER_EPOCHS

ANSWER = Arrow(BROKER, "network", "{answer}", "answer")
SEAMS = (
    zookeeper.win_election,
    zookeeper.read_controller,
    zookeeper.list_brokers,
    zookeeper.checked_set_state,
    zookeeper.checked_delete_notification,
    zookeeper.list_broker_ids,
    network.answer,
)


def lanes(scope):
    """One lane for ZooKeeper, one for the network, one for each broker."""
    return [ZOOKEEPER, "network"] + [f"broker {i}" for i in range(scope["brokers"])]


CONTROLLER = (
    *asking(
        failover.elect,
        failover.resign,
        failover.reopen,
        events.broker_change,
        events.change_leader,
        events.log_dir_event,
    ),
    *acting(events.broker_startup, kind=CONTINUATION),
    *acting(events.handle_answer, events.controlled_shutdown, events.delete_topic),
)
HANDLERS = tuple(
    Transition(function, BROKER, (ANSWER,))
    for function in (broker.leader_and_isr, broker.update_metadata, broker.stop_replica)
)
FAULTS = (
    *declared.faults(faults.crash, faults.restart, lane=BROKER),
    *declared.faults(faults.expire_session, faults.delete_controller, faults.ask_deletion),
    *declared.faults(faults.fail_directory, lane=BROKER),
)
OWN_QUEUE = CONTROLLER + HANDLERS + acting(broker.answer_produce) + FAULTS
SHARED_QUEUE = (
    *CONTROLLER,
    *HANDLERS,
    *acting(shared_queue.produce_arrives, shared_queue.request_arrives, shared_queue.answer_produce),
    *FAULTS,
)
SIZES = {
    "brokers": "brokers, each of which may become the controller",
    "replicas": "replicas of the one partition, no more than brokers",
    "epochs": "elections of a controller",
    "leader_epochs": "changes of the leader",
    "queue": "batches of requests that wait in one channel",
    "faults": "crashes, expiries of living sessions, lost answers, failed log directories, and deletions of "
    "/controller and of the topic: how many in all",
}


def scope(*, brokers=2, replicas=2, epochs=2, leader_epochs=1, queue=3, faults=1) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(
        brokers=brokers, replicas=replicas, epochs=epochs, leader_epochs=leader_epochs, queue=queue, faults=faults
    )


HOLDS = {
    scope(faults=0): {},
    scope(epochs=1): {},
    scope(): {},
    scope(leader_epochs=2): {},
    scope(faults=2): {},
    scope(brokers=3): {},
}
ONE_FAULT = {
    "former_changes_nothing": 5,
    "control_requests_first": 9,
    "replicas_converge": 10,
    "metadata_converges": 10,
    "nothing_for_the_deleted": 10,
    "all_agree": 10,
}
LARGE = (scope(faults=2), scope(queue=2, faults=2), scope(brokers=3))


def model(variant, releases, story, functions, properties, expected):
    """A variant of requests from its own transitions and its recorded verdicts."""
    return Model(
        system="requests",
        variant=variant,
        releases=releases,
        story=story,
        state=state.STATE,
        initial=state.initial,
        transitions=functions,
        properties=among(properties + LIVENESS, functions),
        scope=scope(),
        largest=scope(brokers=4, replicas=4, epochs=4, leader_epochs=6, queue=8, faults=4),
        lanes=lanes,
        seams=SEAMS,
        answers=network.Error.names,
        expected=expected,
        safety_only=LARGE,
        others={"quick": scope(epochs=1), "deep": scope(faults=2)},
        sizes=SIZES,
        interchangeable={"brokers": ()},
    )


CURRENT = model(
    "current",
    Releases("2.6", "3.9"),
    "A request names the registration of the broker, the term and the leader epoch that it is of: what is late is "
    "refused.",
    OWN_QUEUE,
    SAFETY + HANDLING + EVENTS + GOALS,
    HOLDS,
)


def never_precedes(replica, leader_epoch, stop):
    """StopReplica carries no leader epoch: it is obeyed (up to 2.5).

    Kafka: ReplicaManager.stopReplicas, 0.8 to 2.5.
    """
    return False


def is_never_former(candidate, broker_epoch):
    """Requests name no registration: whoever has the id obeys (up to 2.1).

    Kafka: KafkaApis.handleLeaderAndIsrRequest, 0.8 to 2.1.
    """
    return False


WITHOUT_STOP_EPOCH = {broker.precedes: never_precedes}
BROKER_EPOCHS = model(
    "broker-epochs",
    Releases("2.2", "2.5"),
    "StopReplica carries no leader epoch; broker epochs and control requests of their own queue make up for most "
    "of it.",
    OWN_QUEUE,
    SAFETY + GOALS,
    HOLDS,
).rebound(WITHOUT_STOP_EPOCH)
LEGACY = model(
    "legacy",
    Releases("1.1", "2.1"),
    "A request names no registration: one that was sent to a former process reaches the next, and who goes and "
    "comes between two looks of the controller is told nothing (KIP-380). Control requests wait behind clients. A "
    "controller's writes are checked as in 2.1.",
    SHARED_QUEUE,
    WITHOUT_BROKER_EPOCHS + GOALS,
    {
        scope(faults=0): {"control_requests_first": 9},
        scope(epochs=1): ONE_FAULT,
        scope(brokers=3): ONE_FAULT | {"replicas_converge": 12, "metadata_converges": 12},
        scope(): ONE_FAULT,
        scope(leader_epochs=2): ONE_FAULT,
        scope(queue=2, faults=2): ONE_FAULT
        | {"control_requests_first": 10, "nothing_for_the_deleted": 11, "no_stale_stop": 20},
    },
).rebound(
    WITHOUT_STOP_EPOCH
    | {
        broker.is_former: is_never_former,
        broker.may_handle: shared_queue.may_handle_in_turn,
        zookeeper.brokers_changed: zookeeper.ids_changed,
        zookeeper.list_brokers: zookeeper.list_broker_ids,
    }
)
MODELS = (LEGACY, BROKER_EPOCHS, CURRENT)
