"""What no redaction hides: the words that Kafka itself puts into paths and JSON. Any other word is a name."""

CHROOT, ZNODE = "chroot", "znode"

_RESOURCES = {
    "Topic": {"{topic}": {}},
    "Group": {"{group}": {}},
    "TransactionalId": {"{transactional-id}": {}},
    "Cluster": {"kafka-cluster": {}},
    "DelegationToken": {"{token}": {}},
    "User": {"{principal}": {}},
}
TREE = {
    "brokers": {
        "ids": {"{number}": {}},
        "seqid": {},
        "topics": {"{topic}": {"partitions": {"{number}": {"state": {}}}}},
    },
    "controller": {},
    "controller_epoch": {},
    "cluster": {"id": {}},
    "feature": {},
    "latest_producer_id_block": {},
    "migration": {},
    "admin": {"delete_topics": {"{topic}": {}}, "reassign_partitions": {}, "preferred_replica_election": {}},
    "config": {
        "topics": {"{topic}": {}},
        "brokers": {"{number}": {}},
        "clients": {"{client}": {}},
        "ips": {"{host}": {}},
        "users": {"{principal}": {"clients": {"{client}": {}}}},
        "changes": {"{sequence}": {}},
    },
    "consumers": {
        "{group}": {
            "ids": {"{consumer}": {}},
            "owners": {"{topic}": {"{number}": {}}},
            "offsets": {"{topic}": {"{number}": {}}},
        }
    },
    "isr_change_notification": {"{sequence}": {}},
    "log_dir_event_notification": {"{sequence}": {}},
    "kafka-acl": _RESOURCES,
    "kafka-acl-changes": {"{sequence}": {}},
    "kafka-acl-extended": {"prefixed": _RESOURCES},
    "kafka-acl-extended-changes": {"{sequence}": {}},
    "delegation_token": {"tokens": {"{token}": {}}, "token_changes": {"{sequence}": {}}},
    "zookeeper": {"config": {}, "quota": {}},
}
"""The znodes of Kafka and of ZooKeeper; {sort} stands for any name of a sort."""

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__cluster_metadata", "__share_group_state"})
KEPT = {
    "topic": INTERNAL_TOPICS,
    "client": {"<default>"},
    "principal": {"<default>", "*", "ANONYMOUS"},
    "host": {"<default>", "*"},
    "protocol-type": {"", "consumer", "connect"},
    "protocol": {"range", "roundrobin", "sticky", "cooperative-sticky"},
}
"""Names that Kafka gives, by sort."""

KEYS = frozenset(
    {
        "version",
        "brokerid",
        "timestamp",
        "kraftControllerEpoch",
        "leader",
        "leader_epoch",
        "controller_epoch",
        "isr",
        "leader_recovery_state",
        "partitions",
        "topic_id",
        "adding_replicas",
        "removing_replicas",
        "replicas",
        "log_dirs",
        "topic",
        "partition",
        "config",
        "entity_path",
        "entity_type",
        "entity_name",
        "listener_security_protocol_map",
        "endpoints",
        "jmx_port",
        "features",
        "host",
        "port",
        "rack",
        "tags",
        "broker",
        "event",
        "block_start",
        "block_end",
        "acls",
        "principal",
        "permissionType",
        "operation",
        "name",
        "resourceType",
        "patternType",
        "subscription",
        "pattern",
        "id",
        "status",
        "min_version_level",
        "max_version_level",
        "first_version_level",
        "epoch",
        "kraft_metadata_offset",
        "kraft_controller_id",
        "kraft_metadata_epoch",
        "kraft_controller_epoch",
        "migrating_zk_broker_ids",
    }
)
"""The keys of Kafka's JSON objects."""

SORTS = {
    "topic": "topic",
    "host": "host",
    "rack": "rack",
    "topic_id": "topic-id",
    "id": "id",
    "log_dirs": "directory",
    "name": "resource",
    "tokenId": "token",
}
"""The sort of the names that stand below a key."""
NUMBERS = frozenset(
    {
        "timestamp",
        "version",
        "block_start",
        "block_end",
        "kraftControllerEpoch",
        "leader",
        "leader_epoch",
        "controller_epoch",
        "brokerid",
    }
)
"""The keys of numbers that stand as text."""
ENUMERATED = {
    "entity_type": {"topics", "clients", "users", "brokers", "ips"},
    "pattern": {"static", "white_list", "black_list"},
    "permissionType": {"Allow", "Deny"},
    "resourceType": {
        "Topic",
        "Group",
        "Cluster",
        "TransactionalId",
        "DelegationToken",
        "User",
        "TOPIC",
        "GROUP",
        "CLUSTER",
        "TRANSACTIONAL_ID",
        "DELEGATION_TOKEN",
        "USER",
    },
    "patternType": {"LITERAL", "PREFIXED", "Literal", "Prefixed"},
    "operation": {
        "All",
        "Read",
        "Write",
        "Create",
        "Delete",
        "Alter",
        "Describe",
        "ClusterAction",
        "DescribeConfigs",
        "AlterConfigs",
        "IdempotentWrite",
        "CreateTokens",
        "DescribeTokens",
    },
}
PROTOCOLS = frozenset({"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"})

CONFIGS = frozenset(
    {
        "cleanup.policy",
        "compression.type",
        "delete.retention.ms",
        "file.delete.delay.ms",
        "flush.messages",
        "flush.ms",
        "follower.replication.throttled.replicas",
        "index.interval.bytes",
        "leader.replication.throttled.replicas",
        "max.compaction.lag.ms",
        "max.message.bytes",
        "message.downconversion.enable",
        "message.format.version",
        "message.timestamp.difference.max.ms",
        "message.timestamp.type",
        "min.cleanable.dirty.ratio",
        "min.compaction.lag.ms",
        "min.insync.replicas",
        "preallocate",
        "retention.bytes",
        "retention.ms",
        "segment.bytes",
        "segment.index.bytes",
        "segment.jitter.ms",
        "segment.ms",
        "unclean.leader.election.enable",
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
        "producer_byte_rate",
        "consumer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
        "connection_creation_rate",
        "log.retention.ms",
        "auto.leader.rebalance.enable",
        "num.io.threads",
        "num.network.threads",
        "num.replica.fetchers",
        "background.threads",
        "log.cleaner.threads",
        "message.max.bytes",
    }
)
"""The names of settings; others may hold the name of a listener, of a user's mechanism or of a plug-in."""
SETTINGS = frozenset(
    {
        "true",
        "false",
        "compact",
        "delete",
        "compact,delete",
        "delete,compact",
        "producer",
        "none",
        "gzip",
        "snappy",
        "lz4",
        "zstd",
        "uncompressed",
        "CreateTime",
        "LogAppendTime",
    }
)
"""The values of settings, beside numbers."""
