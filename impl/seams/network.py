"""The network as the control plane's steps use it: what they send, and the message that each of them handles."""

from __future__ import annotations

from kafkaproof.impl.seams.between.messages import Message, Outgoing, Receiver
from kafkaproof.impl.seams.client_requests import ClientRequests
from kafkaproof.impl.seams.zookeeper.partition import NO_VERSION
from kafkaproof.spec.language.plain import ids_in, members
from kafkaproof.spec.language.sets import contains, only
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.partition.deletion.network import DELETED, FAILED, NO_ANSWER


class PartitionNetwork(ClientRequests):
    """The seams of one broker, each the one of its name in `kafkaproof.spec.partition.network`.

    `current` is the message that the step in progress handles. What a step sends is kept in `outbox`, as address,
    kind and content, until the step is recorded. `leader_epochs` are those of the partitions that the broker leads.
    """

    def __init__(self, broker: int, zookeeper):
        self.broker, self.zookeeper = broker, zookeeper
        self.current = None
        self.outbox: list[Outgoing] = []
        self._updates: dict[int, dict] = {}
        self.leader_epochs: dict[int, int] = {}
        self.broker_epoch = 0
        self.leaving = False

    def begin(self) -> None:
        """A step begins: it has sent nothing yet."""
        self.outbox, self._updates = [], {}
        self.zookeeper.created = None

    # LeaderAndIsr

    def put_request(self, epoch, p, leader, leader_epoch, isr, to):
        """Send LeaderAndIsr to a set of brokers."""
        zookeeper = self.zookeeper
        state, version = zookeeper.states[p]
        if state.leader_epoch != leader_epoch:
            version = NO_VERSION
        leading = zookeeper.addresses.get(leader)
        content = {
            "epoch": epoch,
            "p": p,
            "leader": leader,
            "leader_epoch": leader_epoch,
            "version": version,
            "written_in": state.controller_epoch,
            "isr": tuple(ids_in(isr)),
            "replicas": list(zookeeper.replicas[p]),
            "moving": zookeeper.moving.get(p, ((), ())),
            "is_new": zookeeper.created == p,
            "topic_id": zookeeper.id_of(p),
            "leader_address": list(leading.inner) if leading else None,
        }
        for receiver, broker_epoch in self._registered(to):
            self.outbox.append(Outgoing(receiver, "LeaderAndIsr", content | {"broker_epoch": broker_epoch}))

    def _registered(self, to):
        """The brokers of a set that are registered, as this broker has read it, each with its broker epoch."""
        return [
            (Receiver(r, *address.inner), broker_epoch)
            for r, (address, broker_epoch) in sorted(self.zookeeper.brokers.items())
            if contains(to, r)
        ]

    put_request_with_isr = put_request

    def isr_in(self, epoch, p):
        """The ISR that the request names."""
        return members(self.current.content["isr"]) if self.current.content["leader"] == self.broker else 0

    def arriving(self, epoch, p, b):
        """Whether the message at hand is such a request."""
        return self._is("LeaderAndIsr", epoch=epoch, p=p)

    def take_request(self, epoch, p, b):
        """The request is delivered."""

    take_request_with_isr = take_request

    def leader_in(self, epoch, p):
        """The leader that the request names."""
        return self.current.content["leader"]

    def leader_epoch_in(self, epoch, p):
        """The leader epoch that the request names."""
        return self.current.content["leader_epoch"]

    def put_error(self, epoch, p, b):
        """Answer the request with KAFKA_STORAGE_ERROR."""
        self.outbox.append(Outgoing(self.current.reply, "StorageError", {"epoch": epoch, "p": p}))

    def error_arrives(self, epoch, p, b):
        """Whether the message at hand is a storage error of broker `b`."""
        return self.current.sender == b and self._is("StorageError", epoch=epoch, p=p)

    def take_error(self, epoch, p, b):
        """The answer is delivered."""

    # UpdateMetadata

    def put_alive(self, epoch, alive, to):
        """Send UpdateMetadata to a set of brokers: the live brokers, and where clients and brokers find them.

        It goes out in its place among the requests of the step: a broker that is told of a new one at first can follow it.
        """
        addresses = self.zookeeper.addresses
        for receiver, broker_epoch in self._registered(to):
            r = receiver.broker
            if r not in self._updates:
                self._updates[r] = {"epoch": epoch, "broker_epoch": broker_epoch, "partitions": {}}
                self.outbox.append(Outgoing(receiver, "UpdateMetadata", self._updates[r]))
            self._updates[r]["alive"] = [[b, *addresses[b]] for b in ids_in(alive)]

    def put_update(self, epoch, p, leader, leader_epoch, isr, alive, to):
        """The same, and what is told of a partition: all that a step tells a broker is one request."""
        self.put_alive(epoch, alive, to)
        state, version = self.zookeeper.states.get(p, (None, NO_VERSION))
        for r, update in self._updates.items():
            if contains(to, r):
                update["partitions"][str(p)] = {
                    "written_in": state.controller_epoch if state else NO_EPOCH,
                    "version": version,
                    "leader": leader,
                    "leader_epoch": leader_epoch,
                    "isr": tuple(ids_in(isr)),
                    "replicas": list(self.zookeeper.replicas.get(p, ())),
                    "topic_id": self.zookeeper.id_of(p),
                }

    def send_batch(self, epoch):
        """What was collected goes out when the step is recorded, as all that it sends."""

    def update_arrives(self, epoch, b):
        """Whether the message at hand is one."""
        return self._is("UpdateMetadata", epoch=epoch)

    def alive_told(self, epoch):
        """The live brokers that it lists."""
        return members(b for b, *_ in self.current.content["alive"])

    def is_update_of(self, epoch, p, b):
        """Whether it is about a partition."""
        return str(p) in self.current.content["partitions"]

    def leader_told(self, epoch, p):
        """The leader that it names."""
        return self.current.content["partitions"][str(p)]["leader"]

    def leader_epoch_told(self, epoch, p):
        """The leader epoch that it names, -1 where the partition is to be forgotten."""
        return self.current.content["partitions"][str(p)]["leader_epoch"]

    def isr_told(self, epoch, p):
        """The ISR that it names."""
        return members(self.current.content["partitions"][str(p)]["isr"])

    def take_update(self, epoch, b):
        """It is delivered."""

    # StopReplica without delete

    def put_halt(self, epoch, p, leader_epoch, to):
        """Send it to a set of brokers."""
        for receiver, broker_epoch in self._registered(to):
            content = {"epoch": epoch, "p": p, "leader_epoch": leader_epoch, "broker_epoch": broker_epoch}
            self.outbox.append(Outgoing(receiver, "StopFetching", content))

    def halt_arrives(self, epoch, p, b):
        """Whether the message at hand is one."""
        return self._is("StopFetching", epoch=epoch, p=p)

    def halt_epoch(self, epoch, p, b):
        """The leader epoch that the message at hand names, -1 for none."""
        return self.current.content["leader_epoch"] if self.current else NO_EPOCH

    def take_halt(self, epoch, p, b):
        """It is delivered."""

    # StopReplica(delete)

    def put_stop(self, epoch, p, to):
        """Send StopReplica(delete) to a set of brokers, because the topic is deleted."""
        self.put_removal(epoch, p, NO_EPOCH, to)

    def put_removal(self, epoch, p, leader_epoch, to):
        """The same for a reassignment, in a leader epoch."""
        for r in ids_in(to):
            self.outbox += self.stop_of(epoch, p, r, leader_epoch)

    def stop_of(self, epoch: int, p: int, b: int, leader_epoch: int = NO_EPOCH) -> list[Outgoing]:
        """StopReplica(delete) to `b`; nothing where `b` is not registered."""
        content = {"epoch": epoch, "p": p, "leader_epoch": leader_epoch}
        return [
            Outgoing(receiver, "StopReplica", content | {"broker_epoch": broker_epoch})
            for receiver, broker_epoch in self._registered(only(b))
        ]

    def is_overtaken(self, epoch, p, b, leader_epoch):
        """Whether the StopReplica at hand is of an older leader epoch than the replica has."""
        told = self.current.content["leader_epoch"]
        return told != NO_EPOCH and told < leader_epoch

    def is_of_deletion(self, epoch, p, b):
        """Whether the message at hand is a StopReplica for the deletion of a topic."""
        return self._is("StopReplica", leader_epoch=NO_EPOCH)

    def stop_arrives(self, epoch, p, b):
        """Whether the message at hand is one."""
        return self._is("StopReplica", epoch=epoch, p=p)

    def take_stop(self, epoch, p, b):
        """It is delivered."""

    def put_stopped(self, epoch, p, b, failed):
        """Answer it: the replica is deleted, or its log directory does not work."""
        self.outbox.append(Outgoing(self.current.reply, "Stopped", {"epoch": epoch, "p": p, "failed": failed}))

    def answered(self, epoch, p, b):
        """What the answer at hand says, NO_ANSWER where it is none of broker `b`, or to an earlier controller."""
        if self.current is None or self.current.sender != b or not self._is("Stopped", epoch=epoch, p=p):
            return NO_ANSWER
        return FAILED if self.current.content["failed"] else DELETED

    def take_answer(self, epoch, p, b):
        """The answer is delivered."""

    # Proposed ISRs, controlled shutdown

    def put_proposals(self, p, b, leader_epoch):
        """From now on this broker may propose ISRs in this leader epoch (-1: it does not lead)."""
        self.leader_epochs[p] = leader_epoch

    def proposed_epoch(self, p, sender):
        """The leader epoch of the proposal at hand, -1 for none."""
        proposed = self.current and self.current.sender == sender and self._is("AlterPartition", p=p)
        return self.current.content["leader_epoch"] if proposed else -1

    def refusal(self, b, p, isr):
        """Whether the message at hand is the refusal of an ISR by controller `b`."""
        found = self.current
        return found.kind == "IsrRefused" and found.sender == b and found.content["fields"]["isr"] == isr

    def put_shutdown(self, b):
        """This broker asks to be shut down, until its process ends."""
        self.leaving = True

    def leaves(self, b):
        """Whether broker `b` asks: this one, or the sender of the message at hand."""
        if b == self.broker:
            return self.leaving
        return self.current is not None and self.current.sender == b and self._is("ControlledShutdown")

    # The broker epoch

    def drop_requests(self, b):
        """The process has another broker epoch: requests that carry the old one are refused."""
        self.broker_epoch = self.zookeeper.registration

    def keep_requests(self, b):
        """Requests carry no broker epoch that is looked at (up to 2.1)."""

    def is_refused(self, message: Message) -> bool:
        """Whether a request is for a former process or session of this broker (STALE_BROKER_EPOCH)."""
        wanted = message.content.get("broker_epoch", self.broker_epoch)
        return self.broker_epoch != 0 and wanted != self.broker_epoch

    def fall_silent(self, b):
        """The process of `b` ends."""

    def _is(self, kind, **content):
        found = self.current
        return found is not None and found.kind == kind and all(found.content[k] == v for k, v in content.items())
