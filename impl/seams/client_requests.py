"""What clients ask the controller for, as a message that the step in progress handles."""

from __future__ import annotations

from typing import Any

from kafkaproof.spec.language.plain import members
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.partition.network import NOTHING
from kafkaproof.spec.partition.reassignment.network import NOTHING_WANTED

ALTERATION, ELECTION = "AlterPartitionReassignments", "ElectLeaders"
"""The kinds of such messages."""


class ClientRequests:
    """The seams to them, each the one of its name in the module `network` of `kafkaproof.spec.partition` or of its
    `reassignment`. `current` is the message at hand.
    """

    current: Any = None

    def wanted(self):
        """What an administrator asks for of a partition."""
        return self.current.content["kind"] if self._asks(ALTERATION) else NOTHING_WANTED

    def partition_wanted(self):
        """Of which partition."""
        return self.current.content["p"]

    def replicas_wanted(self):
        """The brokers that it is to be on."""
        return members(self.current.content["replicas"])

    def copy_wanted(self, target):
        """The same, in order."""
        for replica in self.current.content["replicas"]:
            push(target, replica)

    def take_wanted(self):
        """The request is taken up."""

    def asked(self):
        """The type of election that an administrator asks for."""
        return self.current.content["type"] if self._asks(ELECTION) else NOTHING

    def is_asked_of(self, p):
        """Whether it is asked for of a partition."""
        return p in self.current.content["partitions"]

    def take_asked(self):
        """The request is taken up."""

    def _asks(self, kind):
        return self.current is not None and self.current.kind == kind
