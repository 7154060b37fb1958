"""The metrics of every system."""

from kafkaproof.spec.consumer import metrics as consumer
from kafkaproof.spec.election import metrics as election
from kafkaproof.spec.group import metrics as group
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.metrics.metric import Measure
from kafkaproof.spec.partition import metrics as partition
from kafkaproof.spec.replica import metrics as replica
from kafkaproof.spec.requests import metrics as requests
from kafkaproof.spec.topics import metrics as topics

SYSTEMS = {
    "election": election.METRICS,
    "partition": partition.METRICS,
    "requests": requests.METRICS,
    "topics": topics.METRICS,
    "replica": replica.METRICS,
    "group": group.METRICS,
    "consumer": consumer.METRICS,
}
VARIANTS = {("election", "zkclient"): election.UP_TO_1_0}


def metrics_of(model: Model) -> tuple[Measure, ...]:
    """The metrics of a model; none of an abstract one, or of a system that is not in the catalogue."""
    return VARIANTS.get((model.system, model.variant), SYSTEMS.get(model.system, ()))
