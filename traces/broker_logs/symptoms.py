"""What brokers' logs and ZooKeeper's show together, and neither alone.

Requests that are obeyed too late, records that are gone, states that nobody was told of, leaders that are refused.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.broker_logs.forms import (
    BAD_VERSION,
    EXPIRED,
    FROM,
    HANDLED,
    INELIGIBLE,
    NOT_EMPTY,
    NOT_MADE,
    READY,
    SHUTTING_DOWN,
    STALE_VERSION,
    STARTED,
    STATE,
    TRUNCATED_TO,
)
from kafkaproof.traces.broker_logs.history import AHEAD, History
from kafkaproof.traces.broker_logs.reading import Claim
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


def remarks_in(claims: Iterable[Claim], history: History) -> list[Remark]:
    """All remarks, in the order of time. `claims`: their times are those of ZooKeeper's clock."""
    kinds: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        if history.first - AHEAD <= claim.time <= history.last + AHEAD:
            kinds[claim.what].append(claim)
    found = [
        *_obeyed(kinds, history),
        *_truncated(kinds, history),
        *_deleted(kinds),
        *_untold(kinds, history),
        *_refused(kinds, history),
        *_refused_itself(kinds, history),
        *_closed(kinds, history),
        *_dead(kinds, history),
    ]
    return sorted(found, key=lambda remark: (remark.time, remark.what))


def _remark(what: str, claim: Claim, text: str, change: Change | None = None) -> Remark:
    return Remark(what, claim.time, claim.partition, text, change and change.zxid, claim.file, claim.line)


def _seconds(ms: int) -> str:
    return f"{ms / 1000:,.1f} s"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _by(claims: Iterable[Claim], key) -> Iterator[tuple[object, list[Claim]]]:
    """Claims that have the same key, in the order of time."""
    for same, group in groupby(sorted(claims, key=lambda claim: (key(claim), claim.time, claim.line)), key):
        yield same, list(group)


# Requests of deposed controllers


def _obeyed(kinds: dict[str, list[Claim]], history: History) -> Iterator[Remark]:
    """What a broker did at the word of a controller after it had heard of a later one, or long after there was one.

    Of a request that is on its way at the election nothing is said.
    """
    late = _late_clocks(kinds[STATE], history)
    told = [claim for what in (HANDLED, STATE, STARTED, FROM) for claim in kinds[what] if claim.teller is not None]
    for teller, claims in _by(told, lambda claim: claim.teller):
        seen = set()
        for claim, by, heard in _in_turn(claims):
            epoch = by.epoch if by.epoch is not None else history.epoch_of(by.broker, claim.time)
            if epoch is None or (claim.partition, epoch) in seen:
                continue
            if max(heard, history.epoch_at(claim.time - late[teller] - AHEAD)) > epoch:
                seen.add((claim.partition, epoch))
                yield _remark(OBEYED, claim, _obeyed_text(claim, by.broker, epoch, history))


def _in_turn(claims: list[Claim]) -> Iterator[tuple[Claim, Claim, int]]:
    """What one broker did: each claim, that which names the controller who asked for it, and the greatest epoch heard.

    A broker handles one request after the other; that it received one is told in turn only since 2.6.
    """
    handled, heard, in_turn = None, -1, False
    for claim in claims:
        if claim.what == HANDLED:
            handled, in_turn = claim, in_turn or claim.epoch is None
        elif claim.what != STATE and (by := claim if claim.what == FROM else handled):
            yield claim, by, heard
        if claim.what == FROM or claim.what == STATE and in_turn:
            heard = max(heard, claim.epoch)


def _late_clocks(claims: list[Claim], history: History) -> dict[int, int]:
    """How many ms each broker's clock may be ahead: it was never told of a state sooner after that was written."""
    ahead: dict[int, list[int]] = defaultdict(list)
    for claim in claims:
        written = history.states.get(claim.partition, {}).get((claim.leader, claim.leader_epoch))
        if claim.teller is not None and written:
            ahead[claim.teller].append(claim.time - written)
    return defaultdict(int, {broker: max(0, min(times)) for broker, times in ahead.items()})


def _obeyed_text(claim: Claim, controller: int, epoch: int, history: History) -> str:
    other, since = history.terms[later := min(each for each in history.terms if each > epoch)]
    present = history.state_at(claim.partition, claim.time)
    held = f"leader {present.after.leader}, ISR {list(present.after.isr)}" if present and present.after else "no state"
    own = "" if claim.isr is None else f": it leads with ISR {list(claim.isr)}"
    return (
        f"broker {claim.teller} obeyed controller {controller} of epoch {epoch}, {_seconds(claim.time - since)} "
        f"after broker {other} was elected with epoch {later}{own}; ZooKeeper had {held}"
    )


# Records that are gone


def _truncated(kinds: dict[str, list[Claim]], history: History) -> Iterator[Remark]:
    """Logs that were cut below the high watermark with which their replicas began to follow (2.6 and later).

    Of the high watermark since then nothing is known: where the logs part the leader's next answer may raise it first.
    """
    owner = _owners(kinds)
    cuts = [claim._replace(teller=owner(claim)) for claim in kinds[TRUNCATED_TO] if owner(claim) is not None]
    started = [claim for claim in kinds[STARTED] if claim.high is not None]
    for _, claims in _by([*started, *cuts], lambda claim: (claim.teller, claim.partition)):
        high = 0
        for claim in claims:
            if claim.what == TRUNCATED_TO and claim.offset < high:
                yield _remark(TRUNCATED, claim, _truncated_text(claim, high, history))
            high = claim.high if claim.what == STARTED else min(high, claim.offset)


def _deleted(kinds: dict[str, list[Claim]]) -> Iterator[Remark]:
    """Segments whose time index was read as zeros, since nobody had recovered them, and which retention then deleted."""
    owner = _owners(kinds)
    for claim in kinds[EXPIRED]:
        whose = "a broker" if (broker := owner(claim)) is None else f"broker {broker}"
        yield _remark(
            DELETED,
            claim,
            f"{whose} deleted its records from offset {claim.offset} on: their time index was "
            "never recovered, and has no time but 0; once it leads, all replicas delete them",
        )


def _owners(kinds: dict[str, list[Claim]]) -> Callable[[Claim], int | None]:
    """Whose log a claim stands in: the broker that says so in the file, or the only one that does in its directory."""
    files, directories = defaultdict(set), defaultdict(set)
    for what in (READY, STARTED, HANDLED, FROM):
        for claim in kinds[what]:
            files[claim.file].add(claim.teller)
            directories[claim.file.parent].add(claim.teller)

    def owner(claim: Claim) -> int | None:
        known = files.get(claim.file) or directories[claim.file.parent]
        return next(iter(known)) if len(known) == 1 else None

    return owner


def _truncated_text(claim: Claim, high: int, history: History) -> str:
    unclean = history.unclean_before(claim.partition, claim.time + AHEAD)
    why = (
        f"after the unclean election of broker {unclean.after.leader} at {unclean.zxid:#x}"
        if unclean
        else "and there was no unclean election"
    )
    gone = f"record {claim.offset}" if high == claim.offset + 1 else f"{claim.offset} to {high - 1}"
    return (
        f"broker {claim.teller} cut its log to offset {claim.offset}, with high watermark {high}: what was "
        f"committed, {gone}, is gone from this replica, {why}"
    )


# Writes that landed and whose answer was lost


def _untold(kinds: dict[str, list[Claim]], history: History) -> Iterator[Remark]:
    """First states that a controller wrote and does not know of: it is refused when it writes them again."""
    told = {(claim.partition, claim.leader_epoch, claim.epoch) for claim in kinds[STATE]}
    for partition, claims in _by(kinds[NOT_MADE], lambda claim: claim.partition):
        claim = claims[0]
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
                    f"for {_seconds((until or history.last) - made.time)}, {how}; it tried again {_times(len(claims))}"
                ),
                made,
            )


def _refused(kinds: dict[str, list[Claim]], history: History) -> Iterator[Remark]:
    """Leaders whose ISR the controller cannot write, since what it remembers is not what stands (2.7 and later)."""
    for (partition, _), claims in _by(kinds[BAD_VERSION], lambda claim: (claim.partition, claim.leader_epoch or 0)):
        yield from _stuck(partition, claims, history)


def _refused_itself(kinds: dict[str, list[Claim]], history: History) -> Iterator[Remark]:
    """The same where the leader writes (up to 2.6): it tries again with one version, which is not ZooKeeper's."""

    def same(claim: Claim) -> tuple:
        return claim.partition, claim.teller, claim.offset

    for (partition, *_), claims in _by(kinds[STALE_VERSION], same):
        if claims[-1].time - claims[0].time >= STANDS:
            yield from _stuck(partition, claims, history)


def _stuck(partition: Partition, claims: list[Claim], history: History) -> Iterator[Remark]:
    """A remark where the state that stood at the first claim is of that leader, and stands for long, or to the end."""
    claim, state = claims[0], history.state_at(partition, claims[0].time)
    if state is None or state.after is None or state.after.leader == NOBODY:
        return
    if claim.teller not in (None, state.after.leader) or claim.leader_epoch not in (None, state.after.leader_epoch):
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


def _closed(kinds: dict[str, list[Claim]], history: History) -> Iterator[Remark]:
    """Leaders that shut down and whose followers cannot come back into the ISR, to take over (3.3 and later)."""
    asked = defaultdict(list)
    for claim in kinds[SHUTTING_DOWN]:
        asked[claim.leader].append(claim.time)
    mine = [claim for claim in kinds[INELIGIBLE] if claim.leader is not None]
    for (partition, leader), claims in _by(mine, lambda claim: (claim.partition, claim.leader)):
        claim, state = claims[0], history.state_at(partition, claims[0].time)
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
                    f"broker {leader} shuts down and is the ISR alone; {_times(len(claims))} the controller refused to "
                    f"let in a follower, because the leader itself is not eligible: nobody can take over, {end}"
                ),
                state,
            )


def _dead(kinds: dict[str, list[Claim]], history: History) -> Iterator[Remark]:
    """Controllers that keep requests of an event of an earlier term, whose write was refused (2.1 and later)."""

    def term(claim: Claim) -> tuple[int, int]:
        return claim.broker, history.epoch_at(claim.time)

    for (broker, epoch), claims in _by(kinds[NOT_EMPTY], term):
        yield _remark(
            DEAD,
            claims[0],
            (
                f"controller {broker} of epoch {epoch} keeps requests of an earlier term, and gave up {_times(len(claims))} "
                "what it was to do for that"
            ),
        )
