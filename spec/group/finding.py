"""FindCoordinator: who coordinates the group, as a broker knows. `placement` says which partition it is about."""

from kafkaproof.spec.group.network import COORDINATOR_NOT_AVAILABLE, NONE, answer_operator
from kafkaproof.spec.group.sorts import Broker, Epoch
from kafkaproof.spec.group.storage import has_begun


def find_verdict(known):
    """FindCoordinator: whether the cached metadata name a leader of the offsets partition; 0 for none yet."""
    return COORDINATOR_NOT_AVAILABLE if known == 0 else NONE


def find(s, b: Broker, known: Epoch):
    """Anybody asks broker `b` who coordinates the group; the broker's metadata are those of the epoch `known`.

    Guards:  that epoch has begun; 0 stands for metadata without the offsets topic, or without a leader of it.
    Request: NONE, with the leader of that epoch, who need not lead any more; else as `find_verdict`.
    Effects: none but the answer: a client may ask any broker anyhow. (Kafka creates the offsets topic.)
    Kafka:   KafkaApis.getCoordinator, 0.9 to 3.9.
    """
    if not has_begun(s.storage, known):
        return False

    answer_operator(s.network, find_verdict(known))
    return True
