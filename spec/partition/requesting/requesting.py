"""A new controller reads /admin/preferred_replica_election and deletes it, whether it was there or not."""


def reads_always(s, b):
    """Whether a new controller whose start-up is over reads the operator's request, and deletes it: always.

    Kafka: KafkaController.onPreferredReplicaElection, 0.8.1 to 2.3; onReplicaElection, 2.4 to 3.9.
    """
    return True
