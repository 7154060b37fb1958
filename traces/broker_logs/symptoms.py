"""What brokers' logs and ZooKeeper's show together, and neither alone.

Requests that are obeyed too late, records that are gone, states that nobody was told of, leaders that are refused.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.broker_logs.claims import (
    BadVersion,
    Claim,
    Expired,
    Handled,
    Ineligible,
    NotEmpty,
    NotMade,
    Obeyed,
    PartitionClaim,
    Ready,
    ShutdownAsked,
    StaleVersion,
    Started,
    State,
    StateReceived,
    Truncated,
)
from kafkaproof.traces.broker_logs.history import AHEAD, History
from kafkaproof.traces.evidence.state_changes import Change, Partition
from kafkaproof.traces.explain.facts.remarks import (
    CLOSED,
    DEAD,
    DELETED,
    OBEYED,
    REFUSED,
    STANDS,
    TRUNCATED,
    UNTOLD,
    Remark,
)

_LATELY = 60_000
"""A broker that shuts down has asked for it within so many ms."""


Kind = TypeVar("Kind", bound=Claim)
Key = TypeVar("Key")


def remarks_in(claims: Iterable[Claim], history: History) -> list[Remark]:
    """All remarks, in the order of time. `claims`: their times are those of ZooKeeper's clock."""
    near = [claim for claim in claims if history.first - AHEAD <= claim.time <= history.last + AHEAD]
    found = [
        *_obeyed(near, history),
        *_truncated(near, history),
        *_deleted(near),
        *_untold(near, history),
        *_refused(near, history),
        *_refused_itself(near, history),
        *_closed(near, history),
        *_dead(near, history),
    ]
    return sorted(found, key=lambda remark: (remark.time, remark.what))


def _of(claims: list[Claim], kind: type[Kind]) -> list[Kind]:
    return [claim for claim in claims if isinstance(claim, kind)]


def _remark(what: str, claim: Claim, text: str, change: Change | None = None) -> Remark:
    partition = claim.partition if isinstance(claim, PartitionClaim) else None
    return Remark(what, claim.time, partition, text, change.zxid if change else None, claim.file, claim.line)


def _seconds(ms: int) -> str:
    return f"{ms / 1000:,.1f} s"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _by(claims: Iterable[Kind], key: Callable[[Kind], Key]) -> Iterator[tuple[Key, list[Kind]]]:
    """Claims that have the same key, in the order of time."""
    for same, group in groupby(sorted(claims, key=lambda claim: (key(claim), claim.time, claim.line)), key):
        yield same, list(group)


# Requests of deposed controllers


def _obeyed(claims: list[Claim], history: History) -> Iterator[Remark]:
    """What a broker did at the word of a controller after it had heard of a later one, or long after there was one.

    Of a request that is on its way at the election nothing is said.
    """
    late = _late_clocks(_of(claims, StateReceived), history)
    told: list[Told] = [*_of(claims, Handled), *_of(claims, StateReceived), *_of(claims, Started), *_of(claims, Obeyed)]
    for teller, own in _by(told, lambda claim: claim.teller):
        seen = set()
        for claim, by, heard in _in_turn(own):
            epoch = by.epoch if by.epoch is not None else history.epoch_of(by.broker, claim.time)
            if epoch is None or (claim.partition, epoch) in seen:
                continue
            if max(heard, history.epoch_at(claim.time - late[teller] - AHEAD)) > epoch:
                seen.add((claim.partition, epoch))
                yield _remark(OBEYED, claim, _obeyed_text(claim, by.broker, epoch, history))


Told = Handled | StateReceived | Started | Obeyed


def _in_turn(claims: list[Told]) -> Iterator[tuple[Started | Obeyed, Handled | Obeyed, int]]:
    """What one broker did: each claim, that which names the controller who asked for it, and the greatest epoch heard.

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
        f"broker {claim.teller} obeyed controller {controller} of epoch {epoch}, {_seconds(claim.time - since)} "
        f"after broker {other} was elected with epoch {later}{own}; ZooKeeper had {held}"
    )


# Records that are gone


def _truncated(claims: list[Claim], history: History) -> Iterator[Remark]:
    """Logs that were cut below the high watermark with which their replicas began to follow (2.6 and later).

    Of the high watermark since then nothing is known: where the logs part the leader's next answer may raise it first.
    """
    owner = _owners(claims)
    logs: dict[tuple[int, Partition], list[Started | Truncated]] = defaultdict(list)
    for started in _of(claims, Started):
        logs[started.teller, started.partition].append(started)
    for cut in _of(claims, Truncated):
        if (broker := owner(cut)) is not None:
            logs[broker, cut.partition].append(cut)
    for broker, partition in sorted(logs):
        high = 0
        for claim in sorted(logs[broker, partition], key=lambda each: (each.time, each.line)):
            if isinstance(claim, Truncated):
                if claim.offset < high:
                    yield _remark(TRUNCATED, claim, _truncated_text(claim, broker, high, history))
                high = min(high, claim.offset)
            elif claim.high is not None:
                high = claim.high


def _deleted(claims: list[Claim]) -> Iterator[Remark]:
    """Segments whose time index was read as zeros, since nobody had recovered them, and which retention then deleted."""
    owner = _owners(claims)
    for claim in _of(claims, Expired):
        whose = "a broker" if (broker := owner(claim)) is None else f"broker {broker}"
        yield _remark(
            DELETED,
            claim,
            f"{whose} deleted its records from offset {claim.offset} on: their time index was "
            "never recovered, and has no time but 0; once it leads, all replicas delete them",
        )


def _owners(claims: list[Claim]) -> Callable[[Claim], int | None]:
    """Whose log a claim stands in: the broker that says so in the file, or the only one that does in its directory."""
    files: dict[Path, set[int]] = defaultdict(set)
    directories: dict[Path, set[int]] = defaultdict(set)
    for claim in claims:
        if isinstance(claim, Ready | Started | Handled | Obeyed):
            files[claim.file].add(claim.teller)
            directories[claim.file.parent].add(claim.teller)

    def owner(claim: Claim) -> int | None:
        known = files.get(claim.file) or directories[claim.file.parent]
        return next(iter(known)) if len(known) == 1 else None

    return owner


def _truncated_text(claim: Truncated, broker: int, high: int, history: History) -> str:
    unclean = history.unclean_before(claim.partition, claim.time + AHEAD)
    why = (
        f"after the unclean election of broker {unclean.after.leader} at {unclean.zxid:#x}"
        if unclean and unclean.after
        else "and there was no unclean election"
    )
    gone = f"record {claim.offset}" if high == claim.offset + 1 else f"{claim.offset} to {high - 1}"
    return (
        f"broker {broker} cut its log to offset {claim.offset}, with high watermark {high}: what was "
        f"committed, {gone}, is gone from this replica, {why}"
    )


# Writes that landed and whose answer was lost


def _untold(claims: list[Claim], history: History) -> Iterator[Remark]:
    """First states that a controller wrote and does not know of: it is refused when it writes them again."""
    told = {(claim.partition, claim.leader_epoch, claim.epoch) for claim in _of(claims, State)}
    for partition, failed in _by(_of(claims, NotMade), lambda claim: claim.partition):
        claim = failed[0]
        made = history.state_at(partition, claim.time + AHEAD)
        if made is None or made.after is None or made.before or made.after.controller_epoch != claim.epoch:
            continue
        until, how = history.ends(made)
        lasts = until is None or until - made.time >= STANDS
        if lasts and (partition, made.after.leader_epoch, claim.epoch) not in told:
            yield _remark(
                UNTOLD,
                claim,
                (
                    f"controller {claim.broker} of epoch {claim.epoch} wrote leader {made.after.leader}, ISR "
                    f"{list(made.after.isr)} at {made.zxid:#x}, did not know it, and told nobody: the partition stayed New "
                    f"for {_seconds((until or history.last) - made.time)}, {how}; it tried again {_times(len(failed))}"
                ),
                made,
            )


def _refused(claims: list[Claim], history: History) -> Iterator[Remark]:
    """Leaders whose ISR the controller cannot write, since what it remembers is not what stands (2.7 and later)."""

    def same(claim: BadVersion) -> tuple[Partition, int]:
        return claim.partition, claim.leader_epoch or 0

    for _, refused in _by(_of(claims, BadVersion), same):
        yield from _stuck(refused[0], None, refused[0].leader_epoch, history)


def _refused_itself(claims: list[Claim], history: History) -> Iterator[Remark]:
    """The same where the leader writes (up to 2.6): it tries again with one version, which is not ZooKeeper's."""

    def same(claim: StaleVersion) -> tuple[Partition, int, int]:
        return claim.partition, claim.teller, claim.version

    for _, refused in _by(_of(claims, StaleVersion), same):
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
        yield _remark(
            REFUSED,
            claim,
            (
                f"leader {state.after.leader} in leader epoch {state.after.leader_epoch}: ISR {list(state.after.isr)} has "
                f"stood since {state.zxid:#x}, and no other could be written for {_seconds(until - claim.time)}, {end}"
            ),
            state,
        )


def _closed(claims: list[Claim], history: History) -> Iterator[Remark]:
    """Leaders that shut down and whose followers cannot come back into the ISR, to take over (3.3 and later)."""
    asked: dict[int, list[int]] = defaultdict(list)
    for shutdown in _of(claims, ShutdownAsked):
        asked[shutdown.leaving].append(shutdown.time)
    mine = [claim for claim in _of(claims, Ineligible) if claim.leader != NOBODY]
    for (partition, leader), refused in _by(mine, lambda claim: (claim.partition, claim.leader)):
        claim, state = refused[0], history.state_at(partition, refused[0].time)
        lately = any(0 <= claim.time - time <= _LATELY for time in asked[leader])
        if not lately or state is None or state.after is None or state.after.isr != (leader,):
            continue
        following = history.after(state)
        if following is None or following.after is None or following.after.leader == NOBODY:
            end = f"nobody leads from {following.zxid:#x} on" if following else "it still led at the end of the log"
            yield _remark(
                CLOSED,
                claim,
                (
                    f"broker {leader} shuts down and is the ISR alone; {_times(len(refused))} the controller refused to "
                    f"let in a follower, because the leader itself is not eligible: nobody can take over, {end}"
                ),
                state,
            )


def _dead(claims: list[Claim], history: History) -> Iterator[Remark]:
    """Controllers that keep requests of an event of an earlier term, whose write was refused (2.1 and later)."""

    def term(claim: NotEmpty) -> tuple[int, int]:
        return claim.broker, history.epoch_at(claim.time)

    for (broker, epoch), failed in _by(_of(claims, NotEmpty), term):
        yield _remark(
            DEAD,
            failed[0],
            (
                f"controller {broker} of epoch {epoch} keeps requests of an earlier term, and gave up {_times(len(failed))} "
                "what it was to do for that"
            ),
        )
