"""The partition system as in the present releases, and what is known of it; earlier ones are in `releases`."""

from kafkaproof.spec.election import active_controller
from kafkaproof.spec.election import faults as any_system
from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.kafka import zookeeper as answers
from kafkaproof.spec.kafka.declarations import BROKER, acting, asking, lanes
from kafkaproof.spec.language.domains import Size
from kafkaproof.spec.language.model import CONTINUATION, EVENT, TIMER, Model, among
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import (
    brokers,
    failover,
    faults,
    isr,
    log_dirs,
    machines,
    rebalance,
    replica,
    state,
    triggers,
    zookeeper,
)
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.history import zkclient_partition as zkclient
from kafkaproof.spec.partition.properties import goals
from kafkaproof.spec.partition.properties.liveness import LIVENESS
from kafkaproof.spec.partition.properties.safety import SAFETY, STEP_BY_STEP

SEAMS = (
    zookeeper.create_controller,
    zookeeper.read_controller,
    zookeeper.list_brokers,
    zookeeper.get_state,
    zookeeper.create_state,
    zookeeper.set_state,
    zookeeper.delete_request,
    zookeeper.checked_create_state,
    zookeeper.checked_set_state,
    zookeeper.checked_delete_request,
    zookeeper.read_log_dir_events,
    zookeeper.create_log_dir_event,
    leader_zk.set_isr,
    leader_zk.take_notification,
    leader_zk.list_broker_ids,
    zkclient.open_another,
)
DELETE_CONTROLLER = rebind(any_system.delete_controller, {answers.remove_controller: zookeeper.remove_controller})


FAULTS = declared.faults(faults.crash, faults.restart, faults.stop, faults.shut_down, lane=BROKER) + declared.faults(
    faults.expire_orphan,
    DELETE_CONTROLLER,
    faults.ask_for_preferred,
    faults.ask_for_reassignment,
    faults.queue_deletion,
    faults.allow_unclean,
)
EXPIRY = declared.faults(faults.expire_session)


def reading(*functions, kind=EVENT):
    """What a controller reads of ZooKeeper."""
    return asking(*functions, kind=kind, partner=active_controller.load)


def writing(*functions, kind=CONTINUATION):
    """What a controller writes into ZooKeeper."""
    return asking(*functions, kind=kind, partner=active_controller.clean)


EVENTS = (
    *reading(failover.load_brokers, failover.load_state, machines.read_for_election, kind=CONTINUATION),
    *writing(machines.write_leader, machines.create_first_state),
    *reading(machines.read_for_removal, kind=CONTINUATION),
    *writing(machines.write_removal),
    *reading(brokers.broker_change),
    *writing(triggers.delete_request),
    *acting(brokers.broker_startup, brokers.broker_failure, kind=CONTINUATION),
    *acting(
        brokers.controlled_shutdown,
        triggers.unclean_enabled,
        triggers.preferred_election,
        triggers.reassignment,
        triggers.topic_deletion,
    ),
    *acting(rebalance.rebalance, kind=TIMER),
)
SESSION = asking(failover.elect, failover.resign) + acting(failover.reopen, replica.leader_and_isr)
PENDING = acting(triggers.pending_election, failover.move_controller, kind=CONTINUATION)
LOG_DIRS = (
    *asking(log_dirs.notify),
    *reading(log_dirs.log_dir_notification),
    *acting(log_dirs.receive_error, log_dirs.storage_error),
    *declared.faults(faults.fail_log_dir, lane=BROKER),
)
"""From 1.0 on."""
COMMON = SESSION + PENDING + EVENTS + LOG_DIRS + EXPIRY
SHUTDOWNS_AND_PREFERRED = {
    brokers.controlled_shutdown,
    faults.shut_down,
    faults.stop,
    faults.ask_for_preferred,
    triggers.preferred_election,
    triggers.pending_election,
    failover.move_controller,
}
"""Controlled shutdowns, and elections of preferred leaders that an operator asks for."""
REQUESTS_AND_REBALANCE = {
    faults.ask_for_reassignment,
    triggers.reassignment,
    triggers.delete_request,
    rebalance.rebalance,
    faults.queue_deletion,
    triggers.topic_deletion,
}
"""What else operators ask for, and the automatic rebalance."""
ADMIN_ELECTIONS = acting(triggers.admin_election) + declared.faults(faults.ask_for_election)
"""From 2.4 on."""
PRESENT = COMMON + ADMIN_ELECTIONS + writing(isr.alter_partition, kind=EVENT)
"""From 2.7 on."""


SIZES = {
    "brokers": "brokers, each of which may become the controller",
    "replicas": "replicas of each partition, no more than brokers",
    "partitions": "partitions of the one topic",
    "epochs": "elections of a controller",
    "leader_epochs": "changes of a partition's leader, or of its ISR by a controller",
    "faults": "crashes, expiries of living sessions, shutdowns, failed log directories, lost answers, and what "
    "operators ask for (unclean elections allowed apart): how many in all",
}


def scope(*, brokers=2, replicas=2, partitions=1, epochs=2, leader_epochs=3, faults=1) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(
        brokers=brokers,
        replicas=replicas,
        partitions=partitions,
        epochs=epochs,
        leader_epochs=leader_epochs,
        faults=faults,
    )


QUICK, TWO_FAULTS = scope(), scope(faults=2)


def model(variant, releases, story, transitions, properties, standard, deep, expected):
    """A variant of partition from its own transitions and its recorded verdicts."""
    return Model(
        system="partition",
        variant=variant,
        releases=releases,
        story=story,
        state=state.STATE,
        initial=state.initial,
        transitions=transitions + FAULTS,
        properties=among(properties + LIVENESS, transitions + FAULTS),
        scope=standard,
        largest=scope(brokers=5, replicas=5, partitions=3, epochs=4, leader_epochs=10, faults=5),
        lanes=lanes,
        seams=SEAMS,
        answers=answers.Answer.names,
        expected=expected,
        others={"quick": QUICK, "deep": deep},
        sizes=SIZES,
        interchangeable={"brokers": ()},
    )


LOST_ANSWER = {"is_served_despite_loss": 6}
FOLLOWED_IN_VAIN = LOST_ANSWER | {"may_go_when_followed": 10}
OVERLOOKED = {"preferred_dealt_with": 8}
"""From 2.2 on: the event that reads a request for preferred leaders fails where a partition has no state."""
DEAD_MACHINE = {"is_served": 21}
"""From 2.1 on: a controller rules again in a process in which a fenced write has left a batch unsent."""
FENCED = model(
    "fenced",
    Releases("3.4", "3.9"),
    "Every write of a controller is checked against the epoch, and leaders ask the controller to change an "
    "ISR: a deposed controller changes nothing. An ISR with a broker that is not alive is refused (KIP-841).",
    PRESENT,
    SAFETY + STEP_BY_STEP + goals.WITH_BROKER_EPOCHS,
    TWO_FAULTS,
    scope(brokers=3, faults=2),
    {
        scope(): FOLLOWED_IN_VAIN,
        scope(brokers=3): FOLLOWED_IN_VAIN,
        scope(faults=2): FOLLOWED_IN_VAIN | OVERLOOKED,
        scope(brokers=3, faults=2): FOLLOWED_IN_VAIN | OVERLOOKED,
        scope(epochs=3, faults=2): FOLLOWED_IN_VAIN | OVERLOOKED | DEAD_MACHINE,
        scope(brokers=3, replicas=3): FOLLOWED_IN_VAIN | {"may_go_when_followed": 11},
        scope(brokers=3, partitions=2, leader_epochs=2): {"is_served_despite_loss": 10, "may_go_when_followed": 15},
        scope(brokers=3, epochs=1, leader_epochs=2, faults=2): FOLLOWED_IN_VAIN | OVERLOOKED,
        scope(epochs=1, faults=3): FOLLOWED_IN_VAIN | OVERLOOKED,
    },
)
MODELS = (FENCED,)
