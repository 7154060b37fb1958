"""The steps of data planes that a driver orders, and what must happen for them between brokers: one at a time.

A step that handles a message waits for the one that says what it should; older ones of the same place are forgotten.
"""

from __future__ import annotations

from base64 import b64decode

from kafkaproof.impl.broker.replica import Offer
from kafkaproof.impl.seams.between.data_apis import REFUSED
from kafkaproof.impl.seams.between.messages import Receiver
from kafkaproof.impl.server.arrivals import Messages
from kafkaproof.spec.cluster import control, data_plane
from kafkaproof.spec.replica.network import DONE
from kafkaproof.spec.running.replica_messages import ASKED, FETCHED, WRITTEN, put_fields


class OrderedPlanes:
    """Takes them in one broker; each order is the method of its name."""

    def __init__(self, broker, arrived: Messages):
        self._broker, self._arrived = broker, arrived
        self._process, self._leadership = broker.process, broker.leadership

    def take(self, name: str, arguments: dict, content: dict) -> bool | None:
        """Carry out an order if it is possible now; None where it does not concern a data plane."""
        order = getattr(self, name, None) if self._process.planes else None
        return order(**(arguments | content)) if order else None

    # Clients

    def produce(self, p: int, acks: int, batch: str) -> bool:
        """A producer offers a batch."""
        offer = Offer(b64decode(batch), lambda error: None)
        return self._broker.try_step(data_plane.produce, None, offer, p=p, acks=acks)

    def consume(self, p: int, position: int) -> bool:
        """A consumer reads at a place."""
        self._process.planes[p].clients.position = position
        return self._broker.try_step(data_plane.consume, p=p)

    # Followers and leaders

    def send_request(self, p: int) -> bool:
        """Ask the leader, or ask again: a process has already asked when it began to follow."""
        if self._broker.try_step(data_plane.send_request, p=p):
            return True
        if self._leadership.follows(p):
            self._leadership.ask_again(p)
        return self._leadership.follows(p)

    def ask_again(self, p: int, leader: list) -> bool:
        """Send the present request again, if this broker still follows, to where the leader listens now."""
        self._process.leaders[p] = Receiver(*leader)
        if self._leadership.follows(p):
            self._leadership.ask_again(p)
        return True

    def serve_fetch(self, p: int, follower: int, fields: dict) -> bool:
        """Answer a follower."""

        def serve(message):
            put_fields(self._process.planes[p].network.messages[follower], fields)
            self._broker.try_step(data_plane.serve_fetch, message, p=p, follower=follower)

        return self._arrived.handle(ASKED, follower, {"p": p, "fields": fields}, serve)

    def receive_answer(self, p: int, fields: dict) -> bool:
        """Take the leader's answer to the request, or to any repetition of it."""

        def take(message):
            self._process.asked[p] = message.content["answers"], 0.0
            self._broker.handle(message)

        return self._arrived.handle(FETCHED, None, {"p": p, "fields": fields}, take)

    # ISRs

    def learn_isr(self, p: int, fields: dict) -> bool:
        """Hear that the ISR is written; a leader that is the controller itself knows."""
        if self._process.planes[p].network.alters[self._process.broker].state == DONE:
            return self._broker.try_step(data_plane.learn_isr, p=p)
        return self._arrived.handle(WRITTEN, None, {"p": p, "fields": fields}, self._broker.handle)

    def alter_partition(self, p: int, sender: int, isr: int, leader_epoch: int) -> bool:
        """As the controller: write what a leader proposes."""
        return self._decide(control.alter_partition, p, sender, isr, leader_epoch, isr=isr)

    def confirm_isr(self, p: int, sender: int, isr: int, leader_epoch: int) -> bool:
        """As the controller: tell a leader that what it proposes is so."""
        return self._decide(control.confirm_isr, p, sender, isr, leader_epoch)

    def _decide(self, function, p, sender, wanted, leader_epoch, **more):
        def decide(message):
            self._process.partition_zookeeper.proposers_version = message.content["version"]
            self._leadership.proposed(message)
            self._broker.try_step(function, message, p=p, sender=sender, **more)

        says = {"p": p, "isr": wanted, "leader_epoch": leader_epoch}
        return self._arrived.handle("AlterPartition", sender, says, decide)

    def refuse(self, p: int, sender: int, isr: int, leader_epoch: int) -> bool:
        """As the controller: tell a leader that its ISR is refused; the step is the leader's."""
        alike = self._arrived.alike("AlterPartition", sender, {"p": p, "isr": isr, "leader_epoch": leader_epoch})
        if alike:
            self._leadership.refused(alike[-1], self._process.alter_error(alike[-1]))
            self._arrived.forget(alike)
        return bool(alike)

    def refuse_isr(self, p: int, controller: int, isr: int, leader_epoch: int) -> bool:
        """As the leader: hear that its ISR is refused."""
        return self._arrived.handle(REFUSED, controller, {"p": p}, self._broker.handle)

    # Disks

    def checkpoint(self) -> bool:
        """Write the high watermarks."""
        self._leadership.write_checkpoint()
        return True
