"""The records of `__cluster_metadata` as data: numbers, names, and the fields in their order.

A field is `name:type`, with `?` behind the type where it may be null, `>=V` where it comes with version V of its record,
and `#T` where it is tagged with T. `[]` before a type is a list; `{...}` a structure.

Source: metadata/src/main/resources/common/metadata, 3.4 to 3.9.
"""

_ENDPOINTS = "[]{name:string host:string port:uint16 security_protocol:int16}"
_FEATURES = "[]{name:string min_supported_version:int16 max_supported_version:int16}"
_ASSIGNED = (
    "isr:[]int32?#0 leader:int32#1 replicas:[]int32?#2 removing_replicas:[]int32?#3 adding_replicas:[]int32?#4 "
    "leader_recovery_state:int8#5 eligible_leader_replicas:[]int32?#6 last_known_elr:[]int32?#7 directories:[]uuid?#8"
)
DEFINITIONS: dict[int, tuple[str, int, str]] = {
    0: (
        "RegisterBroker",
        3,
        "broker_id:int32 is_migrating_zk_broker:bool>=2 incarnation_id:uuid broker_epoch:int64 "
        f"end_points:{_ENDPOINTS} features:{_FEATURES} rack:string? fenced:bool in_controlled_shutdown:bool>=1 "
        "log_dirs:[]uuid#0",
    ),
    1: ("UnregisterBroker", 0, "broker_id:int32 broker_epoch:int64"),
    2: ("Topic", 0, "name:string topic_id:uuid"),
    3: (
        "Partition",
        2,
        "partition_id:int32 topic_id:uuid replicas:[]int32 isr:[]int32 removing_replicas:[]int32 "
        "adding_replicas:[]int32 leader:int32 leader_recovery_state:int8#0 leader_epoch:int32 partition_epoch:int32 "
        "directories:[]uuid>=1 eligible_leader_replicas:[]int32?#1 last_known_elr:[]int32?#2",
    ),
    4: ("Config", 0, "resource_type:int8 resource_name:string name:string value:string?"),
    5: ("PartitionChange", 2, f"partition_id:int32 topic_id:uuid {_ASSIGNED}"),
    7: ("FenceBroker", 0, "id:int32 epoch:int64"),
    8: ("UnfenceBroker", 0, "id:int32 epoch:int64"),
    9: ("RemoveTopic", 0, "topic_id:uuid"),
    10: (
        "DelegationToken",
        0,
        "owner:string requester:string renewers:[]string issue_timestamp:int64 max_timestamp:int64 "
        "expiration_timestamp:int64 token_id:string",
    ),
    11: (
        "UserScramCredential",
        0,
        "name:string mechanism:int8 salt:bytes stored_key:bytes server_key:bytes iterations:int32",
    ),
    12: ("FeatureLevel", 0, "name:string feature_level:int16"),
    14: ("ClientQuota", 0, "entity:[]{entity_type:string entity_name:string?} key:string value:float64 remove:bool"),
    15: ("ProducerIds", 0, "broker_id:int32 broker_epoch:int64 next_producer_id:int64"),
    17: (
        "BrokerRegistrationChange",
        2,
        "broker_id:int32 broker_epoch:int64 fenced:int8#0 in_controlled_shutdown:int8#1 log_dirs:[]uuid#2",
    ),
    18: (
        "AccessControlEntry",
        0,
        "id:uuid resource_type:int8 resource_name:string pattern_type:int8 principal:string host:string "
        "operation:int8 permission_type:int8",
    ),
    19: ("RemoveAccessControlEntry", 0, "id:uuid"),
    20: ("NoOp", 0, ""),
    21: ("ZkMigrationState", 0, "zk_migration_state:int8"),
    22: ("RemoveUserScramCredential", 0, "name:string mechanism:int8"),
    23: ("BeginTransaction", 0, "name:string?#0"),
    24: ("EndTransaction", 0, ""),
    25: ("AbortTransaction", 0, "reason:string?#0"),
    26: ("RemoveDelegationToken", 0, "token_id:string"),
    27: (
        "RegisterController",
        0,
        f"controller_id:int32 incarnation_id:uuid zk_migration_ready:bool end_points:{_ENDPOINTS} features:{_FEATURES}",
    ),
}
"""By each number the record's name, the newest version that is known, and its fields."""
MIGRATION_STATES = {0: "NONE", 1: "MIGRATION", 2: "PRE_MIGRATION", 3: "POST_MIGRATION"}
"""What a ZkMigrationState says, from 3.5 on; 3.4 never wrote one of those that it numbered otherwise."""
