"""Judges LeaderAndIsr, UpdateMetadata and StopReplica: each is what some step of its controller sends, and what steps had to
send is there.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from kafkaproof.checker.basics.words import times
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.sent import LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA
from kafkaproof.traces.wire.control.answers import Answers
from kafkaproof.traces.wire.control.asked import Asked
from kafkaproof.traces.wire.control.comparing import assignment_words, goes_on, numbered, says, trigger_words, words_of
from kafkaproof.traces.wire.control.entries import DURING_DELETE, Entry, alive_in, entries_of, name_of
from kafkaproof.traces.wire.control.missing import EARLY, Key, Missing
from kafkaproof.traces.wire.control.sendings import Sending, Sendings
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.history import History, Reign, words
from kafkaproof.traces.wire.verdicts import LISTED, OPEN, STEP, WRONG, Judged, Verdict
from kafkaproof.traces.zookeeper.znodes.assignments import target_of

REQUESTS = LEADER_AND_ISR, UPDATE_METADATA, STOP_REPLICA
AGAIN = "sent again on another connection"
ONLINE_ALREADY = "the same leader epoch again, to replicas of a reassignment that are Online already"


class Requests:
    """The requests of controllers in some traffic."""

    def __init__(self, history: History, features: Features, asked: Asked, exchanges: list[Exchange]):
        self._history, self._features, self._asked = history, features, asked
        self._exchanges = [each for each in exchanges if each.api in REQUESTS]
        self._sendings: dict[Key, Sendings] = {}
        self._sent: Counter[tuple] = Counter()
        self._newest: dict[tuple, int] = {}
        self._viewed: dict[tuple[int, int | None], int] = {}
        self._before: dict[tuple[int, int | None], Exchange] = {}
        self._seen: dict[Key, list[tuple[Exchange, Entry]]] = defaultdict(list)

    def judge(self, judged: Judged, is_whole: bool) -> None:
        """Judge all of them; then look for those that are missing, where the capture lacks nothing (`is_whole`)."""
        wrong = self._wrong_answers()
        for exchange in self._exchanges:
            found, why = self._verdict(exchange), wrong.get(exchange)
            judged.note(exchange, Verdict(WRONG, why) if why and found.kind != WRONG else found)
        missing = Missing(self._history, self._exchanges, self._seen, self.sendings)
        for time, api, text in missing.find() if is_whole else ():
            judged.miss(time, api, text)

    def _wrong_answers(self) -> dict[Exchange, str]:
        """The requests that no broker answers in this way, and why; brokers handle them in the order of their answers."""
        answers = Answers(self._history, self._features, self._exchanges)
        in_order = sorted(self._exchanges, key=lambda each: each.answered or each.time)
        return {each: why for each in in_order if (why := answers.why_not(each))}

    def sendings(self, reign: Reign, partition: tuple[str, int]) -> Sendings:
        """What the controller of a term sends about a partition."""
        key = reign.epoch, *partition
        if key not in self._sendings:
            self._sendings[key] = Sendings(self._history, self._features, self._asked, reign, partition)
        return self._sendings[key]

    # What is there

    def _verdict(self, exchange: Exchange) -> Verdict:
        asked = exchange.asked
        reign = self._history.reigns.get(asked["controller_epoch"])
        if reign is None:
            first = min(self._history.reigns, default=0)
            if asked["controller_epoch"] < first:
                return Verdict(LISTED, "of a controller from before the log")
            return Verdict(WRONG, f"no controller ever had epoch {asked['controller_epoch']}")
        if why := self._why_not_whole(exchange, reign):
            return Verdict(WRONG, why)
        if self._is_retry(exchange):
            return Verdict(STEP, AGAIN)
        entries, triggers = list(entries_of(exchange)), []
        for entry in entries:
            found = self._why_not(exchange, reign, entry)
            if isinstance(found, Verdict):
                return found
            triggers.append(found)
        if exchange.api == UPDATE_METADATA and not entries:
            triggers.append("who is live")
        return Verdict(STEP, ", ".join(dict.fromkeys(triggers)) or "nothing in it")

    def _is_retry(self, exchange: Exchange) -> bool:
        """Whether it is the request before it on the same channel, on another connection: its answer did not arrive."""
        channel = exchange.asked["controller_epoch"], exchange.broker
        before, self._before[channel] = self._before.get(channel), exchange
        return (
            before is not None
            and before.connection != exchange.connection
            and (before.key, before.asked) == (exchange.key, exchange.asked)
        )

    def _why_not_whole(self, exchange: Exchange, reign: Reign) -> str | None:
        """Why a controller sends no such request, whatever it says of partitions."""
        asked, broker = exchange.asked, exchange.broker
        if asked["controller_id"] != reign.broker or exchange.sender not in (None, reign.broker):
            who = exchange.sender if asked["controller_id"] == reign.broker else asked["controller_id"]
            return (
                f"from broker {who}, in the controller epoch {reign.epoch} of broker {reign.broker} ({reign.zxid:#x})"
            )
        if exchange.time < reign.time - EARLY:
            return f"before broker {reign.broker} had been elected in epoch {reign.epoch} ({reign.zxid:#x})"
        epoch = asked.get("broker_epoch", -1)
        assert broker is not None
        life = self._history.life_of(broker, epoch) if epoch >= 0 else None
        if epoch >= 0 and life is None:
            known = [each.zxid for each in self._history.lives_of(broker)]
            return f"to broker epoch {epoch}, where broker {broker} registered with {known}"
        if life and (life.zxid > reign.end or life.ended < reign.zxid):
            return f"to broker epoch {epoch}, which controller epoch {reign.epoch} cannot have read"
        if exchange.api == UPDATE_METADATA:
            return self._why_not_alive(exchange, reign)
        return None

    def _why_not_alive(self, exchange: Exchange, reign: Reign) -> str | None:
        """Why a controller does not tell of these brokers as live: what it lists is a view, or one on the way to the next."""
        alive, channel = alive_in(exchange), (reign.epoch, exchange.broker)
        views = self._history.views_of(reign, exchange.time + EARLY)
        first = self._viewed.get(channel, 0)
        for place, view in enumerate(views[first:], first):
            if any(alive in (view, view | other) for other in views[place:]):
                self._viewed[channel] = place
                return None
        views = views[first:]
        told = " or ".join(map(str, map(sorted, views)))
        return (
            f"it lists {sorted(alive)} as live, where /brokers/ids was {told} since the last such list on this channel"
        )

    def _why_not(self, exchange: Exchange, reign: Reign, entry: Entry) -> str | Verdict:
        """By what a controller says this of a partition; a verdict where nothing is known, or no step does."""
        if not self._history.states.get(entry.partition):
            if entry.partition[0] in self._history.topics:
                return Verdict(WRONG, f"{name_of(entry.partition)}: ZooKeeper never held a state of it")
            return Verdict(OPEN, f"{entry.topic}: no such topic in the log")
        if why := self._why_not_as_written(exchange, reign, entry):
            return Verdict(WRONG, f"{name_of(entry.partition)}: {why}")
        found = self.sendings(reign, entry.partition)
        same = [each for each in found.all if says(each, entry)]
        fitting = [each for each in same if exchange.broker in each.may and each.time <= exchange.time + EARLY]
        if not fitting and self._is_of_reassignment(reign, entry, exchange.broker):
            return Verdict(LISTED, ONLINE_ALREADY)
        if not fitting:
            return Verdict(WRONG, f"{name_of(entry.partition)}: {self._why_nobody(exchange, entry, same, found)}")
        what = (reign.epoch, exchange.broker, exchange.asked.get("broker_epoch"), entry._replace(replicas=None))
        self._sent[what] += 1
        occasions = {(each.trigger, each.zxid, each.cause, number) for number, each in numbered(fitting)}
        if self._sent[what] > len(occasions) and self._is_of_reassignment(reign, entry, exchange.broker):
            return Verdict(LISTED, ONLINE_ALREADY)
        if self._sent[what] > len(occasions) and not goes_on(fitting):
            return Verdict(
                WRONG,
                f"{name_of(entry.partition)}: sent {times(self._sent[what])} to broker {exchange.broker}, where "
                f"steps send it {times(len(occasions))}: {trigger_words(fitting)}",
            )
        self._seen[(reign.epoch, *entry.partition)].append((exchange, entry))
        return fitting[0].trigger

    def _is_of_reassignment(self, reign: Reign, entry: Entry, broker: int | None) -> bool:
        """Whether it is the LeaderAndIsr to new replicas which are Online already, that `check_reassignment` does not model."""
        written = any(each.session == reign.session for each in self._history.topics[entry.topic])
        return entry.kind == LEADER_AND_ISR and written and broker in (entry.adding or entry.replicas or ())

    def _why_not_as_written(self, exchange: Exchange, reign: Reign, entry: Entry) -> str | None:
        """Why what is said differs from what ZooKeeper has held and the controller has read."""
        history = self._history
        ids = history.topic_ids(entry.topic)
        if entry.topic_id is not None and entry.topic_id not in ids:
            return f"topic id {entry.topic_id}, where its znode had {', '.join(sorted(ids)) or 'none'}"
        if entry.elected is None or entry.elected.leader == DURING_DELETE:
            return None
        versions = history.states[entry.partition]
        place = history.version_of(entry.partition, entry.elected, entry.leader_epoch or 0, entry.version)
        if place is None:
            near = [each for each in versions if each.time <= exchange.time + EARLY]
            return f"{words_of(entry)}, which ZooKeeper never held; at that time it held {words(near[-1] if near else None)}"
        version = versions[place]
        epochs = version.state.controller_epoch, reign.epoch
        if entry.state_epoch not in epochs:
            told = " or ".join(map(str, dict.fromkeys(epochs)))
            return f"controller epoch {entry.state_epoch} in its state, where {words(version)} has {told}"
        if self._features.guarded and version.zxid > reign.end and version.session != reign.session:
            return f"{words(version)}, which was written after the term had ended ({int(reign.end):#x})"
        channel = reign.epoch, exchange.broker, exchange.asked.get("broker_epoch"), entry.kind, entry.partition
        if self._newest.get(channel, -1) > version.zxid:
            if not self._features.kip455 and self._is_of_reassignment(reign, entry, exchange.broker):
                return None
            return f"{words(version)}, after a later version was sent ({self._newest[channel]:#x}) on the same channel"
        self._newest[channel] = version.zxid
        return self._why_not_assigned(reign, entry)

    def _why_not_assigned(self, reign: Reign, entry: Entry) -> str | None:
        """Why replicas, and those that are added and removed, are no assignment that the controller may have read."""
        assigned = self._history.assignments(entry.partition, reign.zxid, reign.end)
        for each in assigned:
            whole = entry.replicas == each.replicas and entry.adding in (None, each.adding)
            if whole and entry.removing in (None, each.removing):
                return None
            if entry.replicas == target_of(each) and not entry.adding and not entry.removing:
                return None
        listed = " or ".join(map(assignment_words, assigned))
        said = f"replicas {list(entry.replicas or ())}, adding {list(entry.adding or ())}, removing {list(entry.removing or ())}"
        return f"{said}, where the topic znode had {listed}"

    def _why_nobody(self, exchange: Exchange, entry: Entry, same: list[Sending], found: Sendings) -> str:
        """Why no step sends this to this broker."""
        if later := [each for each in same if exchange.broker in each.may]:
            return f"{words_of(entry)}, before {trigger_words(later)} sends it"
        if same:
            to = sorted(frozenset[int]().union(*(each.may for each in same)))
            return f"{words_of(entry)}, to broker {exchange.broker}, where {trigger_words(same)} sends it to {to} alone"
        others = [each for each in found.all if each.kind == entry.kind]
        told = f"; it sends {trigger_words(others)}" if others else "; it sends none of that kind about the partition"
        return f"no step of the controller of epoch {found.reign.epoch} sends {words_of(entry)}{told}"
