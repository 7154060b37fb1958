"""How brokers answer control requests: LeaderAndIsr, UpdateMetadata, StopReplica."""

from kafkaproof.spec.kafka.zookeeper import Answer
from kafkaproof.spec.language.domains import Choice

Error = Choice(
    *Answer.names, "NONE", "STALE_BROKER_EPOCH", "STALE_CONTROLLER_EPOCH", "KAFKA_STORAGE_ERROR", "FENCED_LEADER_EPOCH"
)
NONE, STALE_BROKER_EPOCH, STALE_CONTROLLER_EPOCH, KAFKA_STORAGE_ERROR, FENCED_LEADER_EPOCH = tuple(Error)[
    len(Answer.names) :
]
