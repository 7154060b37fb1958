"""Follows all partition states of a recording and explains each of their changes."""

from dataclasses import dataclass
from functools import cache, lru_cache

from traces.evidence import Evidence
from traces.partitions.case import Case, case_of
from traces.partitions.changes import Change, Partition
from traces.partitions.explanations import Explanation, explainer_of
from traces.reigns import Reign

ELECTIONS = ("new_topic", "offline", "offline_unclean", "preferred", "reassign", "controlled_shutdown")
BY_LEADER, BY_ALTER_PARTITION = "leader's own write", "AlterPartition"


@dataclass(slots=True)
class Explained:
    """A change and all its explanations, the preferred one first; `text` says why there is none.

    `certain`: nothing that was before the log could have explained it.
    """

    change: Change
    explanations: tuple[Explanation, ...] = ()
    text: str = ""
    certain: bool = True

    def may_be(self, trigger: str) -> bool:
        """Whether some explanation has that trigger."""
        for explanation in self.explanations:
            if explanation.trigger == trigger:
                return True
        return False


def is_ambiguous(explanations: tuple[Explanation, ...]) -> bool:
    """Whether another strategy or trigger needs no more tokens than the preferred one."""
    best = explanations[:1]
    return any(e.tokens <= best[0].tokens and e[:2] != best[0][:2] for e in explanations[1:])


def explain_changes(evidence: Evidence) -> list[Explained]:
    """Explain each change of a partition's state in a stream by what controllers may have read."""
    judge = _Judge(evidence)
    return [judge.explain(change) for change in evidence.changes.all]


class _Judge:
    """Explains the changes of one stream, in order: within a reign the view of /brokers/ids only moves forward."""

    def __init__(self, evidence: Evidence):
        self._evidence = evidence
        self._told: dict[Partition, int] = {}
        self._explainer = explainer_of(evidence.features)

    def explain(self, change: Change) -> Explained:
        """Find who made a change, and why."""
        before, after = change.before, change.after
        if after and (before is None or after.leader_epoch != before.leader_epoch):
            self._told[change.partition] = change.zxid
        if after is None:
            return Explained(change, text="what is written is no partition state")
        if len(set(after.isr)) < len(after.isr):
            return Explained(change, text="the ISR has a replica twice")
        if before and after.leader_epoch == before.leader_epoch:
            return self._by_leader(change)
        expected = before.leader_epoch + 1 if before else 0
        if after.leader_epoch != expected:
            return Explained(change, text=f"leader epoch {after.leader_epoch}, where it can only be {expected}")
        if before and after.controller_epoch < before.controller_epoch:
            return Explained(change, text="a controller that finds a state of a later one does not write it")
        return self._by_controller(change)

    def _by_controller(self, change: Change) -> Explained:
        reign = self._reign_of(change)
        if reign is None:
            return Explained(change, text=f"written in controller epoch {change.after.controller_epoch} by "
                                          f"{writer(change)}, who did not win it")
        case = case_of(change, reign, self._evidence)
        reign.last[change.partition] = change.zxid
        found = self._explainer.explanations(case)
        if not found:
            return Explained(change, text=why_not(case, self._explainer.allowed(case)), certain=not reign.unknown)
        reign.see(change.zxid, min(reign.view if e.view is None else e.view for e in found))
        if found[0].strategy in ELECTIONS:
            reign.elected[change.partition] = min(e.view for e in found if e.strategy in ELECTIONS)
            reign.elections[change.partition] = change.zxid, found[0].strategy, found[0].trigger
        return Explained(change, found)

    def _by_leader(self, change: Change) -> Explained:
        """The leader wishes an ISR, and writes it or asks the controller to (AlterPartition, 2.7+).

        It lets in replicas of any assignment since it was told to lead in its leader epoch.
        """
        before, after = change.before, change.after
        trigger = BY_ALTER_PARTITION if change.checked else BY_LEADER
        if after.leader != before.leader or after.leader not in after.isr:
            return Explained(change, text="the leader epoch stays, and the leader does not or is not in the ISR")
        if change.checked and self._reign_of(change) is None or not change.checked and change.broker != after.leader:
            return Explained(change, text=f"an ISR written by {writer(change)}, who is neither leader nor controller")
        strategy = strategy_of(before.isr, after.isr)
        if strategy != "isr_shrink":
            assigned = self._evidence.inputs.assignments(
                change.partition, self._told.get(change.partition, 0), change.zxid)
            members = {*before.isr, *(r for v in assigned for r in v.value.replicas)}
            if strategy is None or not members.issuperset(after.isr):
                allowed = f"allowed there: a larger or a smaller one that has {after.leader}, of {sorted(members)}"
                return Explained(change, text=f"no ISR that a leader may wish; {allowed}")
        return Explained(change, _wished(strategy, trigger))

    def _reign_of(self, change: Change) -> Reign | None:
        """The reign that a change claims to be of, None if its writer has not won it."""
        reign = self._evidence.reigns.claimed(*change.reign)
        return reign if reign and reign.start < change.zxid else None


@cache
def _wished(strategy: str, trigger: str) -> tuple[Explanation, ...]:
    return (Explanation(strategy, trigger, None),)


@lru_cache(maxsize=10_000)
def strategy_of(before: tuple[int, ...], after: tuple[int, ...]) -> str | None:
    """What a leader did to its ISR; None where it did not just let some in or put some out."""
    if set(after) > set(before):
        return "isr_expand"
    return "isr_shrink" if set(after) < set(before) else None


def writer(change: Change) -> str:
    """Whose session wrote a change."""
    whose = "no broker's session" if change.broker is None else f"broker {change.broker}"
    return f"{whose} ({change.session:#x})"


def why_not(case: Case, allowed: list[str]) -> str:
    """Why nothing explains a controller's change: what it may have read, and what it might have written by that."""
    orders = " or ".join(str(list(order)) for order in case.assignments) or "unknown"
    views = ", ".join(f"{sorted(view.brokers)} since {view.zxid:#x}" for view, *_ in case.sights)
    return f"no strategy gives this with assignment {orders} and a view of /brokers/ids of {views}; " \
           f"allowed there: {', '.join(allowed) or 'nothing'}"
