"""All systems and their variants, by name."""

from spec.language.model import Model
from spec.language.refinement import Refinement
from spec.museum import (
    async_isr, cluster, consumer, control_requests, election, group, partition, partition_deletion,
    partition_reassignment, replica, replication, rolling, rolling_partition, topics,
)
from spec.replica.refinement import TO_REPLICATION

MODELS: tuple[Model, ...] = (
    replication.MODELS + async_isr.MODELS + replica.MODELS + rolling.MODELS + election.MODELS
    + rolling_partition.MODELS + partition_deletion.MODELS + partition_reassignment.MODELS + partition.MODELS
    + control_requests.MODELS + topics.MODELS + group.MODELS + consumer.MODELS + cluster.MODELS
)
REFINEMENTS: tuple[Refinement, ...] = (TO_REPLICATION,)


def find(system: str | None = None, variant: str | None = None) -> list[Model]:
    """The models of a system and variant (all, where None); raises LookupError with the known names."""
    found = [m for m in MODELS if system in (None, m.system) and variant in (None, m.variant)]
    if found:
        return found
    systems = sorted({m.system for m in MODELS})
    if system not in systems:
        raise LookupError(f"no system {system!r}; there are {', '.join(systems)}")
    variants = ", ".join(m.variant for m in MODELS if m.system == system)
    raise LookupError(f"{system} has no variant {variant!r}; there are {variants}")
