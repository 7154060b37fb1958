"""The metrics of every system."""

from spec.language.model import Model
from spec.metrics import consumer, election, group, partition, replica, requests, topics
from spec.metrics.metric import Measure

SYSTEMS = {
    "election": election.METRICS, "partition": partition.METRICS, "requests": requests.METRICS,
    "topics": topics.METRICS, "replica": replica.METRICS, "group": group.METRICS, "consumer": consumer.METRICS,
}
VARIANTS = {("election", "zkclient"): election.UP_TO_1_0}


def metrics_of(model: Model) -> tuple[Measure, ...]:
    """The metrics of a model; none of an abstract one, or of a system that is not in the catalogue."""
    return VARIANTS.get((model.system, model.variant), SYSTEMS.get(model.system, ()))
