"""Rounds of messages by which the states of one partition of a large graph learn about one question.

Each round takes the messages for the partition's states, changes what is known of them, and answers with messages
along their steps. A message is three words: the hash of the state that it is for, and two that the round explains.

First each state that waits for the goal learns its `distance` (`spread`). Then states that cannot belong to a fair set
are removed: those that no step from a remaining state leads to (`weigh`), except where a behaviour may stop; and those
with a debt (see `loops`) that is paid neither there nor on any path to it (`pay`, `refuse`). What remains contains
every fair set. It is empty when there is none: a set that no other remaining states lead to must pay its own debts.

Sources: "one way catch them young", Fisler and others, TACAS 2001; for strong fairness Kesten, Pnueli and Raviv, ICALP
1998.
"""

from __future__ import annotations

import numpy as np

from kafkaproof.checker.liveness.labels import Question
from kafkaproof.checker.liveness.loops import GOAL
from kafkaproof.checker.liveness.parts import Part
from kafkaproof.checker.liveness.search import FAR, beginnings

KINDS = {
    "distance": np.int32,
    "parent": np.uint64,
    "step": np.int64,
    "alive": bool,
    "before": np.int64,
    "paid": np.uint64,
}
NONE = np.zeros((0, 3), np.uint64)


class Rounds:
    """One partition and one question. `known` has a column for each name of `KINDS`, one value for each state.

    `distance` is that of `search.Region`, `parent` the hash of the state before and `step` the number of the step from
    there (-1: the waiting begins here); `alive` states may belong to a fair set; `before` counts steps that lead here
    from such states; `paid` has the debts that are paid here or on some path to here. `answered` says whether a waiting
    state has a step to a goal in this partition; `removed` how many states the last round removed.
    """

    def __init__(self, part: Part, question: Question, known: dict[str, np.ndarray] | None = None):
        self.part, self.question = part, question
        self.known = {name: np.zeros(len(part.states), kind) for name, kind in KINDS.items()}
        self.known["distance"][:] = part.level + 1 if question.settles else FAR
        self.known["step"][:] = -1
        self.known |= {name: np.array(column) for name, column in (known or {}).items()}
        self.answered, self.removed = False, 0
        self._inside, self._begins = beginnings(part.marks, question)
        self._owed = part.enabled & np.uint64(question.weak | question.strong)
        self._own = ~part.enabled & np.uint64(question.weak)
        self._needed = np.uint64(question.weak) | part.enabled & np.uint64(question.strong)
        if question.settles:
            missed = (part.marks & np.uint64(question.goal)) == 0
            self._owed = self._owed | np.where(missed, np.uint64(0), GOAL)
            self._own = self._own | np.where(missed, GOAL, np.uint64(0))
            self._needed = self._needed | GOAL

    def spread(self, messages: np.ndarray, number: int) -> np.ndarray:
        """Round `number` of distances; a message has the hash of the state before, and the step's number."""
        known, places = self.known, self.part.places(messages[:, 0])
        self.answered = bool((~self._inside[places]).any())
        arrived = self._inside[places] & (known["distance"][places] == FAR)
        here, chosen = np.unique(places[arrived], return_index=True)
        known["distance"][here] = number
        known["parent"][here], known["step"][here] = messages[arrived][chosen, 1:].T
        begin = np.flatnonzero(self._begins & (known["distance"] == FAR) & (self.part.level + 1 == number))
        known["distance"][begin], known["step"][begin] = number, -1
        steps, sources = self.part.steps_from(np.concatenate([here, begin]))
        return _rows(self.part.to[steps], self.part.hashes[sources], self.part.number[steps])

    def begin(self, messages: np.ndarray, number: int) -> np.ndarray:
        """Make alive all waiting states where the lasting condition holds; a message is one step."""
        lasting = np.uint64(self.question.lasting)
        self.known["alive"] = (self.known["distance"] < FAR) & ((self.part.marks & lasting) == lasting)
        return self._along(np.flatnonzero(self.known["alive"]))

    def add(self, messages: np.ndarray, number: int) -> np.ndarray:
        """Count the steps that lead to each state that is alive, and remove those without any."""
        return self._weighed(messages, 1)

    def weigh(self, messages: np.ndarray, number: int) -> np.ndarray:
        """Subtract a step for each message, and remove states to which no step leads any more."""
        return self._weighed(messages, -1)

    def _weighed(self, messages, sign):
        np.add.at(self.known["before"], self.part.places(messages[:, 0]), sign)
        return self._remove(self.known["alive"] & (self.known["before"] == 0) & (self._owed != 0))

    def charge(self, messages: np.ndarray, number: int) -> np.ndarray:
        """Each state that is alive pays its own debts; a message has the debts paid so far."""
        alive = self.known["alive"]
        self.known["paid"] = np.where(alive, self._own, np.uint64(0))
        return self._along(np.flatnonzero(alive), paying=True)

    def pay(self, messages: np.ndarray, number: int) -> np.ndarray:
        """Debts paid on the way to a state are paid for it too."""
        places = self.part.places(messages[:, 0])
        before = self.known["paid"].copy()
        np.bitwise_or.at(self.known["paid"], places, messages[:, 1])
        self.known["paid"][~self.known["alive"]] = 0
        return self._along(np.flatnonzero(self.known["paid"] != before), paying=True)

    def refuse(self, messages: np.ndarray, number: int) -> np.ndarray:
        """Remove states with unpaid debts; a message is a step less."""
        return self._remove(self.known["alive"] & ((self._needed & ~self.known["paid"]) != 0))

    def _remove(self, gone):
        self.removed = int(gone.sum())
        self.known["alive"] = self.known["alive"] & ~gone
        return self._along(np.flatnonzero(gone))

    def _along(self, states, paying=False):
        """A message along each step from `states` that may be repeated for ever."""
        steps, sources = self.part.steps_from(states)
        lasting = (self.part.taken[steps] & np.uint64(self.question.finite)) == 0
        steps, sources = steps[lasting], sources[lasting]
        paid = self.known["paid"][sources] | self.part.taken[steps] if paying else np.ones(len(steps), np.uint64)
        return _rows(self.part.to[steps], paid, np.zeros(len(steps), np.uint64))


def _rows(*columns):
    return np.stack([column.astype(np.uint64) for column in columns], axis=1) if len(columns[0]) else NONE
