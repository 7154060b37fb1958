"""Controllers that give up as soon as they are elected, one after the other: their startup fails on what they find."""

from itertools import groupby
from math import inf
from typing import NamedTuple

from kafkaproof.traces.evidence.streams import Common
from kafkaproof.traces.evidence.terms import Term
from kafkaproof.traces.explain.facts.remarks import FAILING, STANDS, Remark

_SHORT = 1_000
"""A term of fewer ms has ended while its controller started up."""


class Failing(NamedTuple):
    """Terms that follow each other and are all short: the first's election, how many, their epochs; times are in ms."""

    zxid: int
    time: int
    terms: int
    first: int
    last: int
    lasted: int

    def remark(self) -> Remark:
        """What is told of them."""
        return Remark(
            FAILING,
            self.time,
            None,
            (
                f"{self.terms:,} controllers, of the epochs {self.first} to {self.last}, gave up within a second each, for "
                f"{self.lasted / 1000:,.0f} s"
            ),
            self.zxid,
        )


def failing_in(common: Common) -> list[Failing]:
    """The runs of short terms in a log that lasted for long, in the order of the log."""
    ended = [term for term in common.terms.by_start if term.end < inf]
    runs = [[*terms] for is_short, terms in groupby(ended, lambda term: _length(common, term) < _SHORT) if is_short]
    found = [_failing(common, terms) for terms in runs]
    return [each for each in found if each.lasted >= STANDS]


def _length(common: Common, term: Term) -> int:
    return common.inputs.time_at(term.end) - common.inputs.time_at(term.start)


def _failing(common: Common, terms: list[Term]) -> Failing:
    begun = common.inputs.time_at(terms[0].start)
    lasted = common.inputs.time_at(terms[-1].end) - begun
    return Failing(terms[0].start, begun, len(terms), terms[0].epoch, terms[-1].epoch, lasted)
