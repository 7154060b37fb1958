"""How many different states there were, of any number, in 16 KiB.

Source: Flajolet, Fusy, Gandouet, Meunier, HyperLogLog, AofA 2007.
"""

from __future__ import annotations

import numpy as np

BITS = 14
_REST = 64 - BITS
_ERROR = 1.04 / 2 ** (BITS / 2)
ERROR = f"{_ERROR:.1%}"
"""The standard error of an estimate."""


class Different:
    """Counts different hashes; two counts are joined into the count of both."""

    def __init__(self) -> None:
        self.registers = np.zeros(1 << BITS, np.uint8)

    def add(self, hashes: np.ndarray) -> None:
        """Count hashes of 64 bits."""
        rest = hashes & np.uint64((1 << _REST) - 1)
        _, length = np.frexp(rest.astype(np.float64))
        np.maximum.at(self.registers, hashes >> np.uint64(_REST), (_REST + 1 - length).astype(np.uint8))

    def join(self, registers: np.ndarray) -> None:
        """Count what another one has counted."""
        np.maximum(self.registers, registers, out=self.registers)

    @property
    def estimate(self) -> int:
        """About how many different ones there were."""
        size, empty = len(self.registers), int(np.count_nonzero(self.registers == 0))
        found = 0.7213 / (1 + 1.079 / size) * size**2 / np.sum(2.0 ** -self.registers.astype(np.float64))
        return round(size * np.log(size / empty) if found <= 2.5 * size and empty else found)
