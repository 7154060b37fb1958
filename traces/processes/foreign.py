"""What real brokers do in a cluster of both kinds, as far as steps of ours meet it: what they write to ZooKeeper, which
its log tells, and what they send, which our processes note when they take it.

A real broker records no steps. So each of its writes is taken as it stands in the log, and each of its messages as it came:
it may have been sent at any time before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kafkaproof.spec.kafka import zookeeper
from kafkaproof.spec.kafka.zookeeper import ANSWERED, PROCESS
from kafkaproof.spec.language.plain import Plain, members
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import only, with_member
from kafkaproof.spec.partition import zookeeper as partitions
from kafkaproof.spec.partition.context import clear
from kafkaproof.spec.partition.deletion.zookeeper import (
    create_marker,
    delete_marker,
    delete_state,
    delete_topic,
    join_topic,
)
from kafkaproof.spec.partition.znodes import PREFERRED_REQUEST
from kafkaproof.spec.replica.network import RECORD
from kafkaproof.spec.running.broker_ids import BrokerIds
from kafkaproof.spec.running.replica_messages import FETCHED
from kafkaproof.traces.evidence.topic_inputs import unclean_in
from kafkaproof.traces.processes.recorded.lines import Line
from kafkaproof.traces.processes.recorded.notices import LOG_DIR_EVENT, STATE
from kafkaproof.traces.processes.recorded.zookeeper_log import MARKER, TOPIC, Logged
from kafkaproof.traces.processes.state.messages import Sent
from kafkaproof.traces.processes.state.world import World
from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, Delete, Operation, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.contents import number_in, state_in
from kafkaproof.traces.zookeeper.znodes.topics import topic_in

_BROKER = re.compile(r"/brokers/ids/\d+")


class Foreign:
    """The writes and messages of real brokers in a world; `brokers`: their ids."""

    def __init__(self, world: World, logged: Logged, brokers: BrokerIds):
        self._world, self._logged, self._brokers = world, logged, brokers

    def begin(self, transactions: Iterable[Transaction]) -> None:
        """Let the first topics have the replicas with which they were created, before any process began."""
        for transaction in transactions:
            for operation in () if transaction.failed else transaction.operations:
                found = TOPIC.fullmatch(getattr(operation, "path", ""))
                if found and isinstance(operation, Create) and found[1] in self._logged.first_topics:
                    with self._world.changing() as (_, zk):
                        self._assign(zk, self._logged.numbers.of_topic(found[1], transaction.zxid), operation.data)

    # What they write

    def write(self, b: int, transaction: Transaction) -> None:
        """Let ZooKeeper hold what broker `b` has written."""
        for operation in () if transaction.failed else transaction.operations:
            with self._world.changing() as (elected, zk):
                self._write(b, operation, transaction.zxid, elected, zk)

    def _write(self, b: int, operation: Operation, zxid: int, elected: Plain, zk: Plain) -> None:
        """Let ZooKeeper hold one change, in both parts."""
        match operation:
            case Create(path) if _BROKER.fullmatch(path):
                zookeeper.open_session(elected, b)
                elected.clients[b].registered = PROCESS
                partitions.register(zk, b)
                self._world.known.registrations[b] += 1
                self._world.empty_disk(b)
            case CloseSession():
                zookeeper.end_session(elected, b)
                partitions.end_session(zk, b)
            case Create("/controller"):
                zookeeper.put_controller(elected, b)
            case Create("/controller_epoch", data) | SetData("/controller_epoch", data):
                zookeeper.put_epoch(elected, number_in(data))
            case Delete("/controller"):
                zookeeper.remove_controller(elected)
            case Create(path, data) | SetData(path, data) if found := STATE.fullmatch(path):
                self._write_state(zk, b, self._logged.numbers.of(found[1], int(found[2]), zxid), data)
            case Create(path, data) | SetData(path, data) if found := TOPIC.fullmatch(path):
                self._assign(zk, self._logged.numbers.of_topic(found[1], zxid), data)
            case SetData("/admin/reassign_partitions", data):
                for p, target in enumerate(zk.targets):
                    _fill(target, self._logged.targets(data, zxid).get(p, ()))
            case Create(path) if found := MARKER.fullmatch(path):
                numbers = self._logged.numbers.of_topic(found[1], zxid)
                if numbers:
                    create_marker(zk, b, numbers[0], ANSWERED)
                else:
                    zk.stray = 1
            case Create(path, data) | SetData(path, data) if path == self._logged.config and unclean_in(data):
                zk.unclean = 1
            case Delete("/admin/reassign_partitions"):
                for target in zk.targets:
                    clear(target)
            case Delete("/admin/preferred_replica_election"):
                partitions.remove(zk, PREFERRED_REQUEST)
            case Create(path, data) if path.startswith(LOG_DIR_EVENT):
                zk.log_dir_events = with_member(zk.log_dir_events, b)
            case Delete(path) if path.startswith(LOG_DIR_EVENT):
                self._world.keep_notifications(self._logged.notifying(zxid))
            case Delete(path):
                self._delete(zk, b, path, zxid)

    def _write_state(self, zk: Plain, b: int, p: int | None, data: bytes | None) -> None:
        state = state_in(data)
        if p is not None and state:
            isr, leader = members(self._brokers.numbers(state.isr)), self._brokers.number(state.leader)
            partitions.put_state(zk, b, p, state.controller_epoch, leader, isr, state.leader_epoch, ANSWERED)

    def _assign(self, zk: Plain, numbers: list[int], data: bytes | None) -> None:
        topic = topic_in(data)
        for (_, written), p in zip(sorted(topic.partitions.items()) if topic else (), numbers):
            join_topic(zk, p, numbers[0])
            _fill(zk.assignments[p], self._brokers.numbers(written.replicas))
            zk.adding[p] = members(self._brokers.numbers(written.adding))
            zk.removing[p] = members(self._brokers.numbers(written.removing))

    def _delete(self, zk: Plain, b: int, path: str, zxid: int) -> None:
        if found := STATE.fullmatch(path):
            p = self._logged.numbers.of(found[1], int(found[2]), zxid)
            if p is not None:
                delete_state(zk, b, p, ANSWERED)
        elif found := TOPIC.fullmatch(path):
            for p in self._logged.numbers.of_topic(found[1], zxid)[:1]:
                delete_topic(zk, b, only(p), ANSWERED)
        elif found := MARKER.fullmatch(path):
            for p in self._logged.numbers.of_topic(found[1], zxid)[:1]:
                delete_marker(zk, b, only(p), ANSWERED)

    # What they send

    def message(self, line: Line) -> Sent:
        """The message that a line has taken, as one that was on its way; raises LookupError, TypeError or ValueError for what
        is none.
        """
        kind, content = line.came["kind"], dict(line.came["content"])
        if kind == "LeaderAndIsr":
            content["isr"] = members(content["isr"])
        elif kind == "UpdateMetadata":
            content["alive"] = members(broker for broker, *_ in content["alive"])
            content["partitions"] = {
                int(p): (told["leader"], told["leader_epoch"], members(told["isr"]))
                for p, told in content["partitions"].items()
            }
        elif kind == FETCHED and content["fields"]["kind"] == RECORD:
            batch = self._world.name_batch(content["p"], content["fields"]["id"])
            content["fields"] = content["fields"] | {"id": batch}
        sender = self._brokers.number(int((line.took or "").split(".")[0]))
        return Sent(kind, sender, line.broker, content, self._world.known.registrations[line.broker])


def _fill(sequence: Plain, values: Iterable[int]) -> None:
    """Let a sequence have these values."""
    clear(sequence)
    for value in values:
        push(sequence, value)
