"""Requests of deposed controllers that brokers obeyed."""

from collections import defaultdict
from collections.abc import Iterator

from kafkaproof.traces.broker_logs.claims import Claim, Handled, Obeyed, Started, StateReceived
from kafkaproof.traces.broker_logs.history import AHEAD, History
from kafkaproof.traces.broker_logs.selection import grouped, of_kind, remark, seconds
from kafkaproof.traces.explain.facts.remarks import OBEYED, Remark

Told = Handled | StateReceived | Started | Obeyed


def obeyed(claims: list[Claim], history: History) -> Iterator[Remark]:
    """What a broker did for a controller after it had heard of a later one, or long after the later one was elected.

    A request that is on its way during the election is not remarked on.
    """
    late = _late_clocks(of_kind(claims, StateReceived), history)
    told: list[Told] = [
        *of_kind(claims, Handled),
        *of_kind(claims, StateReceived),
        *of_kind(claims, Started),
        *of_kind(claims, Obeyed),
    ]
    for teller, own in grouped(told, lambda claim: claim.teller):
        seen = set()
        for claim, by, heard in _in_turn(own):
            epoch = by.epoch if by.epoch is not None else history.epoch_of(by.broker, claim.time)
            if epoch is None or (claim.partition, epoch) in seen:
                continue
            if max(heard, history.epoch_at(claim.time - late[teller] - AHEAD)) > epoch:
                seen.add((claim.partition, epoch))
                yield remark(OBEYED, claim, _obeyed_text(claim, by.broker, epoch, history))


def _in_turn(claims: list[Told]) -> Iterator[tuple[Started | Obeyed, Handled | Obeyed, int]]:
    """What one broker did: each claim, the claim that names the controller, and the greatest epoch heard so far.

    A broker handles one request after the other; only since 2.6 does it log in turn that it has received one.
    """
    handled: Handled | None = None
    heard, in_turn = -1, False
    for claim in claims:
        if isinstance(claim, Handled):
            handled, in_turn = claim, in_turn or claim.epoch is None
        elif isinstance(claim, Started):
            if handled:
                yield claim, handled, heard
        elif isinstance(claim, Obeyed):
            yield claim, claim, heard
            heard = max(heard, claim.epoch)
        elif in_turn:
            heard = max(heard, claim.epoch)


def _late_clocks(claims: list[StateReceived], history: History) -> dict[int, int]:
    """How many ms each broker's clock may be ahead: it was never told of a state sooner after that was written."""
    ahead: dict[int, list[int]] = defaultdict(list)
    for claim in claims:
        written = history.states.get(claim.partition, {}).get((claim.leader, claim.leader_epoch))
        if written:
            ahead[claim.teller].append(claim.time - written)
    return defaultdict(int, {broker: max(0, min(times)) for broker, times in ahead.items()})


def _obeyed_text(claim: Started | Obeyed, controller: int, epoch: int, history: History) -> str:
    other, since = history.terms[later := min(each for each in history.terms if each > epoch)]
    present = history.state_at(claim.partition, claim.time)
    held = f"leader {present.after.leader}, ISR {list(present.after.isr)}" if present and present.after else "no state"
    own = f": it leads with ISR {list(claim.isr)}" if isinstance(claim, Started) and claim.isr is not None else ""
    return (
        f"broker {claim.teller} obeyed controller {controller} of epoch {epoch}, {seconds(claim.time - since)} "
        f"after broker {other} was elected with epoch {later}{own}; ZooKeeper had {held}"
    )
