"""Which steps of `partition` are one step here, and how its choices are narrowed: coarser steps, for more of them.

The transitions are those of `partition`. What a controller reads and what it then writes is one step, so that nobody
writes in between; so is all that a new controller reads; and no answer is lost. Every behaviour is one of the fine model,
without the states in the middle of a step (`tests/checker/test_topics_system.py`).
"""

from dataclasses import replace

from kafkaproof.spec.language.combine import at_once, for_each
from kafkaproof.spec.language.domains import Choice
from kafkaproof.spec.language.model import Model, Transition, concerning
from kafkaproof.spec.partition import failover, faults, machines
from kafkaproof.spec.partition.phases import phases
from kafkaproof.spec.partition.reassignment import reassignment

ALWAYS_ANSWERED = {"delivery": Choice("ANSWERED")}
LOAD_CONTEXT, ELECT_LEADER, REMOVE_REPLICA, CHECK = "load_context", "elect_leader", "remove_replica", "check"


def names(*functions):
    """The names of transitions."""
    return tuple(each.__name__ for each in functions)


JOINED = {
    ELECT_LEADER: names(machines.read_for_election, machines.write_leader),
    REMOVE_REPLICA: names(machines.read_for_removal, machines.write_removal),
    CHECK: names(reassignment.check_reassignment, reassignment.tell_replicas),
    "raise_epoch": names(phases.read_leader_epoch, reassignment.tell_replicas),
    "crash": names(faults.crash, faults.expire_orphan),
}
"""By the name of a step: the transitions that it joins, where a model has the first of them."""
LOADING = names(failover.load_brokers, failover.load_state)
"""What `LOAD_CONTEXT` joins: a new controller lists the brokers, and reads every partition."""


def coarse(model: Model, without: set[str], **changes) -> Model:
    """A model with these steps joined, no answer lost, and without some transitions."""
    fine = {each.function.__name__: each for each in model.transitions if each.function.__name__ not in without}
    joins = {name: parts for name, parts in JOINED.items() if parts[0] in fine}
    parts = {part for found in joins.values() for part in found} | {*LOADING}
    kept = [each for name, each in fine.items() if name not in parts]
    load = for_each(fine[LOADING[1]].function, "p", "brokers[b].controller.partitions")
    made = [_made(fine[LOADING[0]], at_once(LOAD_CONTEXT, fine[LOADING[0]].function, load))]
    for name, (first, second) in joins.items():
        made.append(_made(fine[first], at_once(name, fine[first].function, fine[second].function)))
    transitions = tuple(_answered(each) for each in (*kept, *made))
    return replace(model, transitions=transitions, properties=concerning(model.properties, transitions), **changes)


def _made(first: Transition, function) -> Transition:
    """A step that begins like another one; what runs takes no such steps, so there is no partner."""
    return replace(first, function=function, partner=None)


def _answered(transition: Transition) -> Transition:
    return replace(transition, only=ALWAYS_ANSWERED) if "delivery" in transition.arguments else transition
