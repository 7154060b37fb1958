"""The seams by which a group answers clients that wait: what each of them says, for whoever gives the answers."""

from __future__ import annotations

from abc import ABC, abstractmethod

from kafkaproof.spec.group import network


class Answering(ABC):
    """Answers, each of its name in `kafkaproof.spec.group.network`."""

    @abstractmethod
    def _give(self, clients: int, verdict: int, **told: int) -> None:
        """Answer those of a set of clients who wait; `told` is what stands in the answer beside the error."""

    def give_id(self, clients: int, id: int) -> None:
        """MEMBER_ID_REQUIRED names the id to join with."""
        self._give(clients, network.MEMBER_ID_REQUIRED, id=id)

    def give_generation(self, clients: int, id: int, generation: int, epoch: int, leading: int) -> None:
        """Answer a join."""
        self._give(clients, network.NONE, id=id, generation=generation, leading=leading)

    def give_assignment(self, clients: int, epoch: int, owns: int) -> None:
        """Answer a sync."""
        self._give(clients, network.NONE)

    def give_error(self, clients: int, verdict: int) -> None:
        """Answer a request that waits with an error."""
        self._give(clients, verdict)

    def give_commit(self, clients: int) -> None:
        """Answer a commit."""
        self._give(clients, network.NONE)
