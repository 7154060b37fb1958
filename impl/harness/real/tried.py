"""A migrating cluster whose controllers reach ZooKeeper through links, and what is seen of it."""

from __future__ import annotations

import json
import signal
from typing import Any, Self

from kafka.protocol.admin import CreateTopicsRequest, CreateTopicsResponse, DeleteTopicsRequest, DeleteTopicsResponse

from kafkaproof.impl.harness.driving.zookeeper_server import HOST, parse
from kafkaproof.impl.harness.links.rules import HOLD, Frame, Rule
from kafkaproof.impl.harness.links.zookeeper import ZooKeeperLink
from kafkaproof.impl.harness.real.quorum import BROKERS, CONTROLLERS, MigratingCluster, wait_for
from kafkaproof.impl.protocol.wire import ask

CLIENT, VERSION, ANSWERED = "trial", 4, 30.0
STATE = "/partitions/0/state"
"""Below a topic, the state of its first partition."""


class TriedCluster(MigratingCluster):
    """A cluster whose controllers reach ZooKeeper through `links`."""

    def __enter__(self) -> Self:
        super().__enter__()
        self._noted: dict[str, Any] = {}
        self.links = {node: ZooKeeperLink(parse(self.keeper.address)) for node in CONTROLLERS}
        return self

    def __exit__(self, *_) -> None:
        super().__exit__()
        for link in self.links.values():
            link.close()

    def _controller_properties(self, node: int) -> dict[str, Any]:
        own = super()._controller_properties(node)
        return own | {"zookeeper.connect": self.links[node].address} if "zookeeper.connect" in own else own

    def hold(self, **pattern: object) -> dict[int, Rule]:
        """Hold the next request of each controller that fits."""
        return {node: link.add(Rule(HOLD, {"part": "request", **pattern})) for node, link in self.links.items()}

    def await_held(self, rules: dict[int, Rule], what: str) -> tuple[int, Frame]:
        """Wait until a request is held; whose, and which. The others are let pass from then on."""
        wait_for(lambda: any(rule.held for rule in rules.values()), f"nobody sends {what}", 0.01)
        node = next(node for node, rule in rules.items() if rule.held)
        for other in set(rules) - {node}:
            self.links[other].remove(rules[other])
        self.note(f"controller {node} sends {what}: held")
        return node, rules[node].held[0]

    def pause(self, node: int, does: bool = True) -> None:
        """Stop a node by a signal, or let it go on."""
        self._children[node].signal(signal.SIGSTOP if does else signal.SIGCONT)
        self.note(f"{self._name(node)} {'is paused' if does else 'goes on'}")

    def says(self, node: int, text: str) -> int:
        """How many lines of a node's logs have a text."""
        return sum(
            text in line
            for log in self._home(node).glob("*.log")
            for line in log.read_text(errors="replace").splitlines()
        )

    def said(self, text: str) -> int:
        """How often logs have a text; whose, is noted."""
        counts = {self._name(node): self.says(node, text) for node in (*BROKERS, *CONTROLLERS)}
        said = ", ".join(f"{name} {count} times" for name, count in counts.items() if count)
        self.note(f"logs say {text!r}: {said or 'nobody'}")
        return sum(counts.values())

    def logs_of(self, topic: str) -> list[str]:
        """Of each broker the id of the topic whose log it has under a name, nothing without one."""
        files = [self._data(broker) / f"{topic}-0" / "partition.metadata" for broker in BROKERS]
        found = [file.read_text().rpartition(" ")[2].strip() if file.exists() else "" for file in files]
        self.note(f"brokers have logs of {topic} with the topic ids {found}")
        return found

    def id_of(self, topic: str) -> str:
        """The id of a topic that ZooKeeper has, nothing where it is not there or has no state of a partition."""
        path = f"/brokers/topics/{topic}"
        node, state = (
            self.operator.get(each)[0] if self.operator.exists(each) else None for each in (path, path + STATE)
        )
        self.note(f"ZooKeeper has of {topic}: {_told(node)}, state {_told(state)}")
        return json.loads(node)["topic_id"] if node and state else ""

    def state_of(self, topic: str) -> dict[str, Any]:
        """The state of a topic's first partition, as ZooKeeper has it."""
        found: dict[str, Any] = json.loads(self.operator.get(f"/brokers/topics/{topic}{STATE}")[0])
        if found != self._noted:
            self.note(f"the state of {topic} is {found}")
        self._noted = found
        return found

    def controller_epoch(self) -> int:
        """What /controller_epoch says."""
        epoch = int(self.operator.get("/controller_epoch")[0])
        self.note(f"/controller_epoch is {epoch}")
        return epoch

    def progress(self) -> int:
        """The offset that /migration says."""
        data = self.operator.get("/migration")[0].decode()
        self.note(f"/migration is {data}")
        return int(json.loads(data)["kraft_metadata_offset"])

    def create_at(self, node: int, topic: str) -> int:
        """Ask one node for a topic; the error that it answers with, -1 without an answer."""
        new = CreateTopicsRequest.CreatableTopic(
            name=topic, num_partitions=1, replication_factor=len(BROKERS), assignments=[], configs=[]
        )
        request = CreateTopicsRequest(topics=[new], timeout_ms=10000, validate_only=False)
        answer: Any = ask((HOST, self._ports[node]), request, CreateTopicsResponse, VERSION, CLIENT, ANSWERED)
        return answer.topics[0].error_code if answer else -1

    def delete_at(self, node: int, topic: str) -> int:
        """Ask one node to delete a topic; the error that it answers with, -1 without an answer."""
        request = DeleteTopicsRequest(topic_names=[topic], timeout_ms=10000)
        answer: Any = ask((HOST, self._ports[node]), request, DeleteTopicsResponse, VERSION, CLIENT, ANSWERED)
        return answer.responses[0].error_code if answer else -1


def _told(data: bytes | None) -> str:
    return data.decode() if data else "absent"
