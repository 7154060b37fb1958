"""The composed cluster: `partition` and `replica` in one state, and what is known of it."""

from collections.abc import Callable
from dataclasses import replace

from kafkaproof.spec.cluster import control, data_plane, deletion, faults, network, reassignment, state
from kafkaproof.spec.cluster.parts import PARTS
from kafkaproof.spec.cluster.properties.goals import GOALS
from kafkaproof.spec.cluster.properties.liveness import LIVENESS
from kafkaproof.spec.cluster.properties.safety import SAFETY, WITH_DELETIONS, WITH_REASSIGNMENTS
from kafkaproof.spec.cluster.properties.steps import STEP_BY_STEP
from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.kafka.declarations import BROKER, acting, lanes
from kafkaproof.spec.language.domains import Record, Size
from kafkaproof.spec.language.model import EVENT, TIMER, Model, Transition, among
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import model as partition
from kafkaproof.spec.partition import network as parts
from kafkaproof.spec.partition.creation import model as partition_creation
from kafkaproof.spec.partition.creation.zookeeper import in_new_topics
from kafkaproof.spec.partition.deletion import model as partition_deletion
from kafkaproof.spec.partition.expansion import model as partition_expansion
from kafkaproof.spec.partition.expansion import properties as topic_expansion
from kafkaproof.spec.partition.expansion.state import with_requests
from kafkaproof.spec.partition.expansion.zookeeper import in_other_topics
from kafkaproof.spec.partition.model import writing
from kafkaproof.spec.partition.reassignment import model as partition_reassignment
from kafkaproof.spec.partition.reassignment import properties as reassignment_properties
from kafkaproof.spec.replica.clients.network import take_record
from kafkaproof.spec.replica.network import check
from kafkaproof.spec.replica.zookeeper import Answer

CONTROL = (
    *writing(control.create_first_state, control.write_leader, control.write_removal),
    *writing(control.alter_partition, kind=EVENT),
    *acting(control.leader_and_isr, control.confirm_isr),
    *declared.faults(faults.crash, faults.stop, faults.restart, faults.fail_log_dir, lane=BROKER),
)
DATA = (
    *acting(data_plane.produce, data_plane.consume),
    *acting(data_plane.send_request, kind=TIMER),
    *acting(data_plane.serve_fetch, data_plane.receive_answer, data_plane.expand_isr),
    *acting(data_plane.shrink_isr, kind=TIMER),
    *acting(data_plane.learn_isr),
    Transition(control.refuse_isr, "broker {sender}"),
)
COMPOSED = {transition.function.__name__ for transition in CONTROL}
UNCHANGED = tuple(t for t in partition.FENCED.transitions if t.function.__name__ not in COMPOSED)
SIZES = partition.SIZES | {
    "log": "records that a log can hold",
    "records": "records that producers write to each partition, in all",
    "min_isr": "min.insync.replicas",
}


def scope(*, log=1, records=1, min_isr=1, **control) -> Size:
    """A scope of `partition` (`control`), with the sizes that are added to it."""
    return partition.scope(**control) | Size(log=log, records=records, min_isr=min_isr)


def with_isr(model):
    """A variant whose LeaderAndIsr says the ISR, whoever sends it and whoever takes it."""
    return model.rebound(
        {parts.put_request: network.put_request_with_isr, parts.take_request: network.take_request_with_isr}
    )


GIVES_UP = {"alone_acknowledges": 10}
"""A leader that is refused for the version of its controller proposes nothing more."""
COMPOSITION = Model(
    system="cluster",
    variant="fenced",
    releases=Releases("3.4", "3.9"),
    story="Controllers that fail over, over replicas with logs, producers and consumers: what was "
    "acknowledged is kept, but when a zombie tells a leader that has just begun anew an ISR of the past; a leader "
    "alone in the ISR may wait for ever for one that has left it. The late answer to a fetch is as in 3.9.1.",
    state=state.STATE,
    initial=state.initial,
    transitions=CONTROL + UNCHANGED + DATA,
    properties=SAFETY + GOALS,
    scope=scope(),
    largest=scope(
        brokers=4, replicas=4, partitions=2, epochs=4, leader_epochs=8, faults=4, log=4, records=4, min_isr=3
    ),
    lanes=lanes,
    seams=partition.SEAMS + (check, take_record),
    answers=Answer.names,
    expected={
        scope(epochs=1, leader_epochs=1): GIVES_UP,
        scope(): GIVES_UP,
        scope(brokers=3): GIVES_UP,
        scope(leader_epochs=2, faults=2): {
            "isr_complete": 27,
            "committed": 31,
            "stable_read": 32,
            "truncated_above_hw": 35,
        },
    },
    safety_only=(scope(leader_epochs=2, faults=2),),
    others={"quick": scope(epochs=1, leader_epochs=1), "deep": scope(leader_epochs=2, faults=2)},
    sizes=SIZES,
    interchangeable={"brokers": ()},
    parts=PARTS,
)


WITH_CREATION = partition_creation.creating(
    COMPOSITION,
    "creating",
    "The same, and the controller creates topics. Creation itself is explored in partition/creating.",
)
FENCED = with_isr(
    replace(COMPOSITION, properties=COMPOSITION.properties + STEP_BY_STEP + among(LIVENESS, COMPOSITION.transitions))
)
CREATING = with_isr(WITH_CREATION)
DELETING = with_isr(
    partition_deletion.deleting(
        WITH_CREATION,
        "deleting",
        "The same, and it deletes topics. Deletion itself is explored in partition/deleting.",
        acting(deletion.stop_replica) + writing(deletion.delete_state),
        WITH_DELETIONS,
        state=deletion.STATE,
    )
)
REASSIGNMENT = (
    acting(reassignment.stop_replica)
    + writing(deletion.delete_state, reassignment.tell_replicas)
    + partition_reassignment.ALTERATIONS
)


def reassigning(expanding: tuple[Transition, ...], properties: Callable, state: Record) -> Model:
    """A variant that reassigns partitions, and adds them to topics by the transitions `expanding`."""
    model = partition_reassignment.reassigning(
        WITH_CREATION,
        "reassigning",
        "The same, and it reassigns partitions: what runs. Reassignment itself is explored in partition/reassigning.",
        REASSIGNMENT + expanding,
        WITH_REASSIGNMENTS,
        lambda found: properties(reassignment_properties.with_alterations(found)),
        state=state,
        initial=reassignment.initial,
    )
    return with_isr(model.rebound({in_new_topics: in_other_topics}))


REASSIGNING = reassigning(
    partition_expansion.IN_TWO_STEPS, topic_expansion.with_steps, with_requests(reassignment.STATE)
).rebound(partition_expansion.WITH_REQUESTS)
MODELS = (FENCED,)
