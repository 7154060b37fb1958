"""The metrics of every system: `METRICS` of its module `metrics`, but for the variants that `OF_VARIANT` names there."""

from kafkaproof.spec.catalogue import declared
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.metrics.metric import Measure

SYSTEMS = {system: here.METRICS for system, here in declared("metrics")}
VARIANTS = {
    (system, variant): metrics
    for system, here in declared("metrics")
    for variant, metrics in getattr(here, "OF_VARIANT", {}).items()
}


def metrics_of(model: Model) -> tuple[Measure, ...]:
    """The metrics of a model: those that it declares, or those of its system; none of an abstract system."""
    declares = tuple(each for each in model.metrics if isinstance(each, Measure))
    return declares or VARIANTS.get((model.system, model.variant), SYSTEMS.get(model.system, ()))
