"""A controller in the middle of a deletion or a reassignment, before a write that is no step of it."""

from collections.abc import Iterator
from dataclasses import replace

from kafkaproof.spec.language.plain import Plain, ids_in, values_of
from kafkaproof.spec.partition.deletion.event_properties import states_deleted_in_turn
from kafkaproof.spec.partition.reassignment.state import CHECKING
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.terms import ObservedTerm, TermKey
from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.explain.partitions.replay import explain_changes
from kafkaproof.traces.explain.partitions.topic_steps import TopicSteps
from kafkaproof.traces.explain.topics.context import Context
from kafkaproof.traces.explain.topics.handlers import Handlers
from kafkaproof.traces.explain.topics.replay import Judge
from kafkaproof.traces.explain.topics.work_in_progress import Completing, Reassigning, Work
from kafkaproof.traces.opened.partition import MOST_BROKERS
from kafkaproof.traces.opened.standing import ROOM, Choice, Standing, numbered, whole
from kafkaproof.traces.zookeeper.znodes.topics import PlaceKind, topic_in

_CONTROLLER, _PARTITIONS = 0, 2
"""The number of the controller, and of how many partitions of a topic that is deleted the states are."""
_ASSUMED = (
    "Of other topics, and of what is on its way, nothing is known here. Brokers that are registered are taken to run, and to "
    "know the partition's state; the others are taken to be down."
)


def work_before(evidence: Evidence, write: Write, term_key: TermKey | None = None) -> Standing | None:
    """What the controller of a write is in the middle of before it, or may begin with it; None where that is nothing.

    Like Kafka's, it may take partitions and replicas in any order: no property of their order is asked. `term_key`: epoch
    and session of the controller, where the write need not be its own.
    """
    judge = Judge(evidence, explain_changes(evidence, write.zxid))
    context, handlers = judge.run_before(write.zxid)
    term = evidence.terms.claimed(*term_key) if term_key else judge.term(write, None)
    steps = context.steps
    if term is None or len(steps.brokers) > MOST_BROKERS:
        return None
    works = handlers.at_work(term) or list(_begun(context, write, term))
    found = [(work.text, state) for work in works for state in _states(work, handlers, write, term, context.last(term))]
    if not found:
        return None
    live = evidence.inputs.brokers.at(write.zxid - 1)
    partitions = len(found[0][1].zk.partitions)
    scope = steps.scope(partitions, ROOM)
    choices: dict[tuple, Choice] = {}
    for text, judged in found:
        state = _explored(steps, judged, scope, live)
        taken = sorted(steps.brokers[each] for each in ids_in(state.brokers[_CONTROLLER].controller.live))
        known = f", and takes {taken} for live" if taken else ""
        choices.setdefault(tuple(values_of(state)), Choice(f"its controller is at {text}{known}", state))
    told = (
        f"This is a controller at work before that, as replay judges it. Brokers are numbered from 0: "
        f"{numbered(steps.brokers)}. The controller is taken to be {_CONTROLLER}, whichever broker it was. Epochs count from "
        f"here: controller epoch 1 stands for {term.epoch}.",
        _ASSUMED,
    )
    properties = tuple(p for p in steps.model.properties if p.name != states_deleted_in_turn.__name__)
    return Standing(replace(steps.model, properties=properties), scope, list(choices.values()), told)


def _states(work: Work, handlers: Handlers, write: Write, term: ObservedTerm, last: int) -> list[Plain]:
    """The states in which a controller may be in the middle of something."""
    if isinstance(work, Completing):
        return [work.of_few(_PARTITIONS).state]
    scene = handlers.scene(work, write, term, last)
    return work.states(scene) if isinstance(work, Reassigning) and scene else []


def _begun(context: Context, write: Write, term: ObservedTerm) -> Iterator[Work]:
    """What a write of a controller that is in the middle of nothing may begin."""
    place = write.place
    if place.kind == PlaceKind.TOPIC and write.form == Form.SET and (topic := topic_in(write.data)):
        queued = context.deletions.surely_queued(term, place.topic, write.zxid)
        tried = context.reassignments.tried(context.memory(term), write, topic, context.last(term), queued)
        yield from (work for work, _ in tried)
    elif place.topic and write.form == Form.DELETE:
        yield Completing.of(context.steps, place.topic, context.world.topics[place.topic])


def _explored(steps: TopicSteps, judged: Plain, scope: dict[str, int], live: frozenset[int]) -> Plain:
    """A state that replay has judged by, with the brokers registered that were so in the log."""
    partitions = len(judged.zk.partitions)
    s = judged.copy()
    s.zk.registered = steps.bits(live.intersection(steps.brokers)) | 1 << _CONTROLLER
    if s.brokers[_CONTROLLER].controller.doing == CHECKING:
        s.brokers[_CONTROLLER].controller.live = s.zk.registered
    return whole(steps.model, s, steps.scope(partitions), scope, _CONTROLLER)
