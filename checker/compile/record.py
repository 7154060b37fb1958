"""The NumPy record of a state, which compiled transitions read and write."""

from __future__ import annotations

import numpy as np

from kafkaproof.spec.language.domains import Array, Domain, Record, Scope
from kafkaproof.spec.language.layout import slots

NARROW = np.int32


def dtype(domain: Domain, scope: Scope) -> np.dtype:
    """The NumPy type of a state (or of one field's domain) at `scope`."""
    if isinstance(domain, Record):
        return np.dtype([(name, *_shaped(field.domain, scope)) for name, field in domain.fields.items()], align=True)
    return np.dtype(NARROW)


def _shaped(domain, scope):
    shape: tuple[int, ...] = ()
    while isinstance(domain, Array):
        shape, domain = (*shape, slots(domain, scope)), domain.of
    return (dtype(domain, scope), shape) if shape else (dtype(domain, scope),)
