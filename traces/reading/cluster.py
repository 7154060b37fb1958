"""Which cluster a log is of: where its znodes are, and which session is which broker's."""

import re
from collections.abc import Iterator

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.reading.survey import Owned
from kafkaproof.traces.zookeeper.znodes.contents import broker_in

_ID = re.compile(r"/brokers/ids/(\d+)")


def find_root(recording: Recording, wanted: str | None) -> str:
    """The chroot of the cluster ("" for none), told by where /brokers/ids and /controller_epoch are.

    Raises UserError where there is none, none where one is `wanted`, or several.
    """
    roots = sorted(recording.survey.roots)
    names = ", ".join(root or "/" for root in roots)
    if wanted is not None:
        if roots and wanted.rstrip("/") not in roots:
            raise UserError(f"--chroot {wanted}: no Kafka cluster is there in this log; there is {names}")
        return wanted.rstrip("/")
    if len(roots) > 1:
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
        self.root = root
        self.broker_of: dict[int, int] = {}
        self.registered_first: dict[int, bool] = {}
        for _, session, path, data in ephemerals_of(recording):
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


def ephemerals_of(recording: Recording) -> Iterator[Owned]:
    """All ephemerals that there were or that were asked for."""
    nodes = recording.start.nodes if recording.start else {}
    for path in sorted(nodes):
        if nodes[path].ephemeral_owner:
            yield Owned(0, nodes[path].ephemeral_owner, path, nodes[path].data)
    yield from recording.survey.ephemerals
