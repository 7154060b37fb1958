"""Judges AlterPartition, ControlledShutdown and their answers, by what ZooKeeper's log has before and behind them."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.partition.brokers import is_moved_away
from kafkaproof.spec.partition.context import IDLE
from kafkaproof.spec.partition.verdicts import AlterError, alter_error, compared
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.scene import Scene, stage_of
from kafkaproof.traces.wire.control.asked import ALTER_PARTITION, CONTROLLED_SHUTDOWN, Asked, Proposal
from kafkaproof.traces.wire.control.entries import name_of
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.history import History, Reign, Version, words
from kafkaproof.traces.wire.verdicts import LISTED, OPEN, STEP, WRONG, Judged, Verdict

_SOON = 2_000
"""By so many ms what a controller knows may differ from what ZooKeeper holds at that time."""
_NONE = "NONE"
_UNNAMED = Verdict(OPEN, "a topic id that is not in the log")


class Proposals:
    """What brokers ask of their controller, and are answered."""

    def __init__(self, history: History, features: Features, asked: Asked, exchanges: list[Exchange]):
        self._history, self._features, self._asked = history, features, asked
        self._exchanges = exchanges
        replaced = dict(find("partition", features.granting)[0].replaced)
        self._alter_error = rebind(alter_error, replaced)

    def judge(self, judged: Judged) -> None:
        """Judge all of them."""
        for each in self._exchanges:
            if each.api == ALTER_PARTITION:
                judged.note(each, self._why_not_asked(each) or self._of_proposal(each))
            elif each.api == CONTROLLED_SHUTDOWN:
                judged.note(each, self._why_not_asked(each) or self._of_shutdown(each))

    def _why_not_asked(self, exchange: Exchange) -> Verdict | None:
        """Why no broker asks so: in the name of another, or in a registration that it never had."""
        broker, epoch = exchange.asked["broker_id"], exchange.asked.get("broker_epoch", -1)
        if exchange.sender not in (None, broker):
            return Verdict(WRONG, f"in the name of broker {broker}, sent by broker {exchange.sender}")
        lives = [each for each in self._history.lives_of(broker) if each.time <= exchange.time + _SOON]
        if epoch >= 0 and epoch not in {each.zxid for each in lives}:
            return Verdict(
                WRONG, f"of broker epoch {epoch}, where broker {broker} registered with {[x.zxid for x in lives]}"
            )
        return None

    # AlterPartition

    def _of_proposal(self, exchange: Exchange) -> Verdict:
        answers = self._answers(exchange)
        whole = exchange.told["error_code"].name.upper() if exchange.told else _NONE
        for proposal in self._asked.in_request(exchange):
            if proposal.topic is None:
                return _UNNAMED
            name = name_of(proposal.partition)
            if why := self._why_not_proposed(exchange, proposal):
                return Verdict(WRONG, f"{name}: {why}")
            if exchange.told is not None:
                said = answers.get(proposal.partition) if whole == _NONE else None
                if why := self._why_not_answered(exchange, proposal, whole, said):
                    return Verdict(WRONG, f"{name}: {why}")
        return Verdict(STEP, ALTER_PARTITION if whole == _NONE else f"refused: {whole}")

    def _answers(self, exchange: Exchange) -> dict[tuple[str | None, int], dict[str, Any]]:
        """What is answered for each partition."""
        return {
            (self._asked.topic_of(topic), each["partition_index"]): each
            for topic in (exchange.told or {}).get("topics", ())
            for each in topic["partitions"]
        }

    def _why_not_proposed(self, exchange: Exchange, proposal: Proposal) -> str | None:
        """Why a broker does not ask for this: it does not lead in that leader epoch, or would leave the ISR itself."""
        sender = exchange.asked["broker_id"]
        versions = self._versions(proposal)
        led = [each for each in versions if each.state.leader_epoch == proposal.leader_epoch]
        if not any(each.state.leader == sender for each in led):
            whose = f"led by {led[0].state.leader}" if led else "which ZooKeeper never held"
            return f"broker {sender} proposes an ISR in leader epoch {proposal.leader_epoch}, {whose}"
        if not any(each.number == proposal.version for each in led):
            return f"version {proposal.version} in leader epoch {proposal.leader_epoch}, which ZooKeeper never held"
        assigned = self._history.assignments(proposal.partition, 0, versions[-1].zxid)
        members = {r for each in assigned for r in each.replicas}
        if sender not in proposal.isr or not proposal.isr <= members:
            return f"ISR {sorted(proposal.isr)}, where a leader proposes one with {sender}, of {sorted(members)}"
        return None

    def _versions(self, proposal: Proposal) -> list[Version]:
        return self._history.states.get(proposal.partition, [])

    def _why_not_answered(
        self, exchange: Exchange, proposal: Proposal, whole: str, said: dict[str, Any] | None
    ) -> str | None:
        """Why a broker does not answer so."""
        error = said["error_code"].name.upper() if said else whole
        if said is None and whole == _NONE:
            return "no answer for it"
        if said and error == _NONE:
            return self._why_not_granted(exchange, proposal, said)
        possible = self._errors(exchange, proposal)
        if error in AlterError.names and error not in possible:
            return f"answered {error}, where a controller answers {' or '.join(sorted(possible))}"
        return None

    def _why_not_granted(self, exchange: Exchange, proposal: Proposal, said: dict[str, Any]) -> str | None:
        """Why what is answered is not the state that ZooKeeper has then."""
        isr = frozenset(said["isr"])
        told = said["leader_id"], said["leader_epoch"], isr, said["partition_epoch"]
        until = (exchange.answered or exchange.time) + _SOON
        versions = [each for each in self._versions(proposal) if each.time <= until]
        match = [v for v in versions if (v.state.leader, v.state.leader_epoch, v.elected.isr, v.number) == told]
        if not match:
            return (
                f"answered leader {told[0]}, leader epoch {told[1]}, ISR {sorted(isr)}, version {told[3]}, which ZooKeeper "
                f"never held; at that time it held {words(versions[-1] if versions else None)}"
            )
        if isr != proposal.isr:
            return f"answered ISR {sorted(isr)} without an error, where {sorted(proposal.isr)} was asked for"
        return None if self._reigns(exchange) else f"granted by broker {exchange.broker}, which is not the controller"

    def _reigns(self, exchange: Exchange) -> list[Reign]:
        """The terms in which the receiver may take itself for the controller."""
        until = (exchange.answered or exchange.time) + _SOON
        return [r for r in self._history.reigns.values() if r.broker == exchange.broker and r.time <= until]

    def _errors(self, exchange: Exchange, proposal: Proposal) -> set[str]:
        """The errors that a broker may answer, by all that it may know."""
        reigns = self._reigns(exchange)
        until = exchange.time + _SOON
        rules = [r for r in reigns if r.end_time > until and not self._history.is_deposed(r, until)]
        sender, epoch = exchange.asked["broker_id"], exchange.asked.get("broker_epoch", -1)
        life = self._history.life_of(sender, epoch) if epoch >= 0 else None
        is_over = life is not None and life.ended_time <= (exchange.answered or exchange.time) + _SOON
        found = {"STALE_BROKER_EPOCH"} if is_over and reigns else set()
        found |= set() if rules and rules[-1].time < exchange.time - _SOON else {"NOT_CONTROLLER"}
        for reign in reigns:
            for controller, partition, version in self._knows(reign, exchange, proposal):
                code = self._alter_error(
                    controller,
                    partition,
                    sender,
                    proposal.leader_epoch,
                    _bits(proposal.isr),
                    compared(proposal.version, version),
                )
                found |= {AlterError.names[code]} if code else {"INVALID_UPDATE_VERSION"}
        if "INELIGIBLE_REPLICA" in found:
            found.add("OPERATION_NOT_ATTEMPTED")
        return found

    def _knows(self, reign: Reign, exchange: Exchange, proposal: Proposal) -> Iterator[tuple[Any, Any, int]]:
        """What a controller may know: who is live and leaving, and the state of the partition with its version."""
        until = (exchange.answered or exchange.time) + _SOON
        leaving = _bits(self._asked.leaving(reign, until))
        recent = self._stood(proposal.partition, exchange.time - _SOON, until)
        for view in self._history.views_of(reign, until)[-4:]:
            for own in {leaving, 0}:
                controller = SimpleNamespace(epoch=reign.epoch, doing=IDLE, live=_bits(view), leaving=own)
                for each in recent:
                    state = each.state
                    partition = SimpleNamespace(
                        leader=state.leader, isr=_bits(state.isr), leader_epoch=state.leader_epoch
                    )
                    yield controller, partition, each.number

    def _stood(self, partition: tuple[str, int], since: int, until: int) -> list[Version]:
        """The versions of a state that stood at some time (ms) between two."""
        versions = [each for each in self._history.states.get(partition, []) if each.time <= until]
        return [v for v, later in zip(versions, [*versions[1:], None]) if later is None or later.time >= since]

    # ControlledShutdown

    def _of_shutdown(self, exchange: Exchange) -> Verdict:
        if exchange.told is None:
            return Verdict(STEP, CONTROLLED_SHUTDOWN)
        error = exchange.told["error_code"].name.upper()
        if error != _NONE:
            return Verdict(LISTED, f"answered {error}")
        if not self._reigns(exchange):
            return Verdict(WRONG, f"answered by broker {exchange.broker}, which is not the controller")
        leaver = exchange.asked["broker_id"]
        told = {(each["topic_name"], each["partition_index"]) for each in exchange.told["remaining_partitions"]}
        for partition in {*self._history.states, *told}:
            leads = {
                leads
                for each in self._in_time(exchange, partition)
                for leads in self._leads(leaver, partition, each, exchange)
            }
            name = name_of(partition)
            if partition in told and True not in leads:
                return Verdict(WRONG, f"{name} remains on broker {leaver}, which does not lead it")
            if partition not in told and leads == {True}:
                return Verdict(WRONG, f"{name} does not remain on broker {leaver}, which leads it")
        return Verdict(STEP, CONTROLLED_SHUTDOWN)

    def _in_time(self, exchange: Exchange, partition: tuple[str, int]) -> list[Version | None]:
        """The versions of a state that stood while a request was handled, and None if there may have been no state."""
        since, until = exchange.time - _SOON // 2, (exchange.answered or exchange.time) + _SOON // 2
        stood = self._stood(partition, since, until)
        is_new = not stood or self._history.states[partition][0].time >= since
        return [*stood, *([None] if is_new or self._history.markers[partition[0]] else [])]

    def _leads(self, leaver: int, partition: tuple[str, int], version: Version | None, exchange: Exchange) -> set[bool]:
        """Whether a broker that leaves leads a partition which a shutdown moves, by each assignment that stood then."""
        if version is None or version.state.leader != leaver:
            return {False}
        since = self._history.zxid_at(exchange.time - _SOON)
        until = self._history.zxid_at((exchange.answered or exchange.time) + _SOON)
        found = set()
        for assignment in self._history.assignments(partition, since, until):
            scene = Scene(stage_of(self._features.handling), version.elected, assignment.replicas, {leaver})
            scene.know({*assignment.replicas, leaver})
            found.add(bool(is_moved_away(scene.controller, 0, scene.number[leaver])))
        return found


def _bits(brokers: Any) -> int:
    """A set of brokers as the specification has it, by their ids."""
    return sum(1 << broker for broker in set(brokers) if broker >= 0)
