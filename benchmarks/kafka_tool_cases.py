"""What is asked of Kafka's tools, in order, at each release: main class, arguments, input, and what a success says."""

from __future__ import annotations

from dataclasses import dataclass

RELEASES = ("3.9.1", "2.8.2", "1.1.1")
QUIET = r"\A[>\s]*\Z"
"""What the console producer says if nothing is wrong."""
NEW, MIDDLE, OLD = RELEASES
CLASSES = {
    "kafka-broker-api-versions": ("kafka.admin.BrokerApiVersionsCommand",) * 3,
    "kafka-topics": ("org.apache.kafka.tools.TopicCommand", "kafka.admin.TopicCommand", "kafka.admin.TopicCommand"),
    "kafka-configs": ("kafka.admin.ConfigCommand",) * 3,
    "kafka-console-producer": ("kafka.tools.ConsoleProducer",) * 3,
    "kafka-console-consumer": (
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        "kafka.tools.ConsoleConsumer",
        "kafka.tools.ConsoleConsumer",
    ),
    "kafka-consumer-groups": (
        "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
        "kafka.admin.ConsumerGroupCommand",
        "kafka.admin.ConsumerGroupCommand",
    ),
    "kafka-reassign-partitions": (
        "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
        "kafka.admin.ReassignPartitionsCommand",
        "kafka.admin.ReassignPartitionsCommand",
    ),
    "kafka-leader-election": ("org.apache.kafka.tools.LeaderElectionCommand", "kafka.admin.LeaderElectionCommand", ""),
    "kafka-preferred-replica-election": ("", *("kafka.admin.PreferredReplicaLeaderElectionCommand",) * 2),
    "kafka-delete-records": ("org.apache.kafka.tools.DeleteRecordsCommand", *("kafka.admin.DeleteRecordsCommand",) * 2),
    "kafka-get-offsets": ("org.apache.kafka.tools.GetOffsetShell", *("kafka.tools.GetOffsetShell",) * 2),
    "kafka-log-dirs": ("org.apache.kafka.tools.LogDirsCommand", *("kafka.admin.LogDirsCommand",) * 2),
    "kafka-verifiable-producer": ("org.apache.kafka.tools.VerifiableProducer",) * 3,
    "kafka-verifiable-consumer": ("org.apache.kafka.tools.VerifiableConsumer",) * 3,
    "kafka-producer-perf-test": ("org.apache.kafka.tools.ProducerPerformance",) * 3,
    "kafka-consumer-perf-test": (
        "org.apache.kafka.tools.ConsumerPerformance",
        *("kafka.tools.ConsumerPerformance",) * 2,
    ),
    "kafka-acls": ("kafka.admin.AclCommand",) * 3,
    "kafka-transactions": ("org.apache.kafka.tools.TransactionsCommand", "", ""),
    "kafka-features": ("org.apache.kafka.tools.FeatureCommand", "", ""),
}
"""The main class of each tool at 3.9.1, 2.8.2 and 1.1.1; "" where the release has no such tool."""


SERVER, LIST, ZOOKEEPER = "--bootstrap-server {servers}", "--broker-list {servers}", "--zookeeper {zookeeper}"
MODERN = (NEW, MIDDLE)


@dataclass(frozen=True)
class Case:
    """One call of a tool: what it is asked for, its arguments, and the pattern that its output has if it works.

    In the arguments {at} is how the tool is told where the cluster is: `middle` at 2.8.2, `old` at 1.1.1. `releases` are
    those that have what is asked. `out_of_scope`: why it is to be refused. `seconds`: the tool is ended after that time
    (0: it ends by itself).
    """

    tool: str
    what: str
    arguments: str
    pattern: str = ""
    stdin: str = ""
    old: str = SERVER
    middle: str = SERVER
    releases: tuple[str, ...] = RELEASES
    out_of_scope: str = ""
    seconds: int = 0


def topics(what: str, arguments: str, pattern: str) -> Case:
    """A call of kafka-topics, which asks ZooKeeper at 1.1.1."""
    return Case("kafka-topics", what, "{at} " + arguments, pattern, old=ZOOKEEPER)


def producer(what: str, arguments: str, lines: str, pattern: str = QUIET, **more) -> Case:
    """A call of the console producer."""
    arguments = "{at} --topic " + arguments
    return Case("kafka-console-producer", what, arguments, pattern, lines, old=LIST, **more)


def consumer(what: str, arguments: str, count: int = 3, **more) -> Case:
    """A call of the console consumer, which reads so many records."""
    arguments = "{at} --topic {topic} --max-messages " + f"{count} {arguments}"
    return Case("kafka-console-consumer", what, arguments, f"Processed a total of {count} messages", **more)


def groups(what: str, arguments: str, pattern: str, **more) -> Case:
    """A call of kafka-consumer-groups."""
    return Case("kafka-consumer-groups", what, "{at} " + arguments, pattern, **more)


def configs(what: str, arguments: str, pattern: str = "", **more) -> Case:
    """A call of kafka-configs."""
    return Case("kafka-configs", what, "{at} " + arguments, pattern, **more)


def reassign(what: str, arguments: str, pattern: str, **more) -> Case:
    """A call of kafka-reassign-partitions, which asks ZooKeeper at 1.1.1."""
    return Case("kafka-reassign-partitions", what, "{at} " + arguments, pattern, old=ZOOKEEPER, **more)


NOT_IDEMPOTENT = "--producer-property enable.idempotence=false"
CASES = (
    Case("kafka-broker-api-versions", "at defaults", "{at}", r"Produce\(0\)"),
    topics("--create", "--create --topic {topic}-made --partitions 2 --replication-factor 3", "Created topic"),
    topics("--list", "--list", "(?m)^{topic}$"),
    topics("--describe", "--describe --topic {topic}", r"Partition: 1\s+Leader: \d"),
    topics("--describe, a topic made by it", "--describe --topic {topic}-made", r"Partition: 1\s+Leader: \d"),
    topics("--describe, all", "--describe", r"__consumer_offsets\s+Partition: 0"),
    topics(
        "--create --config",
        "--create --topic {topic}-set --partitions 1 --replication-factor 1 --config retention.ms=86400000",
        "Created topic",
    ),
    topics(
        "--create --replica-assignment",
        "--create --topic {topic}-assigned --replica-assignment 1:2,0:1",
        "Created topic",
    ),
    topics("--alter --partitions", "--alter --topic {topic}-made --partitions 3", r"\A\s*\Z|succeeded"),
    producer("at defaults", "{topic}", "one\ntwo\nthree\n"),
    producer(
        "with acks=all, not idempotent", f"{{topic}} --producer-property acks=all {NOT_IDEMPOTENT}", "four\nfive\nsix\n"
    ),
    producer(
        "to a topic that is not there (auto-creation)",
        f"{{topic}}-new {NOT_IDEMPOTENT}",
        "one\n",
        r"\A(?:[>\s]|.*WARN.*(?:LEADER_NOT_AVAILABLE|UNKNOWN_TOPIC).*)*\Z",
    ),
    producer(
        "with compression by zstd", f"{{topic}} --compression-codec zstd {NOT_IDEMPOTENT}", "7\n", releases=MODERN
    ),
    Case("kafka-verifiable-producer", "at defaults", "{at} --topic {topic} --max-messages 20", '"acked":20', old=LIST),
    Case(
        "kafka-producer-perf-test",
        "at defaults",
        "--topic {topic} --num-records 100 --record-size 100 --throughput 1000 "
        "--producer-props bootstrap.servers={servers}",
        "100 records sent",
    ),
    consumer("--from-beginning", "--from-beginning"),
    consumer("--partition, --offset", "--partition 0 --offset earliest", 1),
    consumer("--group", "--group {topic}-group --from-beginning"),
    consumer(
        "with group.instance.id (a static member)",
        "--group {topic}-static --from-beginning --consumer-property group.instance.id=me",
        releases=MODERN,
    ),
    consumer("with isolation.level=read_committed", "--from-beginning --isolation-level read_committed"),
    consumer(
        "with group.protocol=consumer",
        "--group {topic}-848 --from-beginning --consumer-property group.protocol=consumer",
        releases=(NEW,),
        out_of_scope="the consumer protocol of KIP-848",
    ),
    Case(
        "kafka-verifiable-consumer",
        "at defaults",
        "{at} --topic {topic} --group-id {topic}-verifiable --max-messages 5 --reset-policy earliest",
        '"name":"records_consumed"',
        old=LIST,
        seconds=25,
    ),
    Case(
        "kafka-consumer-perf-test", "at defaults", "{at} --topic {topic} --messages 50", r"\d{{4}}-\d\d-\d\d", old=LIST
    ),
    groups("--list", "--list", "(?m)^{topic}-group$"),
    groups("--describe", "--describe --group {topic}-group", r"{topic}\s+\d\s+\d+\s+\d+\s+\d+"),
    groups("--describe --state", "--describe --group {topic}-group --state", "Empty"),
    groups("--describe --members", "--describe --group {topic}-group --members", "has no active members"),
    groups("--list --state", "--list --state", r"{topic}-group\s+Empty", releases=MODERN),
    groups(
        "--reset-offsets --to-earliest --execute",
        "--reset-offsets --group {topic}-group --topic {topic} --to-earliest --execute",
        r"{topic}\s+\d\s+0",
    ),
    groups(
        "--delete-offsets", "--delete-offsets --group {topic}-group --topic {topic}:0", "Successful", releases=MODERN
    ),
    groups("--delete", "--delete --group {topic}-group", "successful"),
    Case("kafka-get-offsets", "the last", "{at} --topic {topic}", r"{topic}:0:\d+", middle=LIST, old=LIST),
    Case("kafka-get-offsets", "the first", "{at} --topic {topic} --time -2", r"{topic}:0:0", middle=LIST, old=LIST),
    Case("kafka-log-dirs", "--describe", "{at} --describe --topic-list {topic}", '"logDir"'),
    Case("kafka-delete-records", "at defaults", "{at} --offset-json-file {records}", "low_watermark: 1"),
    configs(
        "--describe, a topic", "--describe --entity-type topics --entity-name {topic}", "(?i)configs for", old=ZOOKEEPER
    ),
    configs(
        "--describe --all, a topic",
        "--describe --all --entity-type topics --entity-name {topic}",
        "retention.ms=",
        releases=MODERN,
    ),
    configs(
        "--alter, a topic: what has no effect here",
        "--alter --entity-type topics --entity-name {topic} --add-config retention.ms=86400000",
        "(?i)completed updating",
        old=ZOOKEEPER,
    ),
    configs(
        "--alter, a topic: unclean elections",
        "--alter --entity-type topics --entity-name events --add-config unclean.leader.election.enable=true",
        "(?i)completed updating",
        old=ZOOKEEPER,
    ),
    configs("--describe, a broker", "--describe --entity-type brokers --entity-name 0", "(?i)configs for"),
    configs(
        "--describe --all, a broker",
        "--describe --all --entity-type brokers --entity-name 0",
        "broker.id=0",
        releases=MODERN,
    ),
    configs(
        "--alter, a broker",
        "--alter --entity-type brokers --entity-name 0 --add-config log.cleaner.threads=2",
        "(?i)completed updating",
    ),
    configs(
        "--alter, quotas of a user",
        "--alter --entity-type users --entity-name me --add-config producer_byte_rate=1024",
        releases=MODERN,
        out_of_scope="quotas",
    ),
    reassign(
        "--generate",
        "--generate --topics-to-move-json-file {topics} --broker-list 0,1,2",
        "Proposed partition reassignment",
    ),
    reassign("--execute", "--execute --reassignment-json-file {moves}", "Successfully started"),
    reassign("--verify", "--verify --reassignment-json-file {moves}", "complete|still in progress"),
    reassign("--list", "--list", "partition reassignments", releases=MODERN),
    reassign(
        "--cancel",
        "--cancel --reassignment-json-file {moves}",
        "None of the specified partition reassignments are active|Successfully cancelled",
        releases=MODERN,
    ),
    Case("kafka-leader-election", "preferred, all", "{at} --election-type preferred --all-topic-partitions"),
    Case("kafka-preferred-replica-election", "at defaults", "{at}", "(?i)success|deprecated", old=ZOOKEEPER),
    topics("--delete", "--delete --topic {topic}-made", r"\A\s*\Z|marked for deletion"),
    Case("kafka-acls", "--list", "{at} --list", releases=MODERN, out_of_scope="ACLs"),
    Case("kafka-transactions", "list", "{at} list", releases=(NEW,), out_of_scope="transactions"),
    Case("kafka-features", "describe", "{at} describe", releases=(NEW,)),
)
