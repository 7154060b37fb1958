"""The judge of requests of groups: follows each group at its coordinators."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import inf

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.explain.partitions.sent import LEADER_AND_ISR
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.groups.calls import GROUP_APIS, Call, calls_of
from kafkaproof.traces.wire.groups.coordinators import FIND, Coordinators, elected
from kafkaproof.traces.wire.groups.follow import Follower
from kafkaproof.traces.wire.groups.hidden import Hidden
from kafkaproof.traces.wire.groups.machine import Machine, machines_for
from kafkaproof.traces.wire.groups.names import Names
from kafkaproof.traces.wire.groups.situation import nothing_known, scope_of
from kafkaproof.traces.wire.groups.steps import Steps
from kafkaproof.traces.wire.groups.unjudged import OTHERS, Unjudged
from kafkaproof.traces.wire.traffic import Traffic
from kafkaproof.traces.wire.verdicts import LISTED, OPEN, STEP, WRONG, Judged, Verdict

SEARCHES = ((0, False, True), (0, True, True), (2, True, True), (0, False, False), (2, True, False))
"""How widely explanations are looked for, tried in this order: `width` and `everywhere` of a `Follower`, and `vacant` of what
brokers have heard: the fewer situations come first.
"""
NOT_FOLLOWED = Verdict(LISTED, "it changes groups, and is not followed")
_WORST = (WRONG, OPEN, LISTED, STEP)


def judge_groups(traffic: Traffic, judged: Judged) -> None:
    """Judge what members of groups and tools ask coordinators, and what these answer."""
    coordinators = Coordinators(traffic.history)
    for each in traffic.of(FIND):
        judged.note(each, coordinators.judge(each))
    verdicts: dict[Exchange, list[Verdict]] = defaultdict(list)
    groups: dict[str, list[Call]] = defaultdict(list)
    exchanges = list(traffic.of(*GROUP_APIS))
    begin = min((each.time for each in traffic.exchanges), default=0)
    unjudged = Unjudged(coordinators, list(traffic.of(*OTHERS)), begin)
    for each in traffic.of(*OTHERS):
        judged.note(each, NOT_FOLLOWED)
    for exchange in exchanges:
        for call in calls_of(exchange):
            if why := unjudged.why(call):
                verdicts[exchange].append(why)
            else:
                groups[call.group].append(call)
    for verdict_of in _best(traffic, coordinators, groups):
        for call, verdict in verdict_of.items():
            verdicts[call.exchange].append(verdict)
    for exchange in exchanges:
        own = verdicts[exchange] or [Verdict(LISTED, "it is of no group")]
        judged.note(exchange, min(own, key=lambda each: _WORST.index(each.kind)))


def _best(traffic: Traffic, coordinators: Coordinators, groups: dict[str, list[Call]]) -> Iterable[dict[Call, Verdict]]:
    """What is said of all calls by the variant that explains most; all coordinators are of one. More is tried where less
    explains not all, of any variant.
    """
    machines = machines_for(traffic.features.releases)
    best: dict[Machine, dict[str, Follower]] = {machine: {} for machine in machines}
    for search in SEARCHES:
        for machine in machines:
            own = best[machine]
            for name, calls in groups.items():
                if name not in own or own[name].explained_until < inf:
                    found = _followed(machine, coordinators, traffic, name, calls, search)
                    own[name] = max(found, own.get(name, found), key=lambda each: each.explained_until)
            if _explained_until(own) == inf:
                return [each.verdicts for each in own.values()]
    most = max(best.values(), key=_explained_until, default={})
    return [each.verdicts for each in most.values()]


def _explained_until(followers: dict[str, Follower]) -> float:
    """Until when (ms) all groups are explained."""
    return min((each.explained_until for each in followers.values()), default=inf)


def _followed(
    machine: Machine,
    coordinators: Coordinators,
    traffic: Traffic,
    name: str,
    calls: list[Call],
    search: tuple[int, bool, bool],
) -> Follower:
    """One group, followed as far as it can be."""
    elections = coordinators.elections(name)
    names = Names(calls, {call.broker for call in calls} | {leader for _, leader in elections if leader != NOBODY})
    elected_here = elected(elections, {broker: names.place(broker) for broker in names.brokers})
    width, everywhere, vacant = search
    steps = Steps(machine, names, coordinators.heard(traffic.of(LEADER_AND_ISR), name, vacant))
    hidden = Hidden(steps, elected_here, [coordinators.lives(broker) for broker in names.brokers])
    leaders = [each.leader for each in elected_here] + [NOBODY]
    first = nothing_known(len(names.brokers), leaders, scope_of(*names.sizes, len(leaders)))
    follower = Follower(steps, hidden, first, width, everywhere)
    follower.follow(calls)
    return follower
