"""Which cluster a log is of: where its znodes are, which session is which broker's, which variant elects."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from checker.errors import UserError
from spec.museum.election import MODELS
from traces.recording import Recording
from traces.transactions import Check, Create, Failure, Operation, SetData

_HOME = re.compile(r"(.*)/(?:controller_epoch|brokers/ids)")
_ID = re.compile(r"/brokers/ids/(\d+)")
VARIANTS = tuple(model.variant for model in MODELS)


def find_root(recording: Recording, wanted: str | None) -> str:
    """The chroot of the cluster ("" for none), told by where /brokers/ids and /controller_epoch are."""
    if wanted is not None:
        return wanted.rstrip("/")
    paths = set(recording.start.nodes) if recording.start else set()
    paths |= {getattr(operation, "path", "") for t in recording.transactions for operation in t.operations}
    roots = sorted({found[1] for path in paths if (found := _HOME.fullmatch(path))})
    if len(roots) > 1:
        names = ", ".join(root or "/" for root in roots)
        raise UserError(f"{recording.directory}: several clusters: {names}; choose one with --chroot")
    if not roots:
        raise UserError(f"{recording.directory}: no Kafka cluster in this log: no /brokers/ids, no /controller_epoch")
    return roots[0]


def below(root: str, path: str) -> str | None:
    """A path as brokers with this chroot know it, None for a znode of others."""
    return path.removeprefix(root) if path.startswith(f"{root}/") else None


class Members:
    """The sessions of brokers, found from the ephemerals that they create; all others are tools'."""

    def __init__(self, recording: Recording, root: str):
        self.broker_of: dict[int, int] = {}
        self.registered_first: dict[int, bool] = {}
        for session, path, data in _ephemerals(recording):
            self._note(session, below(root, path), data)

    @property
    def brokers(self) -> list[int]:
        """The ids of all brokers, in order."""
        return sorted(set(self.broker_of.values()))

    def _note(self, session: int, path: str | None, data: bytes | None) -> None:
        if found := _ID.fullmatch(path or ""):
            self.broker_of.setdefault(session, int(found[1]))
            self.registered_first.setdefault(session, True)
        elif path == "/controller" and (broker := broker_in(data)) is not None:
            self.broker_of.setdefault(session, broker)
            self.registered_first.setdefault(session, False)


def _ephemerals(recording: Recording) -> Iterator[tuple[int, str, bytes | None]]:
    """Session, path and data of all ephemerals that there were or that were asked for."""
    nodes = recording.start.nodes if recording.start else {}
    for path in sorted(nodes):
        if nodes[path].ephemeral_owner:
            yield nodes[path].ephemeral_owner, path, nodes[path].data
    for transaction in recording.transactions:
        for operation in transaction.operations:
            if isinstance(operation, Create) and operation.ephemeral:
                yield transaction.session, operation.path, operation.data


def find_variant(recording: Recording, members: Members, root: str) -> str | None:
    """The variant whose elections the log shows, None when it shows none."""
    for transaction in recording.transactions:
        first = transaction.operations[0]
        if transaction.multi and _is_fenced(transaction.operations, root):
            return "fenced"
        if not transaction.multi and isinstance(first, Create) and first.path == f"{root}/controller":
            return "legacy" if all(members.registered_first.values()) else "zkclient"
    return None


def _is_fenced(operations: tuple[Operation, ...], root: str) -> bool:
    """Whether these are an election in one transaction, or a write that is checked against the epoch."""
    match operations:
        case (Check(path, _), *_):
            return path == f"{root}/controller_epoch"
        case (Create(path), SetData() | Failure()):
            return path == f"{root}/controller"
    return False


@lru_cache(maxsize=100_000)
def json_in(data: bytes | None) -> dict:
    """The JSON object that a znode holds; an empty one for anything else."""
    try:
        found = json.loads(data or b"")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def broker_in(data: bytes | None) -> int | None:
    """The broker that /controller names: a JSON object, before 0.8.1 a bare number."""
    found = json_in(data).get("brokerid")
    if found is None and data and data.isdigit():
        return int(data)
    return found if isinstance(found, int) else None


def number_in(data: bytes | None) -> int | None:
    """The decimal number that /controller_epoch holds."""
    return int(data) if data and data.isdigit() else None


class PartitionState(NamedTuple):
    """What a partition's state znode says, as far as it is followed."""

    leader: int
    leader_epoch: int
    controller_epoch: int
    isr: tuple[int, ...]


@lru_cache(maxsize=100_000)
def partition_state(data: bytes | None) -> PartitionState | None:
    """The partition state that a znode holds; None when it is none."""
    found = json_in(data)
    try:
        numbers = (int(found[name]) for name in ("leader", "leader_epoch", "controller_epoch"))
        return PartitionState(*numbers, tuple(found["isr"]))
    except (KeyError, TypeError, ValueError):
        return None
