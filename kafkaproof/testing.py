"""What tests of models of one's own, and of implementations beside them, are written with: see docs/testing.md.

- `assert_holds` explores a model, and fails with the counterexample as text.
- `machine_of` makes a state machine of Hypothesis from a model, which walks beside an implementation. A method of the
  implementation's adapter raises `Refused` when it refuses a step.
"""

from kafkaproof.checker.explore.explorer import Limits
from kafkaproof.checker.testing.beside import Refused
from kafkaproof.checker.testing.holds import assert_holds
from kafkaproof.checker.testing.machine import machine_of

__all__ = ["Limits", "Refused", "assert_holds", "machine_of"]
