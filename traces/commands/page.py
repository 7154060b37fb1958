"""``replay --html``: the page of a report, and the cluster that it shows at moments."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from kafkaproof.traces.basics.whole_files import write_whole
from kafkaproof.traces.commands.moment import is_wanted
from kafkaproof.traces.commands.options import chroot_of
from kafkaproof.traces.reading.cluster import find_root
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.redaction import Redactor
from kafkaproof.traces.report.moment import zxid_at
from kafkaproof.traces.report.page.incidents import Clusters


def clusters_of(options, recording: Recording, redactor: Redactor | None) -> Clusters | None:
    """What shows the cluster on the page; None where nothing was read. Raises UserError where --at is before all records."""
    if not recording.transactions:
        return None
    asked = zxid_at(recording, options.at) if options.at else None
    topic = redactor.path(f"/brokers/topics/{options.topic}") if redactor and options.topic else options.topic
    wanted = partial(is_wanted, options, topic and topic.rpartition("/")[2])
    return Clusters(recording, find_root(recording, chroot_of(options, redactor)), asked, wanted)


def write_page(file: Path, page: str) -> None:
    """Write the page whole or not at all, and say where it is."""
    write_whole("--html", file, page)
    print(f"report in {file}, {len(page) / 1e6:,.1f} MB", file=sys.stderr)
