"""What neither Kafka nor ZooKeeper can have written, and what they did not write: it diverges, or it is told."""

from collections.abc import Iterator
from typing import NamedTuple

from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.znodes.foreign_writes import Strange

MOST = 20
"""So many lines at the most tell of what others than brokers wrote."""


class Contradiction(NamedTuple):
    """A record that cannot have been written: its zxid, and why."""

    zxid: int
    text: str


def contradictions_in(recording: Recording, members: Members) -> list[Contradiction]:
    """What brokers wrote that no Kafka writes, and what is wrong with the files, in the order of the log."""
    wrong = [
        Contradiction(
            each.zxid,
            f"{each.path} by broker {members.broker_of[each.session]} "
            f"({each.session:#x}): no Kafka writes this: {each.text}",
        )
        for each in _strange(recording, members)
        if each.certain and each.session in members.broker_of
    ]
    return sorted([*wrong, *(Contradiction(*each) for each in recording.contradictions)])


def remarks_on(recording: Recording, members: Members) -> list[str]:
    """What others than brokers wrote, and Kafka does not write so, a line each."""
    found = [
        f"{recording.directory}: {_whose(each, members)} {each.path} as no Kafka does: {each.text}"
        for each in _strange(recording, members)
        if not each.certain or each.session not in members.broker_of
    ]
    more = len(found) - MOST
    return found[:MOST] + ([f"{recording.directory}: and {more:,} more like these"] if more > 0 else [])


def _strange(recording: Recording, members: Members) -> Iterator[Strange]:
    """What is strange in the znodes of the cluster, in the order of the log."""
    last = recording.transactions[-1].zxid
    return (
        each
        for each in sorted(
            [*recording.survey.strange.values(), *recording.survey.versions.mixed()],
            key=lambda each: (each.zxid, each.path),
        )
        if each.root == members.root and each.zxid <= last
    )


def _whose(each: Strange, members: Members) -> str:
    if each.session is None:
        return "the snapshot has"
    if each.session in members.broker_of:
        return f"{each.zxid:#x}: broker {members.broker_of[each.session]} writes"
    return f"{each.zxid:#x}: session {each.session:#x}, which is no broker's, writes"
