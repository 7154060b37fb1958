"""The metrics by name: what each says, its name in Kafka, and its alert.

There are two kinds of truth. Without a suffix, a metric says what ZooKeeper (or the data plane) holds; with
`_reported`, what the controller's MBean says about its own context, the greatest value if several brokers act as
controller. They agree once the controller has handled everything; if they stay different, its context is stale (C12).
"""

from kafkaproof.spec.metrics.metric import COUNTER, GAUGE, Metric

CONTROLLER = "kafka.controller:type=KafkaController,name="
STATS = "kafka.controller:type=ControllerStats,name="
REPLICAS = "kafka.server:type=ReplicaManager,name="
GROUPS = "kafka.coordinator.group:type=GroupMetadataManager,name="
OLD_CONSUMER = "kafka.consumer:type=ZookeeperConsumerConnector,name="


def gauge(name: str, text: str, kafka: str, alert: str) -> Metric:
    """Declare a gauge: a number of a state."""
    return Metric(name, GAUGE, text, kafka, alert)


def counter(name: str, text: str, kafka: str, alert: str) -> Metric:
    """Declare a counter: how often steps did something."""
    return Metric(name, COUNTER, text, kafka, alert)


ACTIVE_CONTROLLERS = gauge(
    "active_controllers",
    "brokers that act as controller",
    CONTROLLER + "ActiveControllerCount, summed",
    "0 for longer than a session timeout and a failover; above 1 for longer than a session timeout, or while the "
    "second still writes (C4)",
)
CONTROLLER_EPOCH = gauge(
    "controller_epoch", "value of /controller_epoch", "", "grows by one with each election (C2, C10)"
)
CONTROLLER_ELECTIONS = counter(
    "controller_elections",
    "elections of a controller that took effect",
    STATS + "ControllerChangeRateAndTimeMs",
    "more than a few an hour: the controller flaps",
)
BROKERS = gauge("brokers", "children of /brokers/ids", CONTROLLER + "ActiveBrokerCount", "fewer than there should be")
TOPICS = gauge("topics", "topics in ZooKeeper", "", "GlobalTopicCount differs for long")
TOPICS_REPORTED = gauge(
    "topics_reported",
    "topics in the controller's context",
    CONTROLLER + "GlobalTopicCount",
    "differs for long from topics (C12)",
)
PARTITIONS = gauge("partitions", "partitions in the topic znodes", "", "GlobalPartitionCount differs for long")
PARTITIONS_REPORTED = gauge(
    "partitions_reported",
    "partitions in the controller's context",
    CONTROLLER + "GlobalPartitionCount",
    "differs for long from partitions (C12)",
)
OFFLINE_PARTITIONS = gauge(
    "offline_partitions",
    "partitions without a registered leader, of topics not queued for deletion",
    CONTROLLER + "OfflinePartitionsCount (up to 1.0)",
    "above 0, lasting (L3)",
)
OFFLINE_REPORTED = gauge(
    "offline_partitions_reported",
    "partitions in the state OfflinePartition, of topics not queued for deletion",
    CONTROLLER + "OfflinePartitionsCount (1.1+)",
    "above 0, lasting (L3); differs for long from offline_partitions",
)
IMBALANCE = gauge(
    "preferred_imbalance",
    "partitions not led by their preferred replica, of topics not queued for deletion",
    "",
    "above 10 % of those that prefer one broker, after an automatic rebalance (L7)",
)
IMBALANCE_REPORTED = gauge(
    "preferred_imbalance_reported",
    "the same in the controller's context",
    CONTROLLER + "PreferredReplicaImbalanceCount",
    "differs for long from preferred_imbalance",
)
TOPICS_TO_DELETE = gauge(
    "topics_to_delete", "requests in /admin/delete_topics", "", "above 0, lasting: a deletion is stuck (L5)"
)
TO_DELETE_REPORTED = gauge(
    "topics_to_delete_reported",
    "topics queued for deletion in the controller's context",
    CONTROLLER + "TopicsToDeleteCount (2.4+)",
    "above 0, lasting: a deletion is stuck (L5)",
)
TOPICS_INELIGIBLE = gauge(
    "topics_ineligible",
    "topics to delete with a replica on an unregistered broker, or with a partition that is being reassigned",
    "",
    "above 0: the deletion waits for a broker or, after a failover, for a reassignment",
)
INELIGIBLE_REPORTED = gauge(
    "topics_ineligible_reported",
    "topics ineligible for deletion in the controller's context",
    CONTROLLER + "TopicsIneligibleToDeleteCount (2.4+)",
    "above 0 with all brokers live and no reassignment: stuck",
)
REPLICAS_TO_DELETE = gauge(
    "replicas_to_delete_reported",
    "replicas of topics queued for deletion that are not yet deleted",
    CONTROLLER + "ReplicasToDeleteCount (2.4+)",
    "does not fall: StopReplica is not answered",
)
REPLICAS_INELIGIBLE = gauge(
    "replicas_ineligible_reported",
    "replicas in the state ReplicaDeletionIneligible",
    CONTROLLER + "ReplicasIneligibleToDeleteCount (2.4+)",
    "above 0 with all brokers live: stuck",
)
UNCLEAN_ELECTIONS = counter(
    "unclean_elections",
    "leaders written that were not in the ISR before",
    STATS + "UncleanLeaderElectionsPerSec",
    "above 0: committed records may be lost (P7, D1)",
)
LEADER_ELECTIONS = counter(
    "leader_elections",
    "states written with a new leader, or the first one",
    STATS + "LeaderElectionRateAndTimeMs, which times changes of the brokers",
    "more than changes of brokers and rebalances explain",
)
EVENT_QUEUE = gauge(
    "event_queue",
    "answers that wait for the controller's event thread",
    "kafka.controller:type=ControllerEventManager,name=EventQueueSize",
    "does not fall",
)
CONTROL_QUEUE = gauge(
    "control_queue",
    "batches of control requests that wait at controllers",
    "kafka.controller:type=ControllerChannelManager,name=TotalQueueSize",
    "does not fall: a broker does not answer",
)
REQUEST_QUEUE = gauge(
    "request_queue",
    "requests that wait at brokers, those of controllers included",
    "kafka.network:type=RequestChannel,name=RequestQueueSize",
    "long, with control requests in it (KIP-291)",
)
REFUSED_REQUESTS = counter(
    "refused_requests",
    "control requests that brokers refused as stale",
    "kafka.network:type=RequestMetrics,name=ErrorsPerSec,error=STALE_CONTROLLER_EPOCH, STALE_BROKER_EPOCH, "
    "FENCED_LEADER_EPOCH",
    "above 0: a deposed controller is at work",
)
FENCED_WRITES = counter(
    "fenced_writes",
    "writes of a deposed controller that the check of /controller_epoch refused",
    "",
    "above 0: a deposed controller is at work, and does no harm (C4)",
)
STALE_VERSIONS = counter(
    "stale_versions",
    "conditional writes refused because the znode has another version",
    "",
    "many: two write the same znode",
)
ZOOKEEPER_REQUESTS = counter(
    "zookeeper_requests",
    "requests to ZooKeeper",
    "kafka.server:type=ZooKeeperClientMetrics,name=ZooKeeperRequestLatencyMs, its count",
    "many for one event: a herd, or a loop of BADVERSION",
)
SESSION_EXPIRIES = counter(
    "session_expiries",
    "sessions of brokers or consumers that expired",
    "kafka.server:type=SessionExpireListener,name=ZooKeeperExpiresPerSec",
    "above 0: each is a cycle of registration and election",
)
LEADERS = gauge(
    "leaders",
    "brokers that believe they lead a partition, summed",
    REPLICAS + "LeaderCount, summed",
    "differs for long from the partitions with a leader: a stale leader",
)
UNDER_REPLICATED = gauge(
    "under_replicated",
    "partitions with a live leader and an ISR smaller than the replicas (those being added left out)",
    REPLICAS + "UnderReplicatedPartitions",
    "above 0, lasting (L4)",
)
UNDER_MIN_ISR = gauge(
    "under_min_isr",
    "partitions with a live leader and an ISR smaller than min.insync.replicas",
    REPLICAS + "UnderMinIsrPartitionCount",
    "above 0: acks=all is refused (D6)",
)
AT_MIN_ISR = gauge(
    "at_min_isr",
    "partitions with a live leader and an ISR of exactly min.insync.replicas",
    REPLICAS + "AtMinIsrPartitionCount (2.4+)",
    "above 0: one more loss and acks=all is refused",
)
REASSIGNING = gauge(
    "reassigning",
    "partitions that are being reassigned",
    REPLICAS + "ReassigningPartitions (2.5+)",
    "above 0, lasting: a reassignment is stuck (L6)",
)
ISR_SHRINKS = counter(
    "isr_shrinks", "members that leaders removed from ISRs", REPLICAS + "IsrShrinksPerSec", "without expands (L4)"
)
ISR_EXPANDS = counter(
    "isr_expands", "members that leaders added to ISRs", REPLICAS + "IsrExpandsPerSec", "fewer than shrinks (L4)"
)
FAILED_ISR_UPDATES = counter(
    "failed_isr_updates",
    "leaders' ISR changes refused because the state has another version",
    REPLICAS + "FailedIsrUpdatesPerSec",
    "grows without end: the leader's version is stale (KAFKA-2729)",
)
OFFLINE_LOG_DIRS = gauge(
    "offline_log_dirs",
    "log directories that have failed",
    "kafka.log:type=LogManager,name=OfflineLogDirectoryCount",
    "above 0",
)
MAX_LAG = gauge(
    "max_lag",
    "records that the follower farthest behind lacks",
    "kafka.server:type=ReplicaFetcherManager,name=MaxLag,clientId=Replica",
    "does not fall (L4)",
)
FAILED_PRODUCE = counter(
    "failed_produce",
    "produce requests refused with NOT_ENOUGH_REPLICAS",
    "kafka.server:type=BrokerTopicMetrics,name=FailedProduceRequestsPerSec",
    "above 0 (D6)",
)
REFUSED_FETCHES = counter(
    "refused_fetches",
    "fetches refused because of the leader epoch, or because the broker does not lead",
    "kafka.server:type=BrokerTopicMetrics,name=FailedFetchRequestsPerSec",
    "grows without end: a follower waits for LeaderAndIsr",
)
GROUPS_ALL = gauge(
    "groups",
    "groups in the caches of coordinators",
    GROUPS + "NumGroups",
    "the same group twice: a zombie coordinator (G17)",
)
GROUPS_EMPTY = gauge("groups_empty", "those that are Empty", GROUPS + "NumGroupsEmpty", "")
GROUPS_PREPARING = gauge(
    "groups_preparing",
    "those that are PreparingRebalance",
    GROUPS + "NumGroupsPreparingRebalance",
    "lasting: members do not join (L9)",
)
GROUPS_COMPLETING = gauge(
    "groups_completing",
    "those that are CompletingRebalance",
    GROUPS + "NumGroupsCompletingRebalance (AwaitingSync up to 1.0)",
    "lasting: the leader does not synchronize (L9)",
)
GROUPS_STABLE = gauge("groups_stable", "those that are Stable", GROUPS + "NumGroupsStable", "")
GROUPS_DEAD = gauge("groups_dead", "those that are Dead", GROUPS + "NumGroupsDead", "")
OFFSETS = gauge(
    "offsets",
    "committed offsets in the caches of coordinators",
    GROUPS + "NumOffsets",
    "falls without an expiry (G8, G16)",
)
MEMBERS = gauge("members", "members of groups", "", "fewer than there should be")
LOADING = gauge(
    "loading",
    "brokers that load the offsets partition",
    "kafka.server:type=group-coordinator-metrics,name=partition-load-time-max",
    "lasting (L12)",
)
REBALANCES = counter(
    "rebalances",
    "generations completed",
    "kafka.server:type=group-coordinator-metrics,name=group-completed-rebalance-rate (2.4+)",
    "many: a storm (L9)",
)
CONSUMERS = gauge("consumers", "ids registered below /consumers", "", "fewer than there should be")
OWNED = gauge(
    "owned",
    "partitions with an owner node",
    OLD_CONSUMER + "OwnedPartitionsCount, summed",
    "fewer than partitions, lasting (L15)",
)
DOUBLE_READS = gauge("double_reads", "partitions that more than one consumer reads", "", "above 0: a zombie reads (O2)")
OLD_REBALANCES = counter(
    "attempts",
    "attempts of consumers to rebalance",
    OLD_CONSUMER + "RebalanceRateAndTime",
    "many for one change: a herd",
)
