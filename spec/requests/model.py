"""The requests system: its variants, oldest first, and what is known of each."""

from kafkaproof.spec.kafka import control_requests, state_machines
from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.kafka.declarations import BROKER, ZOOKEEPER, acting, asking
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.domains import Number, Size
from kafkaproof.spec.language.model import CONTINUATION, Arrow, Model, Transition, among
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import brokers, context, progress, telling, zookeeper
from kafkaproof.spec.partition import faults as partition_faults
from kafkaproof.spec.partition import network as newest
from kafkaproof.spec.partition import replica as partition_replica
from kafkaproof.spec.partition.deletion import faults as deletion_faults
from kafkaproof.spec.partition.deletion import network as deletion_network
from kafkaproof.spec.partition.deletion import progress as deletion_progress
from kafkaproof.spec.partition.deletion.model import WITH_DELETIONS
from kafkaproof.spec.partition.history import leader_zk, updates
from kafkaproof.spec.partition.history import triggers as former
from kafkaproof.spec.partition.metadata import cache, halting
from kafkaproof.spec.partition.model import DELETE_CONTROLLER
from kafkaproof.spec.partition.phases import progress as phases_progress
from kafkaproof.spec.requests import broker, controller, faults, network, state
from kafkaproof.spec.requests.history import shared_queue, stops
from kafkaproof.spec.requests.properties.channels import CHANNELS as OF_CHANNELS
from kafkaproof.spec.requests.properties.events import EVENTS
from kafkaproof.spec.requests.properties.goals import GOALS, LEFT_BEHIND
from kafkaproof.spec.requests.properties.handling import HANDLING
from kafkaproof.spec.requests.properties.liveness import LIVENESS
from kafkaproof.spec.requests.properties.safety import SAFETY

ANSWER = Arrow(BROKER, "network", "{answer}", "answer")
SEAMS = (
    zookeeper.create_controller,
    zookeeper.read_controller,
    zookeeper.list_brokers,
    zookeeper.get_state,
    zookeeper.checked_set_state,
    zookeeper.checked_delete_request,
    zookeeper.read_log_dir_events,
    network.answer,
)


def lanes(scope):
    """One lane for ZooKeeper, one for the network, one for each broker."""
    return [ZOOKEEPER, "network"] + [f"broker {i}" for i in range(scope["brokers"])]


ARRIVES = {"delivery": Number(ANSWERED, ANSWERED)}
"""No answer of ZooKeeper is lost."""
CONTROLLER = (
    *asking(controller.elect, controller.resign, controller.broker_change),
    *asking(controller.elect_leader, controller.remove_replica, kind=CONTINUATION, only=ARRIVES),
    *asking(controller.complete_deletion, kind=CONTINUATION, only=ARRIVES),
    *asking(controller.log_dir_event, only=ARRIVES),
    *acting(controller.broker_startup, controller.broker_failure, kind=CONTINUATION),
    *acting(controller.resume_deletion, controller.stop_replicas, kind=CONTINUATION),
    *acting(controller.reopen, controller.handle_answer, controller.controlled_shutdown),
    *acting(controller.topic_deletion, controller.replica_stopped),
)
HANDLERS = tuple(
    Transition(function, BROKER, (ANSWER,))
    for function in (broker.leader_and_isr, broker.update_metadata, broker.stop_replica)
)
FAULTS = (
    *declared.faults(faults.crash, partition_faults.restart, lane=BROKER),
    *declared.faults(partition_faults.expire_session, DELETE_CONTROLLER, deletion_faults.ask_for_deletion),
    *declared.faults(faults.fail_directory, partition_faults.shut_down, lane=BROKER),
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
    "replicas": "replicas of each partition, no more than brokers",
    "partitions": "partitions, each the only one of its topic",
    "epochs": "elections of a controller",
    "leader_epochs": "changes of a partition's leader, or of its ISR by a controller",
    "queue": "batches of requests that wait in one channel",
    "faults": "crashes, expiries of living sessions, lost answers, failed log directories, controlled shutdowns, and "
    "deletions of /controller and of a topic: how many in all",
}


def scope(*, brokers=2, replicas=2, partitions=1, epochs=2, leader_epochs=2, queue=3, faults=1) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(
        brokers=brokers,
        replicas=replicas,
        partitions=partitions,
        epochs=epochs,
        leader_epochs=leader_epochs,
        queue=queue,
        faults=faults,
    )


CHANNELS = {
    newest.put_request: network.put_request,
    newest.put_update: network.put_update,
    newest.put_alive: network.put_alive,
    newest.put_halt: network.put_halt,
    deletion_network.put_stop: network.put_stop,
    newest.send_batch: network.send_batch,
    newest.error_arrives: network.error_arrives,
    newest.take_error: network.take_error,
    newest.drop_requests: network.drop_requests,
    newest.fall_silent: network.fall_silent,
    zookeeper.known_as_they_are: zookeeper.as_they_are,
}
"""The functions of the network, by which partition's controller tells brokers, and what they mean here."""
OF_REPLICAS = {context.lose_replica: state.lose_replica, partition_replica.knows_as_alive: cache.knows_as_alive}
OF_PROCESSES = {context.start_process: cache.start_process}
"""A process begins with all that the others replace, so this comes last."""


ONE_TERM, TWO_FAULTS = scope(epochs=1), scope(faults=2)
LARGE = (TWO_FAULTS, scope(epochs=1, faults=2), scope(brokers=3, epochs=1))
HOLDS: dict[Size, dict[str, int]] = {scope(faults=0): {}, ONE_TERM: {}, scope(): {}}
FORMER = {
    "former_changes_nothing": 5,
    "control_requests_first": 11,
    "nothing_for_the_deleted": 11,
    "replicas_converge": 11,
    "metadata_converges": 11,
}


def is_never_former(current):
    """Requests name no registration: whoever has the id obeys (up to 2.1).

    Kafka: KafkaApis.handleLeaderAndIsrRequest, 0.8 to 2.1.
    """
    return False


def model(variant, releases, story, functions, properties, expected):
    """A variant of requests from its own transitions and its recorded verdicts."""
    over_channels = Model(
        system="requests",
        variant=variant,
        releases=releases,
        story=story,
        state=state.STATE,
        initial=state.initial,
        transitions=functions,
        properties=among(properties + LIVENESS, functions),
        scope=scope(),
        largest=scope(brokers=4, replicas=4, partitions=2, epochs=4, leader_epochs=6, queue=8, faults=4),
        lanes=lanes,
        seams=SEAMS,
        answers=control_requests.Error.names,
        expected=expected,
        safety_only=LARGE,
        others={"quick": ONE_TERM, "deep": TWO_FAULTS},
        sizes=SIZES,
        interchangeable={"brokers": ()},
    ).rebound(WITH_DELETIONS | CHANNELS | OF_REPLICAS)
    return over_channels.rebound(OF_PROCESSES)


CURRENT = model(
    "current",
    Releases("3.4", "3.9"),
    "A request names the registration of the broker, the term and the leader epoch that it is of: what is late is "
    "refused.",
    OWN_QUEUE,
    SAFETY + HANDLING + EVENTS + OF_CHANNELS + GOALS + LEFT_BEHIND,
    HOLDS | {TWO_FAULTS: {}},
)
UNTIL_3_3 = {halting.is_in_time: stops.is_later}
SAME_EPOCH = model(
    "same-epoch",
    Releases("3.1", "3.3"),
    "The same, but StopReplica of the leader epoch that the replica has is refused: a follower that is to stop goes on.",
    OWN_QUEUE,
    SAFETY + GOALS,
    HOLDS | {TWO_FAULTS: {}},
).rebound(UNTIL_3_3)
UNTIL_3_0 = UNTIL_3_3 | {telling.is_failure_told: updates.is_no_leader_missing}
FAILURES_UNTOLD = model(
    "failures-untold",
    Releases("2.7", "3.0"),
    "As in 3.1, but nobody is told of brokers that have died while a partition lacks a leader.",
    OWN_QUEUE,
    SAFETY + GOALS,
    HOLDS,
).rebound(UNTIL_3_0)
UNTIL_2_6 = UNTIL_3_0 | {telling.tell_newcomers: updates.tell_newcomers_all}
KIP570 = model(
    "kip570",
    Releases("2.6", "2.6"),
    "The first release whose StopReplica carries a leader epoch (KIP-570). Brokers that come are told of topics that are "
    "queued for deletion, too.",
    OWN_QUEUE,
    SAFETY + GOALS,
    HOLDS,
).rebound(UNTIL_2_6)
UNTIL_2_5 = UNTIL_2_6 | {halting.is_in_time: stops.whenever_it_was}
BROKER_EPOCHS = model(
    "broker-epochs",
    Releases("2.3", "2.5"),
    "StopReplica carries no leader epoch; broker epochs and control requests of their own queue make up for most "
    "of it.",
    OWN_QUEUE,
    SAFETY + GOALS + LEFT_BEHIND,
    HOLDS,
).rebound(UNTIL_2_5)
UNTIL_2_2 = UNTIL_2_5 | {
    progress.dead_hosts: leader_zk.nobody,
    deletion_progress.is_heeded: phases_progress.is_asked_by_deletion,
    state_machines.replica_move_is_legal: state_machines.replica_move_was_legal,
}
KIP380 = model(
    "kip380",
    Releases("2.2", "2.2"),
    "The first release with broker epochs (KIP-380). A new controller leaves the replicas of dead brokers in the ISRs.",
    OWN_QUEUE,
    SAFETY + GOALS + LEFT_BEHIND,
    HOLDS,
).rebound(UNTIL_2_2)
UNTIL_2_1 = UNTIL_2_2 | {
    broker.is_former: is_never_former,
    broker.may_handle: shared_queue.may_handle_in_turn,
    cache.start_process: shared_queue.start_process,
    zookeeper.list_brokers: leader_zk.list_broker_ids,
    telling.tell_brokers: updates.tell_all_partitions,
    telling.tell_newcomers: updates.tell_everybody,
    brokers.take_list: leader_zk.take_list_at_once,
}
UNSEEN = FORMER | {"all_agree": 11}
LEGACY = model(
    "legacy",
    Releases("2.1", "2.1"),
    "A request names no registration: one that was sent to a former process reaches the next, and who goes and "
    "comes between two looks of the controller is told nothing (KIP-380). Control requests wait behind clients. A "
    "controller's writes are checked as in 2.1.",
    SHARED_QUEUE,
    SAFETY + GOALS + LEFT_BEHIND,
    {ONE_TERM: UNSEEN, scope(): UNSEEN, scope(epochs=1, faults=2): FORMER | {"no_stale_stop": 24, "local_epoch": 39}},
).rebound(UNTIL_2_1)
UNTIL_2_0 = UNTIL_2_1 | {
    zookeeper.checked_set_state: zookeeper.set_state,
    zookeeper.checked_delete_request: zookeeper.delete_request,
    zookeeper.check_epoch: leader_zk.check_nothing,
    progress.lapse: leader_zk.resign_at_once,
    brokers.is_moved_away: former.is_moved_away_though_queued,
    deletion_progress.ended_at_start: former.end_none_at_start,
}
UNCHECKED = model(
    "unchecked",
    Releases("1.1", "2.0"),
    "As in 2.1, but nothing checks the writes of a controller (KAFKA-6082).",
    SHARED_QUEUE,
    SAFETY + GOALS + LEFT_BEHIND,
    {ONE_TERM: UNSEEN, scope(): UNSEEN},
).rebound(UNTIL_2_0)
MODELS = (UNCHECKED, LEGACY, KIP380, BROKER_EPOCHS, KIP570, FAILURES_UNTOLD, SAME_EPOCH, CURRENT)
