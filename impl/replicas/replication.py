"""Chooses which steps of the data planes run, by what has arrived and by timers, and decides nothing else.

A follower asks as soon as it may, and again where nothing comes back. A leader lets a fetch wait while there is
nothing new to say (replica.fetch.wait.max.ms), proposes an ISR without those who lag (replica.lag.time.max.ms) or with
one who has caught up, and proposes it again and again until it is answered. Where one is refused, but not for a new
member, it waits for another leader epoch, as Kafka does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.seams.between.data_apis import FETCH_WAIT, NOT_LEADER, PROPOSED, REFUSED, refusal_of
from kafkaproof.impl.seams.between.messages import FOREIGN, Message, Receiver
from kafkaproof.spec.cluster import control, data_plane
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.verdicts import TAKE_BACK, WAIT, AlterError, reaction
from kafkaproof.spec.replica.broker import FETCHING, LEADER, TRUNCATING
from kafkaproof.spec.replica.log_start import is_in_range
from kafkaproof.spec.replica.network import DONE, FETCH, SENT, check, refuse, wants_to_send
from kafkaproof.spec.replica.zookeeper import OK
from kafkaproof.spec.running.replica_messages import ASKED, OUTDATED, fields_of, put_fields

ASK_AGAIN, LAG, PROPOSE_AGAIN, CHECKPOINT = 1.0, 2.0, 0.5, 5.0
"""Of these, after how long a follower asks again that was refused: replica.fetch.backoff.ms."""
HW_WAIT = 0.05
"""How long a fetch waits to which there is only a new high watermark to answer, in seconds: with the next batch it costs
nothing. (Kafka answers at once: ReplicaManager.fetchMessages, 2.4 to 3.9.)
"""


@dataclass
class Follower:
    """What a leader notes of one follower: when it asked last, the log's end then, and when it had caught up last."""

    asked: float
    end: int
    caught_up: float
    told_hw: int = -1


class Replication:
    """The data planes of one broker's process; `controller` is who the controller is."""

    def __init__(self, process: Process, try_step: Callable[..., bool]):
        self._process, self._try_step = process, try_step
        self._planes = process.planes
        self._waiting: dict[tuple[int, int], tuple[Message, float]] = {}
        self._followers: dict[tuple[int, int], Follower] = {}
        self._newest: dict[tuple[int, int], tuple[int, int]] = {}
        self._began: dict[int, float] = {}
        self._proposed: dict[int, float] = {}
        self._versions: dict[int, int] = {}
        self._checkpointed = time.monotonic()
        self._controller_epoch = 0
        self.controller = NOBODY

    def leads_anything(self) -> bool:
        """Whether this broker leads a partition."""
        return any(plane.replica.state == LEADER for plane in self._planes)

    # What arrives

    def handle(self, message: Message) -> bool:
        """Do what a message of another replica, or of the controller, wants; False where it is none of these."""
        match message.kind:
            case "Fetch":
                self._asked_by(message)
            case "Fetched":
                self._answered(message)
            case "IsrWritten" | "IsrRefused" | "IsrOutdated":
                self._decided(message)
            case _:
                return False
        return True

    def _asked_by(self, message: Message) -> None:
        """A follower asks: answer at once, or when there is something to say. What it sent before is void; what comes from a
        broker that is none of ours comes in order.
        """
        place = message.content["p"], message.sender
        if message.number[0] != FOREIGN:
            if self._newest.get(place, (0, 0)) >= message.number:
                message.settle(NOT_LEADER)
                return
            self._newest[place] = message.number
        if place in self._waiting:
            self._waiting[place][0].settle(NOT_LEADER)
        self._waiting[place] = message, time.monotonic()
        self._note_follower(place, message.content["fields"]["offset"])
        self._planes[place[0]].follower_starts[place[1]] = message.content.get("start", 0)
        self._serve(place)

    def _note_follower(self, place, offset):
        now, end = time.monotonic(), self._planes[place[0]].log.length
        known = self._followers.setdefault(place, Follower(now, end, self._began.get(place[0], now)))
        if offset >= end:
            known.caught_up = now
        elif offset >= known.end:
            known.caught_up = known.asked
        known.asked, known.end = now, end

    def _serve(self, place, patience: float = FETCH_WAIT) -> None:
        """Answer a fetch that waits, unless it may wait longer."""
        message, since = self._waiting.get(place, (None, 0.0))
        if message is None:
            return  # it was answered beside another
        p, follower = place
        plane, fields = self._planes[p], message.content["fields"]
        replica = plane.replica
        known = self._followers.setdefault(place, Follower(since, plane.log.length, since))
        put_fields(plane.network.messages[follower], fields)
        quiet = (
            fields["kind"] == FETCH
            and check(plane.network, follower, replica) == OK
            and fields["offset"] == plane.log.length == replica.ends[follower]
        )
        if known.told_hw != replica.hw:
            patience = min(patience, HW_WAIT)
        if quiet and time.monotonic() - since < patience:
            return
        del self._waiting[place]
        told = replica.hw
        if self._try_step(data_plane.serve_fetch, message, p=p, follower=follower):
            message.settle(refusal_of(self._process.answer))
            known.told_hw = told
            if replica.state == LEADER and not contains(replica.isr, follower):
                self._try_step(data_plane.expand_isr, p=p, follower=follower)
        message.settle(NOT_LEADER)
        self._serve_beside(message)

    def _serve_beside(self, message: Message) -> None:
        """Answer what else is asked in the same request, which is answered as one."""
        for place, (other, _) in list(self._waiting.items()):
            if other.reply and message.reply and other.reply.request is message.reply.request:
                self._serve(place, patience=0.0)

    def _answered(self, message: Message) -> None:
        """An answer to this broker's fetch has come, if it is the last one."""
        p = message.content["p"]
        if self._process.asked.get(p, ("",))[0] != message.content["answers"]:
            return
        plane, broker = self._planes[p], self._process.broker
        put_fields(plane.network.messages[broker], message.content["fields"])
        plane.log.incoming = message.body
        if self._try_step(data_plane.receive_answer, message, p=p):
            start = message.content.get("start", 0)
            if is_in_range(start, plane.checkpoint):
                plane.log.begin_at(start)

    def _decided(self, message: Message) -> None:
        """The controller has answered a proposal."""
        p, broker = message.content["p"], self._process.broker
        alter, fields = self._planes[p].network.alters[broker], message.content["fields"]
        if alter.state != SENT or (alter.epoch, alter.isr) != (fields["epoch"], fields["isr"]):
            return
        if message.kind == OUTDATED:
            refuse(self._planes[p].network, broker)
        elif message.kind == REFUSED:
            wanted = {"sender": broker, "b": message.sender, "isr": alter.isr}
            self._try_step(control.refuse_isr, message, p=p, **wanted)
        else:
            alter.state = DONE
            self._versions[p] = message.content["version"]
            self._try_step(data_plane.learn_isr, message, p=p)

    def told(self, message: Message, is_news: bool) -> None:
        """LeaderAndIsr was handled; `is_news`: it was obeyed, and told of another leader epoch."""
        content, p = message.content, message.content["p"]
        told = self._process.partition_zookeeper.told
        if is_news or p not in told:
            told[p] = tuple(content["replicas"])
        if content["epoch"] >= self._controller_epoch:
            self._controller_epoch, self.controller = content["epoch"], message.sender
        if content["leader_epoch"] == self._planes[p].replica.leader_epoch and content["leader_address"]:
            self._process.leaders[p] = Receiver(content["leader"], *content["leader_address"])
        if is_news:
            self._versions[p], self._began[p] = content["version"], time.monotonic()
            self._planes[p].follower_starts.clear()
            for place in [place for place in self._followers if place[0] == p]:
                del self._followers[place]

    def proposed(self, message: Message) -> None:
        """A leader has proposed an ISR to this broker as the controller: put it where the next step finds it."""
        p, sender = message.content["p"], message.sender
        if sender != self._process.broker:
            put_fields(self._planes[p].network.alters[sender], message.content["fields"])

    def propose_to(self, controller: Receiver, p: int) -> None:
        """Propose the ISR at once to the controller that listens there."""
        self.controller = controller.broker
        self._proposed.pop(p, None)
        self._propose(p, self._planes[p], time.monotonic(), controller)

    def follows(self, p: int) -> bool:
        """Whether this broker follows a leader of a partition."""
        return self._planes[p].replica.state in (TRUNCATING, FETCHING)

    def ask_again(self, p: int) -> None:
        """Send the present request of a follower again."""
        process, plane = self._process, self._planes[p]
        content = {"p": p, "fields": fields_of(plane.network.messages[process.broker])}
        process.asked[p] = process.announce(process.leaders.get(p), ASKED, content), time.monotonic()

    def refused(self, message: Message, error: int) -> None:
        """Tell a leader that its proposal is refused, unless it is to ask again, as it does by itself."""
        kind = {TAKE_BACK: REFUSED, WAIT: OUTDATED}.get(reaction(error))
        if kind:
            told = {name: message.content[name] for name in ("p", "fields")} | {"error": AlterError.names[error]}
            self._process.announce(message.reply, kind, told, took=message)
        message.settle(AlterError.names[error].lower())

    # What is due

    def tick(self, is_all: bool = True) -> None:
        """Do what is due, and what has become possible; not `is_all`: where steps were taken since the last time."""
        now, stepped = time.monotonic(), self._process.stepped
        found = range(len(self._planes)) if is_all else sorted(stepped)
        stepped.clear()
        for place in [place for place in self._waiting if is_all or place[0] in found]:
            self._serve(place)
        for p in found:
            plane = self._planes[p]
            self._follow(p, plane, now)
            if plane.replica.state == LEADER:
                self._look_at_followers(p, plane, now)
                self._propose(p, plane, now)
        self._write_starts()
        if now - self._checkpointed > CHECKPOINT:
            self.write_checkpoint()

    def write_checkpoint(self) -> None:
        """Write the high watermarks of all partitions; a disk that fails keeps the old ones."""
        self._checkpointed = time.monotonic()
        try:
            self._process.disk.checkpoint.write({p: plane.checkpoint for p, plane in enumerate(self._planes)})
        except OSError:
            pass

    def _write_starts(self) -> None:
        """Write the log start offsets as soon as one has changed; of logs that begin at 0 none, as Kafka does.

        Source: kafka.log.LogManager.checkpointLogStartOffsetsInDir, 0.11 to 3.9 (every minute).
        """
        starts = {p: plane.log.start_offset for p, plane in enumerate(self._planes) if plane.log.start_offset}
        if starts != self._process.disk.starts.offsets:
            try:
                self._process.disk.starts.write(starts)
            except OSError:
                pass

    def _follow(self, p, plane, now):
        """Ask the leader, if the present request is not under way; or send it again where no answer comes."""
        process = self._process
        if not self.follows(p):
            return
        if wants_to_send(plane.network, process.broker, plane.replica):
            self._try_step(data_plane.send_request, p=p)
        elif now - process.asked.get(p, ("", 0.0))[1] > ASK_AGAIN:
            leader = process.leaders.get(p)
            if not (leader and process.post.is_under_way(leader, ASKED, p)):
                self.ask_again(p)

    def _look_at_followers(self, p, plane, now):
        for follower in range(self._process.settings.brokers):
            known = self._followers.get((p, follower))
            lags = now - (known.caught_up if known else self._began.get(p, now)) > LAG
            if lags and contains(plane.replica.isr, follower):
                self._try_step(data_plane.shrink_isr, p=p, follower=follower)

    def _propose(self, p, plane, now, controller=None):
        """Ask the controller to write the ISR that is proposed, until it has answered.

        A leader that is the controller itself finds that it has written it.
        """
        alter = plane.network.alters[self._process.broker]
        if alter.state == DONE:
            self._versions[p] = self._process.partition_zookeeper.version_of(p)
            self._try_step(data_plane.learn_isr, p=p)
        elif alter.state == SENT and self.controller != NOBODY and now - self._proposed.get(p, 0.0) > PROPOSE_AGAIN:
            self._proposed[p] = now
            to = controller or self._process.known.reach(self.controller)
            if to and self._process.post.is_under_way(to, PROPOSED, p):
                return
            self._process.announce(
                to,
                PROPOSED,
                {
                    "p": p,
                    "leader_epoch": alter.epoch,
                    "isr": alter.isr,
                    "version": self._versions.get(p, 0),
                    "fields": fields_of(alter),
                },
            )
