"""FindCoordinator: who coordinates the group, by a broker's metadata. `placement` says which partition decides."""

from kafkaproof.spec.group.network import COORDINATOR_NOT_AVAILABLE, NONE, answer_operator
from kafkaproof.spec.group.sorts import Broker, Epoch
from kafkaproof.spec.group.storage import has_begun


def find_verdict(known):
    """FindCoordinator: whether the cached metadata name a leader of the offsets partition (0: none yet)."""
    return COORDINATOR_NOT_AVAILABLE if known == 0 else NONE


def find(s, b: Broker, known: Epoch):
    """A client or a tool asks broker `b` who coordinates the group; the broker's metadata date from the epoch `known`.

    Guards:  that epoch has begun; 0 stands for metadata without the offsets topic, or without a leader for it.
    Request: NONE, with the leader of that epoch, which may no longer lead; or an error as in `find_verdict`.
    Effects: only the answer: clients of the model may ask any broker anyway. (Kafka creates the offsets topic.)
    Kafka:   KafkaApis.handleGroupCoordinatorRequest, 0.9 to 0.10.2; handleFindCoordinatorRequest, 0.11 to 3.9;
             getCoordinator, 3.0 to 3.9.
    """
    if not has_begun(s.storage, known):
        return False

    answer_operator(s.network, find_verdict(known))
    return True
