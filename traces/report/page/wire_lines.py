"""What the page says of the wire: a clause of its sentence, and its lines."""

from collections.abc import Iterator

from kafkaproof.checker.basics.words import counted
from kafkaproof.traces.report.page.summary import Line
from kafkaproof.traces.report.wire import SHOWN, told_of
from kafkaproof.traces.wire.verdicts import CONFORMS, LISTED, STEP, Judged


def wire_sentence(judged: Judged) -> tuple[str, int]:
    """The verdict on the traffic as a sentence behind that on the log, and how grave it is."""
    told = f" The wire, {counted(judged.wire.exchanges, 'message')}"
    if judged.first:
        return f"{told}, diverges.", 3
    return (f"{told}, conforms.", 0) if judged.verdict == CONFORMS else (f"{told}, is undecided.", 2)


def wire_lines(judged: Judged) -> Iterator[Line]:
    """The first divergences, and how many messages of each API are steps."""
    for each in judged.in_order[:SHOWN]:
        yield Line(f"on the wire, {told_of(each)}", 3)
    for api, counts in sorted(judged.counts.items()):
        if steps := judged.of_kind(api, STEP):
            listed = judged.of_kind(api, LISTED)
            yield Line(f"on the wire, {api}: {steps:,} of {counts.total():,} are steps, {listed:,} of listed kinds", 0)
