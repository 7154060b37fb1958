"""Brokers of this project in recordings up to format 8, which looked whether they led before they compared leader epochs.

No release of Kafka does so.
"""

from kafkaproof.spec.replica.broker import LEADER
from kafkaproof.spec.replica.network import compare_epochs
from kafkaproof.spec.replica.zookeeper import NOT_LEADER


def answer_by_role_first(epoch, broker):
    """How a broker answers a request: NOT_LEADER whatever the epochs are, if it does not lead."""
    if broker.state != LEADER:
        return NOT_LEADER
    return compare_epochs(epoch, broker)
