"""The cluster: what the process of one broker runs, as two systems side by side.

*election* has the sessions, the registrations and the controllership; *partition* has the controller's events,
the state machines and the replicas. Each broker has a record of both. Some steps are steps of both: one acts,
makes the request and gets the answer; the other, its partner, follows with the same answer. In *election*
all that a controller asks for is a `clean` (a write) or a `load` (a read), which is what they stand for there;
in *partition* the election is a single step, and so are the end of a reign and a new session.

Whatever runs a cluster, or replays one, goes by this table.
"""

from __future__ import annotations

from dataclasses import dataclass

from spec.catalogue import find
from spec.controller.belief import LOADING, NONE
from spec.controller.reign import at_work
from spec.language.domains import Scope
from spec.language.model import Model
from spec.zookeeper import EXPIRED, FENCED, LOST, NONODE, OK

ELECTION, PARTITION = "election", "partition"
VARIANTS = ("fenced", "legacy")

READS = ("load_brokers", "load_state", "read_for_election", "read_for_removal", "broker_change", "log_dir_notification")
WRITES = (
    "write_leader", "create_first_state", "write_removal", "delete_request", "alter_partition", "isr_notification",
)
"""The steps of a controller in *partition* that make a request."""


@dataclass(frozen=True)
class Cluster:
    """The two systems in one variant of Kafka's history."""

    variant: str
    election: Model
    partition: Model

    def model(self, part: str) -> Model:
        """The model of `part`."""
        return self.election if part == ELECTION else self.partition


def cluster(variant: str) -> Cluster:
    """The cluster of a variant; raises LookupError."""
    return Cluster(variant, find(ELECTION, variant)[0], find(PARTITION, variant)[0])


def scopes(brokers: int, replicas: int, partitions: int, epochs: int) -> dict[str, Scope]:
    """The scope of each part for a cluster of this size; `epochs` bounds controller and leader epochs and faults."""
    shared = {"brokers": brokers, "epochs": epochs, "faults": epochs}
    return {
        ELECTION: shared | {"receivers": brokers},
        PARTITION: shared | {"replicas": replicas, "partitions": partitions, "leader_epochs": epochs},
    }


def may_ask(candidate, name: str) -> bool:
    """Whether the controller of a broker may take the step `name` of *partition*, which makes a request.

    `candidate` is its record in *election*.
    """
    return at_work(candidate) or name == "load_brokers" and candidate.doing == LOADING


def partner_of_election(name: str, answer: int | None, before, after, owner) -> tuple[str, int] | None:
    """The step of *partition* that goes with a step of *election*, and its answer; None for none.

    `before` and `after` are the broker's record in *election*, `owner` is the one in *partition*.
    """
    if name == "register_broker" and answer == OK:
        return ("reopen" if owner.up else "restart"), OK
    if before.ruling == NONE and after.ruling != NONE:
        return "elect", OK
    if name == "maybe_resign" and answer in (OK, NONODE) and owner.controller.epoch > 0:
        return "resign", answer
    if name in ("stop", "crash", "expire_session", "expire_orphan", "delete_controller"):
        return name, OK
    return None


def partner_of_partition(name: str, answer: int | None) -> tuple[str, int] | None:
    """The step of *election* that goes with a step of *partition*, and its answer; None for none."""
    if answer is None:
        return None
    if name in READS:
        return "load", EXPIRED if answer == EXPIRED else OK
    if name in WRITES:
        return "clean", answer if answer in (FENCED, EXPIRED, LOST) else OK
    return None
