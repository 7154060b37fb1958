"""The error codes of Kafka's protocol, by their names."""

from kafkaproof.impl.broker.replica import DONE

ERRORS = {
    "UNKNOWN_SERVER_ERROR": -1,
    DONE: 0,
    "OFFSET_OUT_OF_RANGE": 1,
    "CORRUPT_MESSAGE": 2,
    "UNKNOWN_TOPIC_OR_PARTITION": 3,
    "LEADER_NOT_AVAILABLE": 5,
    "NOT_LEADER_OR_FOLLOWER": 6,
    "REQUEST_TIMED_OUT": 7,
    "OFFSET_METADATA_TOO_LARGE": 12,
    "NOT_ENOUGH_REPLICAS": 19,
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": 20,
    "KAFKA_STORAGE_ERROR": 56,
}
