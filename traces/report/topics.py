"""What explains the writes to topics and for reassignments, and what became of them, as JSON and in words."""

from collections import Counter

from rich.console import Console
from rich.table import Table

from kafkaproof.traces.explain.log.streams import Streams
from kafkaproof.traces.explain.topics.context import NOTIFICATION, REASSIGNMENT, TOPIC, Judged
from kafkaproof.traces.explain.topics.history import FINISHED, STARTED, WAITING, Deletion, Made, Reassignment

_SHOWN = 5
_DONE = "deletion finished"


def topics_as_json(streams: Streams) -> dict:
    """The object `topics` of `replay --json`."""
    made = streams.made
    return {
        **_counts(streams, TOPIC),
        "created": [_made(each) for each in made if each.first == 0],
        "expanded": [_made(each) for each in made if each.first > 0],
        "deleted": [_deletion(each) for each in streams.deletions],
    }


def notifications_as_json(streams: Streams) -> dict:
    """The object `notifications` of `replay --json`."""
    return _counts(streams, NOTIFICATION)


def reassignments_as_json(streams: Streams) -> dict:
    """The object `reassignments` of `replay --json`."""
    found = streams.reassignments
    return {
        **_counts(streams, REASSIGNMENT),
        "outcomes": dict(sorted(Counter(each.outcome for each in found).items())),
        "each": [_reassignment(each) for each in found],
    }


def _counts(streams: Streams, stream: str) -> dict:
    """How many writes of a stream there are, what explains them, and those that nothing does."""
    counts = {kind: count for (name, kind), count in streams.kinds.items() if name == stream}
    odd = counts.pop(None, 0)
    return {
        "writes": sum(counts.values()) + odd,
        "explained": sum(counts.values()),
        "by": [{"what": kind, "count": count} for kind, count in sorted(counts.items())],
        "unexplained": [_unexplained(judged) for judged in streams.odd if judged.stream == stream],
    }


def _unexplained(judged: Judged) -> dict:
    return {"zxid": hex(judged.write.zxid), "path": judged.write.path, "text": judged.text}


def _made(each: Made) -> dict:
    return {
        "topic": each.topic,
        "zxid": hex(each.zxid),
        "broker": each.broker,
        "first": each.first,
        "partitions": len(each.partitions),
        "replicas": len(next(iter(each.partitions.values())).replicas),
        "assignment": "balanced" if each.balanced else "explicit",
    }


def _deletion(each: Deletion) -> dict:
    return {
        "topic": each.topic,
        "zxid": hex(each.zxid),
        "gone": _hex(each.gone),
        "ended": _hex(each.ended),
        "ms": _ms(each),
        "retries": each.retries,
        "outcome": each.how,
    }


def _reassignment(each: Reassignment) -> dict:
    topic, number = each.partition
    return {
        "topic": topic,
        "partition": number,
        "asked": each.asked,
        "from": list(each.before),
        "to": list(each.target),
        "zxid": _hex(each.zxid),
        "ended": _hex(each.ended),
        "ms": _ms(each),
        "outcome": each.outcome,
    }


def _hex(zxid: int | None) -> str | None:
    return None if zxid is None else hex(zxid)


def _ms(each: Deletion | Reassignment) -> int | None:
    """How long it took; None while it goes on, or where it began before the log."""
    return None if each.ended_time is None or each.time is None else each.ended_time - each.time


def print_topics(out: Console, streams: Streams) -> None:
    """Print what was written to topics and for reassignments, what became of them, and what nothing explains."""
    if not streams.kinds:
        return
    out.print(_table(streams))
    made, deleted = streams.made, streams.deletions
    done = [each for each in deleted if each.how == _DONE]
    out.print(
        f"topics: {sum(not each.first for each in made):,} created, {sum(each.first > 0 for each in made):,} "
        f"expanded, {len(done):,} deleted{_took(done)}"
    )
    for each in deleted:
        if each.how != _DONE:
            text = f"deletion of {each.topic}, asked for at {each.zxid:#x}: {each.how}"
            out.print(text, soft_wrap=True, markup=False)
    _print_reassignments(out, streams.reassignments)
    for judged in streams.odd[:_SHOWN]:
        out.print(f"[yellow]unexplained[/] at {judged.write.zxid:#x}", end=": ", soft_wrap=True)
        out.print(judged.text, soft_wrap=True, markup=False)
    if len(streams.odd) > _SHOWN:
        out.print(f"and {len(streams.odd) - _SHOWN:,} more that nothing explains: see --json")


def _print_reassignments(out: Console, found: list[Reassignment]) -> None:
    if not found:
        return
    counts = Counter(each.outcome for each in found)
    done = [each for each in found if each.outcome == FINISHED]
    kinds = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.most_common())
    out.print(f"reassignments: {kinds}{_took(done)}")
    for each in found:
        if each.outcome in (STARTED, WAITING):
            since = "" if each.zxid is None else f" since {each.zxid:#x}"
            name = "{}-{}".format(*each.partition)
            out.print(
                f"reassignment of {name} from {list(each.before)} to {list(each.target)}: {each.outcome}{since}",
                soft_wrap=True,
                markup=False,
            )


def _took(done: list) -> str:
    """How long these took, and how often deletions were begun again."""
    times = [ms for each in done if (ms := _ms(each)) is not None]
    if not times:
        return ""
    retries = sum(each.retries for each in done if isinstance(each, Deletion))
    again = f", begun again {retries:,} times" if retries else ""
    return f" in {min(times) / 1000:,.1f} to {max(times) / 1000:,.1f} s{again}"


def _table(streams: Streams) -> Table:
    table = Table(header_style="bold")
    table.add_column("stream")
    table.add_column("writes", justify="right")
    table.add_column("what they are")
    for stream in (TOPIC, REASSIGNMENT, NOTIFICATION):
        found = _counts(streams, stream)
        if not found["writes"]:
            continue
        kinds = ", ".join(f"{row['what']} {row['count']:,}" for row in found["by"])
        unexplained = [f"unexplained {len(found['unexplained']):,}"] if found["unexplained"] else []
        table.add_row(stream, f"{found['writes']:,}", ", ".join([kinds, *unexplained] if kinds else unexplained))
    return table
