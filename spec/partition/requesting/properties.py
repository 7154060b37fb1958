"""What is asked of a failover that always ends with a request for preferred leaders."""

from kafkaproof.spec.language.model import Property
from kafkaproof.spec.partition.properties.failovers import is_found


def is_looked_for(s, b):
    """Whether a new controller goes on with the operator's request: always (for properties)."""
    return True


def properties(found: tuple[Property, ...]) -> tuple[Property, ...]:
    """The properties of `fenced`, adapted."""
    return tuple(p.rebound({is_found: is_looked_for}) for p in found)
