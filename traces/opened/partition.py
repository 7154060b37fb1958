"""A partition before a write that no event explains: its controller, before each event that replay has tried."""

from collections.abc import Iterator

import numpy as np

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import values_of
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.evidence.state_changes import Change
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.terms import ObservedTerm
from kafkaproof.traces.explain.partitions.case import Case, case_of, unclean_at
from kafkaproof.traces.explain.partitions.events import Beginnings, Partition, Seen
from kafkaproof.traces.explain.partitions.explanations import Explainer, special_variants
from kafkaproof.traces.explain.partitions.proposals import proposals_of
from kafkaproof.traces.explain.partitions.replay import explain_changes
from kafkaproof.traces.explain.partitions.scene import PARTITION, Begun, Scene, Written, stage_of
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.explain.partitions.ways import BY_REQUEST, DIRECTORY, FAILURE, FORCED, SHUTDOWN, START_UP, Way
from kafkaproof.traces.opened.standing import ROOM, Choice, Standing, before_the_write, numbered, whole

MOST_BROKERS = 8
"""A state with more of them has too many steps to look at."""
_UNSEEN = (SHUTDOWN, DIRECTORY, FORCED, BY_REQUEST)
"""What no log shows: tried last."""
_OF_A_BROKER = (FAILURE, START_UP, SHUTDOWN, DIRECTORY)
_BY = {"asks": "preferred election by request", "balances": "preferred election by timer"}
"""The names of events that have the same trigger."""
_ASSUMED = (
    "Of other partitions, and of what is on its way, nothing is known here. Brokers that are registered are taken to run, "
    "and to know the partition's state; the others are taken to be down."
)


class _Tried(Explainer):
    """Notes the events that are tried for a change, of which none explains it."""

    def __init__(self, features: Features):
        super().__init__(features)
        self.ways: dict[Way, None] = {}

    def _may_write(self, way: Way, written: Written) -> bool:
        self.ways.setdefault(way)
        return False


def partition_before(evidence: Evidence, change: Change, term: ObservedTerm | None) -> Standing | None:
    """The partition of a change as it is before it. `term`: of the controller that has to do with it, None where none has.

    None where too many brokers have to do with it.
    """
    explain_changes(evidence, change.zxid)
    begun = [each for each in _begun(evidence, change, term) if each[1].scene.seat < MOST_BROKERS]
    if not begun:
        return None
    model, scope = begun[0][1].scene.stage.model, _scope(begun[0][1].scene)
    own = [(text, each) for text, each in begun if each.scene.stage.model is model and _scope(each.scene) == scope]
    choices: dict[tuple, Choice] = {}
    for text, each in own:
        state = whole(model, each.scene.state, scope, scope, each.scene.seat)
        if (key := tuple(values_of(state))) not in choices:
            path = before_the_write(model, scope, state, each)
            choices[key] = Choice(f"{text}; here {numbered(each.scene.brokers)}", state, path)
    return Standing(model, scope, list(choices.values()), _told(change, begun[0][1].scene, term))


def _scope(scene: Scene) -> dict[str, int]:
    return scene.stage.scope(scene.seat + 1, len(scene.state.zk.partitions))


def _told(change: Change, scene: Scene, term: ObservedTerm | None) -> tuple[str, ...]:
    name, known = f"{change.topic}-{change.number}", change.before
    epochs = [f"leader epoch 0 stands for {known.leader_epoch}"] if known else []
    epochs += [f"controller epoch 1 stands for {term.epoch}"] if term and term.epoch else []
    counted = f" Epochs count from here: {', '.join(epochs)}." if epochs else ""
    return (
        f"This is partition {name} before that, as replay judges it. Brokers are numbered from 0, and the controller, "
        f"{scene.seat}, is taken for a broker of its own, without replicas.{counted}",
        _ASSUMED,
    )


def _begun(evidence: Evidence, change: Change, term: ObservedTerm | None) -> Iterator[tuple[str, Begun]]:
    """What may have been about to happen, in words, with the states before it, the likeliest first."""
    live, features = evidence.inputs.brokers.at(change.zxid - 1), evidence.features
    before, after = change.before, change.after
    assigned = evidence.inputs.assigned((change.topic, change.number), change.zxid - 1)
    replicas = assigned.replicas if assigned else ()
    if before and after and before.leader != NOBODY and before.leader_epoch == after.leader_epoch:
        known, isr, proposals = (
            Elected(before.leader, frozenset(before.isr)),
            frozenset(after.isr),
            proposals_of(features),
        )
        members = known.isr.union(replicas)
        if change.checked:
            yield "a leader asks for another ISR", proposals.granting(known, isr, members, live, ROOM)
        else:
            yield "the leader writes another ISR", proposals.writing(known, isr, members, ROOM)
        return
    if term:
        case = _case(evidence, change, term)
        ways = _ways(features, case) or _ways(features, _usual(case))
        ways = [way for way in ways if _begin(features, way).run()] or ways
        for way in sorted(ways, key=lambda way: (way.trigger in _UNSEEN, way.partition.replicas != replicas)):
            yield _words(way), _begin(features, way)
    partition = Partition(replicas, *((before.leader, frozenset(before.isr)) if before else ()))
    own = live.intersection(replicas, before.isr if before else replicas) | live.intersection(replicas)
    stage = stage_of(features.explaining[0], room=ROOM)
    yield "its controller is in the middle of nothing", Beginnings(stage).rests(partition, Seen(own))


def _case(evidence: Evidence, change: Change, term: ObservedTerm) -> Case:
    """All that the explanations of a change depend on; one that is missing would have changed nothing."""
    name, zxids = (change.topic, change.number), np.array([change.zxid])
    moment = evidence.views.moments(np.array([0]), [term.key], np.array([change.time]), zxids)[0]
    leader = change.before.leader if change.before else None
    sights = evidence.views.sights(term, leader, term.elected.get(name, term.start), moment).value
    case = case_of(change, term, evidence)
    outside = case.known is not None and case.written.leader not in case.known.isr
    unclean = unclean_at(change, term, sights, evidence) if outside else ()
    return case._replace(sights=sights, unclean=unclean)


def _usual(case: Case) -> Case:
    """The same with another write: that of a controller to which all replicas of a new partition are live."""
    orders = case.assignments[-1:] if case.known is None else ()
    return case._replace(written=Elected(orders[0][0], frozenset(orders[0]))) if orders else case


def _ways(features: Features, case: Case) -> list[Way]:
    """The events that replay tries, those by the newest view of /brokers/ids first."""
    tried = _Tried(features)
    for place in reversed(range(len(case.sights))):
        unclean = case.unclean[place : place + 1]
        tried.explanations(case._replace(sights=case.sights[place : place + 1], unclean=unclean))
    return list(tried.ways)


def _begin(features: Features, way: Way) -> Begun:
    """An event before it begins, in the newest of the variants that replay has tried."""
    variants, system = special_variants(features).get(way.event, (features.explaining, PARTITION))
    return getattr(Beginnings(stage_of(variants[0], system, ROOM)), way.event)(way.partition, way.seen, *way.more)


def _words(way: Way) -> str:
    """An event in words, with what the controller goes by."""
    seen = way.seen
    trigger = _BY.get(way.event, way.trigger) if way.trigger == BY_REQUEST else way.trigger
    told = [f"{trigger} ({way.more[0]})" if trigger in _OF_A_BROKER and way.more[0] >= 0 else trigger]
    told += [f"live {sorted(seen.live)}", f"replicas {list(way.partition.replicas)}"]
    for which, name in ((seen.offline, "shutting down"), (seen.failed, "without the log directory")):
        told += [f"{name} {sorted(which)}"] if which else []
    flags = {
        "unclean elections allowed": seen.unclean,
        "leaderless before": seen.leaderless,
        "to be deleted": seen.queued,
    }
    return ", ".join([*told, *(name for name, holds in flags.items() if holds)])
