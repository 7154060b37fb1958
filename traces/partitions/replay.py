"""Follows all partition states of a recording and explains each of their changes."""

from dataclasses import dataclass
from math import inf

from traces.cluster import Members
from traces.controllers import Controllers
from traces.partitions.case import Case, Reign
from traces.partitions.changes import Change, Changes
from traces.partitions.explanations import Explainer, Explanation
from traces.partitions.inputs import Inputs
from traces.partitions.leaving import Leaving
from traces.recording import Recording
from traces.zookeeper_tree import Tree

ELECTIONS = ("new_topic", "offline", "offline_unclean", "preferred", "reassign", "controlled_shutdown")
BY_LEADER, BY_ALTER_PARTITION = "leader's own write", "AlterPartition"


@dataclass(frozen=True)
class Explained:
    """A change and all its explanations, the preferred one first; `text` says why there is none."""

    change: Change
    explanations: tuple[Explanation, ...] = ()
    text: str = ""

    @property
    def ambiguous(self) -> bool:
        """Whether another strategy or trigger needs no more tokens than the preferred one."""
        best = self.explanations[:1]
        return any(e.tokens == best[0].tokens and e[:2] != best[0][:2] for e in self.explanations[1:])


def explain(recording: Recording, variant: str, members: Members, root: str) -> list[Explained]:
    """Explain each change of a partition state in a recording, in zxid order.

    What was written while the snapshot was taken is not judged: what stood before is unknown.
    """
    tree = Tree(recording.start)
    complete = recording.start.last_processed_zxid if recording.start else 0
    for transaction in recording.transactions:
        if transaction.zxid <= complete:
            tree.apply(transaction)
    controllers, inputs = Controllers(members, root, tree.nodes), Inputs(root, tree)
    changes = Changes(members, root, tree)
    for transaction in recording.transactions:
        if transaction.zxid > complete and not transaction.failed:
            tree.apply(transaction)
            controllers.add(transaction)
            inputs.add(transaction, tree)
            changes.add(transaction)
    leaving = Leaving(inputs.departures, inputs.last_time, changes.all)
    judge = _Judge(variant, controllers, inputs, leaving)
    return [judge.explain(change) for change in changes.all]


class _Judge:
    """Explains the changes of one log, in order: within a reign the view of /brokers/ids only moves forward."""

    def __init__(self, variant: str, controllers: Controllers, inputs: Inputs, leaving: Leaving):
        self._inputs, self._leaving = inputs, leaving
        self._explainer = Explainer(variant)
        elected = [controller for controller in controllers.all if controller.epoch is not None]
        self._first_epoch = min((controller.epoch for controller in elected), default=0)
        ends = [controller.epoch_zxid for controller in elected[1:]] + [inf]
        self._reigns = {
            (controller.epoch, controller.session): Reign(controller.epoch_zxid, end, controller.epoch_zxid)
            for controller, end in zip(elected, ends)
        }

    def explain(self, change: Change) -> Explained:
        """Find who made a change, and why."""
        before, after = change.before, change.after
        if after is None:
            return Explained(change, text="what is written is no partition state")
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
        case = Case(change, reign, self._inputs, self._leaving)
        reign.last[change.partition] = change.zxid
        found = self._explainer.explanations(case)
        if not found:
            return Explained(change, text=why_not(case))
        views = [reign.view if e.view is None else e.view for e in found]
        reign.view = max(reign.view, min(views))
        found.sort(key=lambda e: (e.tokens, -(change.zxid if e.view is None else e.view)))
        if found[0].strategy in ELECTIONS:
            reign.elected[change.partition] = min(e.view for e in found if e.strategy in ELECTIONS)
        return Explained(change, tuple(found))

    def _by_leader(self, change: Change) -> Explained:
        """The leader wishes an ISR, and writes it or asks the controller to (AlterPartition, 2.7+)."""
        before, after = change.before, change.after
        trigger = BY_ALTER_PARTITION if change.checked else BY_LEADER
        if after.leader != before.leader or after.leader not in after.isr:
            return Explained(change, text="the leader epoch stays, and the leader does not or is not in the ISR")
        if change.checked and self._reign_of(change) is None or not change.checked and change.broker != after.leader:
            return Explained(change, text=f"an ISR written by {writer(change)}, who is neither leader nor controller")
        strategy = strategy_of(frozenset(before.isr), frozenset(after.isr))
        assigned = self._inputs.assignments(change.partition, change.zxid, change.zxid)
        strangers = set(after.isr) - set(before.isr) - {r for v in assigned for r in v.value.replicas}
        if strategy is None or strangers:
            return Explained(change, text="no ISR that a leader may wish")
        return Explained(change, (Explanation(strategy, trigger, None),))

    def _reign_of(self, change: Change) -> Reign | None:
        """The reign that a change claims to be of, None if its writer has not won it."""
        if 0 < change.after.controller_epoch < self._first_epoch:
            self._reigns.setdefault(change.reign, Reign(0, inf, 0))
        reign = self._reigns.get(change.reign)
        return reign if reign and reign.start < change.zxid else None


def strategy_of(before: frozenset[int], after: frozenset[int]) -> str | None:
    """What a leader did to its ISR; None where it did not just let some in or put some out."""
    if after > before:
        return "isr_expand"
    return "isr_shrink" if after < before else None


def writer(change: Change) -> str:
    """Whose session wrote a change."""
    whose = "no broker's session" if change.broker is None else f"broker {change.broker}"
    return f"{whose} ({change.session:#x})"


def why_not(case: Case) -> str:
    """Why nothing explains a controller's change: what it may have read."""
    orders = " or ".join(str(list(order)) for order in case.assignments) or "unknown"
    views = ", ".join(f"{sorted(view.value)} since {view.zxid:#x}" for view in case.views)
    return f"no strategy gives this with assignment {orders} and a view of /brokers/ids of {views}"
