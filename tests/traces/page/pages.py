"""Pages of replays, for the tests."""

import json
import re
from functools import cache
from pathlib import Path

from kafkaproof.traces.basics.columns import ByZxid
from kafkaproof.traces.explain.log.audit import audit
from kafkaproof.traces.explain.log.streams import explain_streams, settle
from kafkaproof.traces.reading.cluster import Members, find_root
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.report.facts import facts_of
from kafkaproof.traces.report.log import Report, refused_by_epoch, verdict_of
from kafkaproof.traces.report.page.render import render
from tests.traces.replaying import features_of, gather, metrics_of, read, replay


def report_of(recording: Recording, variant: str | None = None) -> Report:
    """The report of a recording as the command makes it."""
    root = find_root(recording, None)
    members = Members(recording, root)
    gathered = gather(recording, features_of(recording, variant, root), members, root)
    result = replay(recording, gathered.common.features, members, root)
    streams, metrics = explain_streams(gathered), metrics_of(recording, root)
    settle(gathered.common, result, streams, recording)
    accounts = audit(recording, gathered.common, result, streams, ByZxid())
    facts = facts_of(gathered, streams, refused_by_epoch(result))
    verdict, reason = verdict_of(recording, result, accounts)
    return Report(recording, result, tuple(recording.problems), verdict, reason, streams, accounts, facts, metrics)


@cache
def report(directory: Path) -> Report:
    """The report of a directory, once in a test run."""
    return report_of(read(directory))


@cache
def page(directory: Path) -> str:
    """The page of a directory, once in a test run."""
    return render(report(directory))


def data_in(text: str) -> dict:
    """What a page has embedded."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1])


def items_in(data: dict) -> list[dict]:
    """The items of a page, with the names of what they refer to by number."""
    names = ("start", "length", "text", "zxids", "brokers", "count", "records")
    return [
        {
            "lane": data["lanes"][lane][1],
            "kind": data["kinds"][kind]["id"],
            **dict(zip(names, (start, length, data["texts"][text], *rest))),
        }
        for lane, kind, start, length, text, *rest in data["items"]
    ]
