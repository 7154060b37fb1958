"""The items of the cluster: what was found, controllers and what they wrote too late, lives of brokers, requests."""

from collections.abc import Iterator

from kafkaproof.traces.evidence.registrations import EXPIRED
from kafkaproof.traces.explain.facts.terms import late_writes
from kafkaproof.traces.explain.log.streams import flaws
from kafkaproof.traces.reading.times import Times
from kafkaproof.traces.report.log import Followed
from kafkaproof.traces.report.page.items import Item, Lane

FOUND, CONTROLLERS, BROKERS, REQUESTS = "Found", "Controllers", "Brokers", "Requests"
_AROUND = 5
"""So many records before and behind the divergence are behind its mark."""


def found_items(found: Followed, times: Times) -> Iterator[Item]:
    """The divergence, what leaves it undecided, each record that violates something, and flaws."""
    result = found.result
    if result.divergence:
        zxid, reason = result.divergence
        yield Item(
            Lane(FOUND, "divergence"),
            "divergence",
            times.at(zxid),
            f"first divergence: {reason}",
            times.around(zxid, _AROUND),
        )
    elif result.undecided:
        zxid = int(result.undecided.split(":")[0], 16)
        yield Item(Lane(FOUND, "undecided"), "undecided", times.at(zxid), result.undecided, times.around(zxid, _AROUND))
    for step in result.steps:
        for name in step.violates:
            yield Item(
                Lane(FOUND, f"violates {name}"),
                "violation",
                step.transaction.time,
                f"violates {name}: {step.transaction.form()}, written by broker {step.broker}"
                + (f" as controller of epoch {step.term}" if step.term else "")
                + f", while /controller_epoch is {step.shared.epoch}",
                (step.transaction.zxid,),
                brokers=_whose(step.broker),
            )
    for flaw in flaws(found.streams):
        for zxid in found.streams.overlapping:
            yield Item(Lane(FOUND, f"{flaw.property} does not hold"), "violation", times.at(zxid), flaw.text, (zxid,))


def controller_items(found: Followed, times: Times) -> Iterator[Item]:
    """Who had /controller and when; writes that came after that, and those that were refused."""
    result = found.result
    for each in result.controllers.all:
        epoch = "no epoch" if each.epoch is None else f"epoch {each.epoch}"
        how = f"until {each.ended} at {each.ended_zxid:#x}" if each.ended else "to the end"
        zxids = dict.fromkeys(z for z in (each.zxid, each.epoch_zxid, each.ended_zxid) if z is not None)
        end = times.ended if each.ended_zxid is None else times.at(each.ended_zxid)
        yield Item(
            _controller(each.broker),
            "term",
            times.at(each.zxid),
            f"{epoch}: controller by {each.zxid:#x}, {how}",
            tuple(zxids),
            end,
            _whose(each.broker),
        )
    for change, how in late_writes(result.controllers, (each.change for each in found.streams.partitions)):
        yield Item(
            _controller(change.broker),
            "late",
            change.time,
            f"written {how}, in epoch {change.term_key[0]}: {change.text}",
            (change.zxid,),
            brokers=_whose(change.broker),
        )
    for step in result.steps:
        if step.candidate.answer == "FENCED":
            yield Item(
                _controller(step.broker),
                "refused",
                step.transaction.time,
                f"refused: /controller_epoch is {step.shared.epoch}",
                (step.transaction.zxid,),
                brokers=_whose(step.broker),
            )


def _controller(broker: int | None) -> Lane:
    return Lane(CONTROLLERS, f"controller {broker}")


def _whose(broker: int | None) -> tuple[int, ...]:
    """Whom an item concerns: a broker, or none."""
    return () if broker is None else (broker,)


def broker_items(found: Followed, times: Times) -> Iterator[Item]:
    """The lives of brokers in /brokers/ids."""
    for each in found.facts.registrations:
        lane = Lane(BROKERS, f"broker {each.broker}")
        how = f"{each.how} at {each.ended:#x}" if each.how else "stands at the end"
        zxids = (each.zxid,) if each.ended is None else (each.zxid, each.ended)
        end = times.ended if each.ended is None else each.ended_time
        yield Item(
            lane, "up", max(each.time, times.began), f"registered at {each.zxid:#x}: {how}", zxids, end, (each.broker,)
        )
        if each.how == EXPIRED and each.ended is not None and each.ended_time is not None:
            yield Item(
                lane,
                "expired",
                each.ended_time,
                f"the session of broker {each.broker} expired",
                (each.ended,),
                brokers=(each.broker,),
            )


def request_items(found: Followed) -> Iterator[Item]:
    """What was asked of the controller, or told to it, and taken away again."""
    for judged in found.streams.writes:
        write = judged.write
        if judged.kind and not write.place.topic:
            yield Item(
                Lane(REQUESTS, write.place.kind.replace("_", " ")),
                "request",
                write.time,
                f"{judged.kind}: {write.text}",
                (write.zxid,),
                brokers=_whose(write.broker),
            )
