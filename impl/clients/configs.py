"""DescribeConfigs, AlterConfigs and IncrementalAlterConfigs: what holds of a topic or a broker, and the one thing that
may be changed, unclean elections in the first topic.

Nothing is accepted that would have no effect: a setting that is as it is, or is taken back, is accepted; another one
is refused with POLICY_VIOLATION, as by an alter.config.policy.class.name. A change is written by any broker, on behalf
of an operator, and is a step of no broker.
Source: kafka.server.AdminManager.alterConfigs, describeConfigs, 1.1 to 2.7; kafka.server.ZkAdminManager.alterConfigs,
        incrementalAlterConfigs, 2.8 to 3.9; kafka.server.ConfigHelper.describeConfigs, 2.8 to 3.9.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kafka.protocol.admin import AlterConfigsResponse, DescribeConfigsResponse, IncrementalAlterConfigsResponse
from kazoo.protocol.serialization import SetData

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.clients.errors import ERRORS
from kafkaproof.impl.clients.topic_settings import UNCLEAN, Refused, values_of_topics, why_not
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.zookeeper.request_znodes import ConfigChange
from kafkaproof.impl.seams.zookeeper.requests import SEQUENTIAL, NotAnswered, create
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.impl.seams.zookeeper.znodes import TopicConfig
from kafkaproof.spec.kafka.zookeeper import OK

TOPIC, BROKER = 2, 4
"""The types of resources that there are."""
DYNAMIC_TOPIC, STATIC_BROKER, DEFAULT = 1, 4, 5
"""Where a value comes from."""
SET, DELETE = 0, 1
"""What IncrementalAlterConfigs does to a setting; more are for lists."""


class Value(NamedTuple):
    """A setting, and where its value comes from."""

    name: str
    value: str
    source: int


class Configs:
    """Serves them at one broker; `exists` says whether there is a topic."""

    def __init__(self, process: Process, exists: Callable[[str], bool]):
        self._process, self._exists = process, exists

    # Describing

    def describe(self, call: Call) -> None:
        """Answer DescribeConfigs."""
        kind = DescribeConfigsResponse
        call.answer(
            kind(throttle_time_ms=0, results=[self._described(call.request, each) for each in call.request.resources])
        )

    def _described(self, request, resource):
        kind, error, text, found = DescribeConfigsResponse.DescribeConfigsResult, DONE, None, []
        try:
            found = self._values(resource)
        except Refused as refused:
            error, text = refused.error, str(refused)
        wanted = resource.configuration_keys
        return kind(
            error_code=ERRORS[error],
            error_message=text,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
            configs=[
                kind.DescribeConfigsResourceResult(
                    name=each.name,
                    value=each.value,
                    read_only=resource.resource_type == BROKER,
                    config_source=each.source,
                    is_default=each.source == DEFAULT,
                    is_sensitive=False,
                    synonyms=[
                        kind.DescribeConfigsResourceResult.DescribeConfigsSynonym(
                            name=each.name, value=each.value, source=each.source
                        )
                    ]
                    if request.include_synonyms
                    else [],
                    documentation=None,
                )
                for each in found
                if wanted is None or each.name in wanted
            ],
        )

    def _values(self, resource) -> list[Value]:
        if resource.resource_type == TOPIC:
            self._require_topic(resource.resource_name)
            held = self._held(resource.resource_name)
            changed = held[UNCLEAN] == "true"
            return [
                Value(name, value, DYNAMIC_TOPIC if changed and name == UNCLEAN else DEFAULT)
                for name, value in held.items()
            ]
        if resource.resource_type != BROKER:
            raise Refused("INVALID_REQUEST", f"Unsupported resource type: {resource.resource_type}")
        if resource.resource_name == "":
            return []
        self._require_self(resource.resource_name)
        return [Value(name, value, STATIC_BROKER) for name, value in self._of_broker().items()]

    def _require_topic(self, name):
        if name == "":
            raise Refused("INVALID_REQUEST", "Default topic resources are not allowed.")
        if not self._exists(name):
            raise Refused("UNKNOWN_TOPIC_OR_PARTITION", f"The topic '{name}' does not exist.")

    def _require_self(self, name):
        if name != str(self._process.settings.broker):
            raise Refused("INVALID_REQUEST", f"this is broker {self._process.settings.broker}, not {name!r}")

    def _held(self, topic: str) -> dict[str, str]:
        """What holds of a topic. The first one may allow unclean elections."""
        settings, session = self._process.settings, self._process.requests.session
        held = values_of_topics(settings.min_isr)
        if topic == settings.topic:
            try:
                (reply,) = self._process.requests.at_once(lambda: session.get(TopicConfig.path_of(topic)))
            except (NotAnswered, Expired):
                raise Refused("REQUEST_TIMED_OUT", "ZooKeeper does not answer") from None
            held[UNCLEAN] = str(not reply.error and TopicConfig.decode(reply.result[0]).unclean).lower()
        return held

    def _of_broker(self) -> dict[str, str]:
        settings = self._process.settings
        host, port = self._process.clients.address
        return {
            "auto.create.topics.enable": str(settings.auto_create).lower(),
            "broker.id": str(settings.broker),
            "default.replication.factor": str(settings.replicas),
            "listeners": f"PLAINTEXT://{host}:{port}",
            "log.dir": settings.logs,
            "min.insync.replicas": str(settings.min_isr),
            "num.partitions": "1",
            "offsets.topic.num.partitions": "1",
            "offsets.topic.replication.factor": str(settings.replicas),
            "zookeeper.connect": settings.zookeeper,
            "zookeeper.session.timeout.ms": str(round(settings.session_timeout * 1000)),
        }

    # Altering

    def alter(self, call: Call) -> None:
        """Answer AlterConfigs: what is not named is taken back."""
        self._answer(
            call,
            AlterConfigsResponse,
            lambda resource, held: (
                ({UNCLEAN: "false"} if held else {}) | {each.name: each.value for each in resource.configs}
            ),
        )

    def alter_incrementally(self, call: Call) -> None:
        """Answer IncrementalAlterConfigs."""
        self._answer(call, IncrementalAlterConfigsResponse, self._increments)

    def _increments(self, resource, held: dict[str, str]) -> dict[str, str | None]:
        """What is wanted, None for what is taken back and is nothing here; `held` is empty for a broker."""
        defaults = values_of_topics(self._process.settings.min_isr) if held else {}
        for each in resource.configs:
            if each.config_operation not in (SET, DELETE):
                raise Refused("INVALID_CONFIG", f"nothing is added to a list here, or taken from it: {each.name}")
        return {
            each.name: each.value if each.config_operation == SET else defaults.get(each.name)
            for each in resource.configs
        }

    def _answer(self, call: Call, kind, wanted: Callable) -> None:
        responses = []
        for resource in call.request.resources:
            error, text = DONE, None
            try:
                self._alter(resource, wanted, call.request.validate_only)
            except Refused as refused:
                error, text = refused.error, str(refused)
            responses.append(
                kind.AlterConfigsResourceResponse(
                    error_code=ERRORS[error],
                    error_message=text,
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                )
            )
        call.answer(kind(throttle_time_ms=0, responses=responses))

    def _alter(self, resource, wanted: Callable, only_asked: bool) -> None:
        """Do what is wanted of a resource; raises Refused."""
        if resource.resource_type == BROKER:
            names = ", ".join(name for name, value in wanted(resource, {}).items() if value is not None)
            if resource.resource_name:
                self._require_self(resource.resource_name)
            if names:
                raise Refused("INVALID_REQUEST", f"Cannot update these configs dynamically: {names}")
            return
        if resource.resource_type != TOPIC:
            raise Refused("INVALID_REQUEST", f"resource type {resource.resource_type} is neither a topic nor a broker")
        topic = resource.resource_name
        self._require_topic(topic)
        held = self._held(topic)
        asked = wanted(resource, held)
        unclean = asked.get(UNCLEAN, held[UNCLEAN])
        may_change = topic == self._process.settings.topic and unclean in ("true", "false")
        for name, value in asked.items():
            refused = None if name == UNCLEAN and may_change else why_not(name, value, held)
            if refused:
                raise refused
        if unclean != held[UNCLEAN] and not only_asked:
            self._write(topic, unclean == "true")

    def _write(self, topic: str, unclean: bool) -> None:
        """Write the configuration of a topic, and a notification."""
        requests = self._process.requests
        writes = (
            SetData(TopicConfig.path_of(topic), TopicConfig(unclean).encode(), -1),
            create(ConfigChange.prefix, ConfigChange(topic).encode(), SEQUENTIAL),
        )
        if any(requests.write_beside(write) != OK for write in writes):
            raise Refused("REQUEST_TIMED_OUT", "ZooKeeper does not answer")
