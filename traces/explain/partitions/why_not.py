"""Why nothing explains a controller's change: what it may have read, and what it might have written by that."""

from collections.abc import Iterator

from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.case import Case
from kafkaproof.traces.explain.partitions.elections import Elections, elections_of
from kafkaproof.traces.explain.partitions.strategies import Elected, Strategy


def why_not(case: Case, features: Features) -> str:
    """In words: the orders of the replicas, the views of /brokers/ids, and what was allowed by them."""
    if case.newer:
        return "no event writes over the state of a controller of a higher epoch"
    allowed = dict.fromkeys(
        f"{name}: leader {new.leader}, ISR {sorted(new.isr)}"
        for name, new in _results(case, elections_of(features))
        if new
    )
    orders = " or ".join(str(list(order)) for order in case.assignments) or "unknown"
    views = ", ".join(f"{sorted(view.brokers)} since {view.zxid:#x}" for view, *_ in case.sights)
    return (
        f"no event writes this with assignment {orders} and a view of /brokers/ids of {views}; "
        f"allowed there: {', '.join(allowed) or 'nothing'}"
    )


def _results(case: Case, elections: Elections) -> Iterator[tuple[Strategy, Elected | None]]:
    """What each strategy would write by some view and assignment."""
    known = case.known
    for sight in case.sights:
        online = sight.view.brokers
        for replicas in case.assignments:
            if known is None:
                yield Strategy.NEW_TOPIC, elections.new_topic(replicas, online)
                continue
            yield Strategy.OFFLINE, elections.offline(replicas, known.isr, online, False)
            yield Strategy.PREFERRED, elections.preferred(replicas, known.isr, online)
            for target in case.targets:
                yield Strategy.REASSIGN, elections.reassign(target, known.isr, online)
    if known is not None:
        for replica in sorted(known.isr):
            yield Strategy.REMOVAL, elections.removal(known.leader, known.isr, replica, False)
