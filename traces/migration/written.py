"""What a driver writes of the cluster's metadata, and what each such write is called.

Source: kafka.zk.migration.ZkTopicMigrationClient, kafka.zk.migration.ZkConfigMigrationClient,
        kafka.zk.migration.ZkAclMigrationClient, kafka.zk.migration.ZkDelegationTokenMigrationClient, 3.5 to 3.9.
"""

from __future__ import annotations

import re

from kafkaproof.traces.zookeeper.transactions import Create, Delete, SetData

_TOPIC = r"/brokers/topics/[^/]+"
_FORMS: tuple[tuple[str, str, tuple[type, ...]], ...] = (
    ("topic", _TOPIC, (Create, SetData, Delete)),
    ("partitions of a topic", rf"{_TOPIC}/partitions(?:/\d+)?", (Create, Delete)),
    ("state of a partition", rf"{_TOPIC}/partitions/\d+/state", (Create, SetData, Delete)),
    ("configuration", r"/config/(?:topics|brokers|users|clients|ips)/.+", (Create, SetData, Delete)),
    ("producer ids", "/latest_producer_id_block", (SetData,)),
    ("request to delete", "/admin/delete_topics/[^/]+", (Delete,)),
    ("access control", r"/kafka-acl(?:-extended)?/.+", (Create, SetData, Delete)),
    ("delegation token", r"/delegation_token/tokens/.+", (Create, SetData, Delete)),
)
_PATTERNS = [(name, re.compile(pattern), types) for name, pattern, types in _FORMS]
WORDS = {Create: "created", SetData: "written", Delete: "deleted"}


def kind_of(path: str, change: Create | SetData | Delete) -> str | None:
    """What a driver changes so; None where no driver does."""
    if isinstance(change, Create) and (change.ephemeral or change.kind not in ("create", "create2")):
        return None
    return next((name for name, pattern, types in _PATTERNS if pattern.fullmatch(path) and type(change) in types), None)
