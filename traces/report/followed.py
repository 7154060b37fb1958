"""What replay found where records could be followed."""

from typing import NamedTuple

from kafkaproof.traces.explain.election.result import Result
from kafkaproof.traces.explain.log.audit import Audit
from kafkaproof.traces.explain.log.streams import Streams
from kafkaproof.traces.metrics.series import Series
from kafkaproof.traces.report.facts import Facts


class Followed(NamedTuple):
    """What is found where records could be followed, as Report says."""

    result: Result
    streams: Streams
    audit: Audit
    facts: Facts
    metrics: Series
