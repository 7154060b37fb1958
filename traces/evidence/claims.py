"""The controllers that changes of partition states claim to be of."""

from functools import cached_property
from math import inf

import numpy as np

from kafkaproof.traces.basics.columns import distinct
from kafkaproof.traces.basics.versions import NEVER
from kafkaproof.traces.evidence.state_changes import Changes
from kafkaproof.traces.evidence.terms import ObservedTerm, ObservedTerms


class Claims:
    """Which controller each change claims to be of: `codes` of `keys`, which are epochs and sessions.

    That of a change without a state means nothing.
    """

    def __init__(self, changes: Changes, terms: ObservedTerms):
        self._zxids, states, sessions = changes.zxids, changes.states, changes.sessions
        epochs = np.unique(states.controller_epochs, return_inverse=True)[1][changes.after]
        first, self.codes = distinct(epochs, np.unique(sessions, return_inverse=True)[1])
        self.keys = [(int(states.controller_epochs[changes.after[row]]), int(sessions[row])) for row in first]
        self._terms = terms

    @cached_property
    def terms(self) -> list[ObservedTerm | None]:
        """The term of each key, None where the session did not win it."""
        return [self._terms.claimed(*key) for key in self.keys]

    @cached_property
    def starts(self) -> np.ndarray:
        """The zxid at which the term of each change begins, NEVER where there is none."""
        return np.array([term.start if term else NEVER for term in self.terms], np.int64)[self.codes]

    @cached_property
    def ends(self) -> np.ndarray:
        """The zxid at which it ends, NEVER where the log does not show it."""
        ends = [term.end if term else inf for term in self.terms]
        return np.array([NEVER if end == inf else end for end in ends], np.int64)[self.codes]

    @property
    def ruled(self) -> np.ndarray:
        """Whether there is such a term."""
        return np.array([term is not None for term in self.terms], bool)[self.codes]

    @property
    def won(self) -> np.ndarray:
        """Whether it had begun before the change."""
        return self.starts < self._zxids
