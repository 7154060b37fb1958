"""What went wrong, as brokers' logs and ZooKeeper's show only together.

Here: states that nobody was told of, leaders that are refused, controllers that keep old requests. In modules of their
own: requests that are obeyed too late, and records that are gone.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from kafkaproof.checker.basics.words import times
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.broker_logs.claims import (
    BadVersion,
    Claim,
    Ineligible,
    NotEmpty,
    NotMade,
    PartitionClaim,
    ShutdownAsked,
    StaleVersion,
    State,
)
from kafkaproof.traces.broker_logs.deposed import obeyed
from kafkaproof.traces.broker_logs.history import AHEAD, History
from kafkaproof.traces.broker_logs.lost_records import deleted, truncated
from kafkaproof.traces.broker_logs.selection import grouped, of_kind, remark, seconds
from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.explain.facts.remarks import CLOSED, DEAD, REFUSED, STANDS, UNTOLD, Remark

_LATELY = 60_000
"""A broker that shuts down has asked for it within so many ms."""


def remarks_in(claims: Iterable[Claim], history: History) -> list[Remark]:
    """All remarks, in the order of time. `claims`: their times are those of ZooKeeper's clock."""
    near = [claim for claim in claims if history.first - AHEAD <= claim.time <= history.last + AHEAD]
    found = [
        *obeyed(near, history),
        *truncated(near, history),
        *deleted(near),
        *_untold(near, history),
        *_refused(near, history),
        *_refused_itself(near, history),
        *_closed(near, history),
        *_dead(near, history),
    ]
    return sorted(found, key=lambda each: (each.time, each.what))


def _untold(claims: list[Claim], history: History) -> Iterator[Remark]:
    """First states that a controller wrote and does not know of: it is refused when it writes them again."""
    told = {(claim.partition, claim.leader_epoch, claim.epoch) for claim in of_kind(claims, State)}
    for partition, failed in grouped(of_kind(claims, NotMade), lambda claim: claim.partition):
        claim = failed[0]
        made = history.state_at(partition, claim.time + AHEAD)
        if made is None or made.after is None or made.before or made.after.controller_epoch != claim.epoch:
            continue
        until, how = history.ends(made)
        lasts = until is None or until - made.time >= STANDS
        if lasts and (partition, made.after.leader_epoch, claim.epoch) not in told:
            yield remark(
                UNTOLD,
                claim,
                (
                    f"controller {claim.broker} of epoch {claim.epoch} wrote leader {made.after.leader}, ISR "
                    f"{list(made.after.isr)} at {made.zxid:#x}, did not know it, and told nobody: the partition stayed New "
                    f"for {seconds((until or history.last) - made.time)}, {how}; it tried again {times(len(failed))}"
                ),
                made,
            )


def _refused(claims: list[Claim], history: History) -> Iterator[Remark]:
    """Leaders whose ISR the controller cannot write, since what it remembers is not what stands (2.7 and later)."""

    def same(claim: BadVersion) -> tuple[Partition, int]:
        return claim.partition, claim.leader_epoch or 0

    for _, refused in grouped(of_kind(claims, BadVersion), same):
        yield from _stuck(refused[0], None, refused[0].leader_epoch, history)


def _refused_itself(claims: list[Claim], history: History) -> Iterator[Remark]:
    """The same where the leader writes (up to 2.6): it tries again with one version, which is not ZooKeeper's."""

    def same(claim: StaleVersion) -> tuple[Partition, int, int]:
        return claim.partition, claim.teller, claim.version

    for _, refused in grouped(of_kind(claims, StaleVersion), same):
        if refused[-1].time - refused[0].time >= STANDS:
            yield from _stuck(refused[0], refused[0].teller, None, history)


def _stuck(claim: PartitionClaim, leader: int | None, epoch: int | None, history: History) -> Iterator[Remark]:
    """A remark where the state that stood at a claim is of that leader, and stands for long, or to the end.

    `leader`, `epoch`: those that the claim names, if it does.
    """
    state = history.state_at(claim.partition, claim.time)
    if state is None or state.after is None or state.after.leader == NOBODY:
        return
    if leader not in (None, state.after.leader) or epoch not in (None, state.after.leader_epoch):
        return
    following = history.after(state)
    until = following.time if following else history.last
    if following is None or until - claim.time >= STANDS:
        end = f"until {following.zxid:#x}" if following else "to the end of the log"
        yield remark(
            REFUSED,
            claim,
            (
                f"leader {state.after.leader} in leader epoch {state.after.leader_epoch}: ISR {list(state.after.isr)} has "
                f"stood since {state.zxid:#x}, and no other could be written for {seconds(until - claim.time)}, {end}"
            ),
            state,
        )


def _closed(claims: list[Claim], history: History) -> Iterator[Remark]:
    """Leaders that shut down and whose followers cannot come back into the ISR, to take over (3.3 and later)."""
    asked: dict[int, list[int]] = defaultdict(list)
    for shutdown in of_kind(claims, ShutdownAsked):
        asked[shutdown.leaving].append(shutdown.time)
    mine = [claim for claim in of_kind(claims, Ineligible) if claim.leader != NOBODY]
    for (partition, leader), refused in grouped(mine, lambda claim: (claim.partition, claim.leader)):
        claim, state = refused[0], history.state_at(partition, refused[0].time)
        lately = any(0 <= claim.time - time <= _LATELY for time in asked[leader])
        if not lately or state is None or state.after is None or state.after.isr != (leader,):
            continue
        following = history.after(state)
        if following is None or following.after is None or following.after.leader == NOBODY:
            end = f"nobody leads from {following.zxid:#x} on" if following else "it still led at the end of the log"
            yield remark(
                CLOSED,
                claim,
                (
                    f"broker {leader} shuts down and is the ISR alone; {times(len(refused))} the controller refused to "
                    f"let in a follower, because the leader itself is not eligible: nobody can take over, {end}"
                ),
                state,
            )


def _dead(claims: list[Claim], history: History) -> Iterator[Remark]:
    """Controllers that keep requests of an event of an earlier term, whose write was refused (2.1 and later)."""

    def term(claim: NotEmpty) -> tuple[int, int]:
        return claim.broker, history.epoch_at(claim.time)

    for (broker, epoch), failed in grouped(of_kind(claims, NotEmpty), term):
        yield remark(
            DEAD,
            failed[0],
            (
                f"controller {broker} of epoch {epoch} keeps requests of an earlier term, and gave up {times(len(failed))} "
                "what it was to do for that"
            ),
        )
