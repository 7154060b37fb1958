"""What others than the quorum's ruling controller may write to ZooKeeper while the quorum rules."""

from __future__ import annotations

import re

from kafkaproof.traces.zookeeper.transactions import (
    CloseSession,
    Create,
    CreateSession,
    Delete,
    SetAcl,
    SetData,
    Transaction,
)
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.quorum import CONTROLLER, MIGRATION

_RULED = re.compile(
    r"/controller_epoch|/brokers/topics/.+|/config/(?:topics|brokers|users|clients|ips)/.+|/latest_producer_id_block"
    r"|/kafka-acl(?:-extended)?/.+|/delegation_token/.+"
)
"""The metadata, which only who rules may write."""
_REGISTRATION = re.compile(r"/brokers/ids/\d+|/brokers/seqid")
_STATE = re.compile(r"/brokers/topics/[^/]+/partitions/\d+/state")
BY_HAND = {CONTROLLER: "/controller deleted by hand", MIGRATION: "/migration deleted by hand"}


def is_missing_state(transaction: Transaction, root: str) -> bool:
    """Whether somebody creates the state of a partition alone, as an operator does where a controller sets one that is not
    there.
    """
    first = transaction.first
    if transaction.multi or not isinstance(first, Create):
        return False
    return _STATE.fullmatch(first.path.removeprefix(root)) is not None


class Others:
    """Judges records whose session is not that of the ruling controller."""

    def __init__(self, root: str):
        self._root = root

    def judge(self, transaction: Transaction, tree: Tree, ruler: str) -> tuple[str, str | None]:
        """What a record is, and why nobody can have written it while `ruler` rules, if so."""
        if transaction.failed:
            return "refused, of others", None
        if isinstance(transaction.first, (CreateSession, CloseSession)):
            return "sessions", None
        kind, fault = "no operation", None
        for operation in transaction.operations:
            path = getattr(operation, "path", "").removeprefix(self._root)
            kind, fault = self._one(operation, path, ruler)
            if fault:
                break
        return kind, fault

    def _one(self, operation, path: str, ruler: str) -> tuple[str, str | None]:
        if isinstance(operation, Delete) and path in BY_HAND:
            return BY_HAND[path], None
        if path == MIGRATION and isinstance(operation, Create):
            return "/migration created", None
        if path in (CONTROLLER, MIGRATION) and isinstance(operation, (Create, SetData, Delete)):
            return path, f"{operation.form()}, while {ruler} rules, which alone writes it"
        if _RULED.fullmatch(path) and isinstance(operation, (Create, SetData, Delete)):
            return path, f"{operation.form()} by a session that does not rule: {ruler} does"
        if _REGISTRATION.fullmatch(path):
            return "registrations of brokers", None
        if path.startswith("/config/changes/"):
            return "announcements of configurations", None
        if isinstance(operation, SetAcl):
            return "access control lists of znodes", None
        return "other znodes", None
