"""What the process of one broker runs: two systems side by side.

*election* has the sessions, the registrations and the controllership. The other part has the controller's events, the
state machines and the replicas: for Kafka 2.7 and later it is *cluster*, with a data plane for each partition; for 1.1
to 2.0 it is *partition*, without one. The controller of 2.7 and later also creates and deletes topics, and reassigns
partitions (`kafkaproof.spec.partition.creation`, `deletion`, `reassignment`), as it does in the variants *creating*,
*deleting* and *reassigning* of *partition*. Each broker has a record in both parts, and one in each data plane.

Some steps are steps of both parts: one acts, makes the request and gets the answer; the other, its partner, follows
with the same answer. In *election* every request of a controller is a `clean` (a write) or a `load` (a read), which
stand for all others; in *partition* the election is a single step, and so are the end of a term and a new session.

Whatever runs or replays a cluster uses this table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.cluster import halting
from kafkaproof.spec.cluster.model import CREATING, DELETING, REASSIGNING
from kafkaproof.spec.cluster.properties.safety import has_role
from kafkaproof.spec.election import active_controller, session
from kafkaproof.spec.election import faults as any_system
from kafkaproof.spec.election.election import maybe_resign
from kafkaproof.spec.election.history import requests
from kafkaproof.spec.kafka import zookeeper
from kafkaproof.spec.kafka.declarations import asking
from kafkaproof.spec.kafka.zookeeper import BADVERSION, EXPIRED, FENCED, LOST, LOST_DROPPED, NODEEXISTS, NONODE, OK
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import CONTINUATION, Model, Transition
from kafkaproof.spec.partition import failover, faults, replica
from kafkaproof.spec.partition import zookeeper as partitions
from kafkaproof.spec.partition.metadata.model import with_updates
from kafkaproof.spec.running.earlier_recordings import ADDING_AT_ONCE

ELECTION, PARTITION, CLUSTER = "election", "partition", "cluster"
SYSTEMS = {ELECTION: ELECTION, PARTITION: PARTITION, CLUSTER: PARTITION}
"""The part to which the steps of a system belong."""
VARIANTS = ("fenced", "legacy")
STEP_BY_STEP = {ELECTION: VARIANTS, PARTITION: ("legacy",), CLUSTER: ("fenced",)}
"""The systems and variants whose steps a running cluster takes one by one."""
CHECKED = "legacy-checked"
CHECKS_OF_STATES = {
    partitions.create_state: partitions.checked_create_state,
    partitions.set_state: partitions.checked_set_state,
    partitions.delete_request: partitions.checked_delete_request,
}
"""The fix of KAFKA-6082: the writes of 1.1 to 2.0, each with a check of the epoch (see `delete_checked`)."""

REFUSED = (BADVERSION, NODEEXISTS, NONODE)
"""The answers to a write that is refused because of what it finds."""


def delete_checked(zk, b, epoch, delivery):
    """delete /controller, checked against the epoch: as `delete_controller`, or FENCED."""
    if zookeeper.session_open(zk, b) and zk.epoch != epoch:
        return zookeeper.outcome(zk, FENCED, delivery)
    return zookeeper.delete_controller(zk, b, epoch, delivery)


def set_owned_epoch(zk, b, value, version, delivery):
    """setData /controller_epoch, only by the broker that /controller names, as in one transaction with its creation."""
    if zookeeper.session_open(zk, b) and not zookeeper.owns_controller(zk, b):
        return zookeeper.outcome(zk, BADVERSION, delivery)
    return requests.set_epoch(zk, b, value, version, delivery)


CHECKS_OF_ELECTION = {zookeeper.delete_controller: delete_checked, requests.set_epoch: set_owned_epoch}
"""The same for the election: a broker that has lost it neither raises the epoch nor deletes /controller."""


@dataclass(frozen=True)
class Cluster:
    """The two systems in one variant of Kafka's history."""

    variant: str
    election: Model
    partition: Model

    @property
    def deletes(self) -> bool:
        """Whether its controller deletes topics."""
        return "deleted" in self.partition.state.fields["zk"].domain.fields

    @property
    def reassigns(self) -> bool:
        """Whether its controller reassigns partitions."""
        return "adding" in self.partition.state.fields["zk"].domain.fields

    @property
    def updates(self) -> bool:
        """Whether its brokers are sent UpdateMetadata."""
        return "updates" in self.partition.state.fields["network"].domain.fields

    @property
    def tells_in_order(self) -> bool:
        """Whether UpdateMetadata goes out in its place among the other requests of a step, and a broker obeys LeaderAndIsr
        by what it was told before; else it is sent after them, and a broker obeys whatever it was told.
        """
        return self.updates and replica.may_become not in dict(self.partition.replaced)

    @property
    def names_processes(self) -> bool:
        """Whether a request is for one registration of a broker, by its broker epoch, and refused by a later one."""
        return partitions.known_as_they_are not in dict(self.partition.replaced)

    def model(self, part: str) -> Model:
        """The model of `part`."""
        return self.election if part == ELECTION else self.partition


def cluster(
    variant: str, deletes: bool = True, reassigns: bool = True, updates: bool = True, is_newest: bool = True
) -> Cluster:
    """The cluster of a variant; `CHECKED` is legacy with the fix and nothing else. Raises LookupError.

    A cluster of 2.7 and later that does not reassign partitions (`reassigns`), or does not delete topics either
    (`deletes`), has records without the fields for that; and so has one whose brokers are sent no UpdateMetadata
    (`updates`), or whose controller adds partitions to a topic that it has not read, up to format 8 (not `is_newest`).
    """
    if variant not in (*VARIANTS, CHECKED):
        raise LookupError(f"no cluster is {variant!r}; there are {', '.join((*VARIANTS, CHECKED))}")
    name = "legacy" if variant == CHECKED else variant
    election = find(ELECTION, name)[0]
    expanding = REASSIGNING if is_newest else ADDING_AT_ONCE
    fenced = CREATING if not deletes else expanding if reassigns else DELETING
    partition = fenced if name == "fenced" else find(PARTITION, name)[0]
    if updates:
        partition = halting_planes(partition) if has_planes(partition) else with_updates(partition)
    if variant == CHECKED:
        asked = replace(election, transitions=election.transitions + asking(active_controller.write_when_asked))
        return Cluster(variant, asked.rebound(CHECKS_OF_ELECTION), partition.rebound(CHECKS_OF_STATES))
    return Cluster(variant, election, partition)


def halting_planes(model: Model) -> Model:
    """The model with UpdateMetadata, and data planes that are told to fetch no more."""
    properties = tuple(each.rebound({has_role: halting.has_role}) for each in model.properties)
    return with_updates(replace(model, properties=properties), halting.halt_replica)


def why_not_run(system: str, variant: str) -> str | None:
    """Why a running cluster does not take the steps of a variant one by one; None where it does."""
    if variant in STEP_BY_STEP.get(system, ()):
        return None
    running = ", ".join(f"{name} ({' and '.join(variants)})" for name, variants in STEP_BY_STEP.items())
    return f"{system}, variant {variant}, does not run step by step; {running} do"


def part_of(function: Callable) -> str:
    """The part that a step belongs to: that of the system whose folder holds its function.

    Where there are data planes, the other part is *cluster*. Raises ValueError for a function of any other system.
    """
    system = function.__module__.removeprefix("kafkaproof.spec.").partition(".")[0]
    if system not in SYSTEMS:
        raise ValueError(f"{function.__module__}.{function.__name__} is no step of a broker's process")
    return SYSTEMS[system]


def has_planes(model: Model) -> bool:
    """Whether a model has the data planes of its partitions."""
    return "planes" in model.state.fields


def named(replicas: list) -> dict:
    """The records of a broker's replicas, by name."""
    return {f"replicas[{p}]": replica for p, replica in enumerate(replicas)}


def parts(variant: str) -> tuple[Model, Model]:
    """The models of a variant."""
    found = cluster(variant)
    return found.election, found.partition


def continuations(model: Model, partitions: int, brokers: int) -> Iterator[tuple[Callable, dict[str, int]]]:
    """The steps with which the event in progress of a process may go on: transitions, and arguments for each partition
    and broker that they may concern. Who takes them, and how their requests are delivered, is not among the arguments.
    """
    sizes = {"p": partitions, "r": brokers}
    for transition in model.transitions:
        if transition.kind == CONTINUATION:
            wanted = [argument for argument in transition.arguments if argument in sizes]
            for values in product(*(range(sizes[argument]) for argument in wanted)):
                yield transition.function, dict(zip(wanted, values))


def is_lost(request, delivery: int) -> bool:
    """Whether a request (a seam with a `delivery`) is lost on its way to a real ZooKeeper, which stays unchanged.

    The models lose only requests that would be answered OK. On a network the refusal of a deposed controller may be
    lost as well, and so may a request in a session that has ended: the client gets LOST, and the answer on a retry.
    """
    code = request.__code__
    return delivery == LOST_DROPPED and "delivery" in code.co_varnames[: code.co_argcount]


def scopes(brokers: int, replicas: int, partitions: int, min_isr: int, epochs: int, log: int = 0) -> dict[str, Scope]:
    """The scope of each part, for a cluster of a size.

    `epochs` bounds controller epochs, leader epochs and faults; `log` the records of each partition, including those
    that were truncated.
    """
    shared = {"brokers": brokers, "epochs": epochs, "faults": epochs}
    planes = {"log": log, "records": log, "min_isr": min_isr, "leader_epochs": epochs}
    return {
        ELECTION: shared | {"receivers": brokers},
        PARTITION: shared | planes | {"replicas": replicas, "partitions": partitions},
    }


SHARED_FAULTS = {
    each.__name__ for each in (faults.crash, faults.expire_session, faults.expire_orphan, any_system.delete_controller)
}
"""The faults that affect both parts at once."""


Partners = list[tuple[str, int | None]]
"""Steps and their answers, None for one that makes no request."""


def partners_in_partition(name: str, answer: int | None, owner) -> Partners:
    """The steps of *partition* that go with a step of *election*, and their answers.

    `owner` is the broker's record in *partition*. There a term begins when the notifications are deleted; where the
    broker lost and won /controller again before it looked, the former term ends at that moment. A process that has not
    registered does not exist there.
    """
    rules = owner.controller.epoch > 0
    match name:
        case session.register_broker.__name__ if answer == OK:
            found = [((failover.reopen if owner.up else faults.restart), OK)]
        case active_controller.clean.__name__ if answer == OK:
            found = [(failover.resign, NONODE)] * rules + [(failover.elect, OK)]
        case maybe_resign.__name__ if answer in (OK, NONODE):
            found = [(failover.resign, answer)] * rules
        case faults.stop.__name__:
            found = [(faults.stop, OK)] * owner.up
        case _ if name in SHARED_FAULTS:
            return [(name, OK)]
        case _:
            return []
    return [(function.__name__, its_answer) for function, its_answer in found]


def partners_in_election(transition: Transition, answer: int | None, owner, refused: bool = False) -> Partners:
    """The steps of *election* that go with a step of *partition*, and their answers. Where a failover has failed, the
    step is one that makes no request; those that give up /controller follow it.

    `owner` is the broker's record in *partition* after the step: its term may go on though a write of it was FENCED.

    A write that is refused, other than by the check of the epoch, writes no more than a read does. The answer shows
    the refusal, or `refused` does where a step's answer is that of its read (`isr_notification`).
    """
    partner = transition.partner
    if transition.function.__name__ == failover.move_controller.__name__:
        return [(any_system.fail_batch.__name__, None)]
    if answer is None or partner is None:
        return []
    if answer == FENCED and owner.controller.epoch > 0:
        return [(active_controller.write_when_asked.__name__, FENCED)]
    refused = answer in REFUSED or refused and answer == OK
    if partner is active_controller.load or refused:
        return [(active_controller.load.__name__, EXPIRED if answer == EXPIRED else OK)]
    return [(partner.__name__, answer if answer in (FENCED, EXPIRED, LOST) else OK)]
