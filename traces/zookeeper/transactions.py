"""The transactions of a ZooKeeper log: one record is a Transaction, what it does are its operations.

Nothing changes a record or an operation. A frozen class would say so, but takes three times as long to make one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kafkaproof.checker.basics.errors import UserError

ERROR_NAMES = {
    -1: "systemerror",
    -2: "runtimeinconsistency",
    -3: "datainconsistency",
    -4: "connectionloss",
    -5: "marshallingerror",
    -6: "unimplemented",
    -7: "operationtimeout",
    -8: "badarguments",
    -12: "unknownsession",
    -13: "newconfignoquorum",
    -14: "reconfiginprogress",
    -100: "apierror",
    -101: "nonode",
    -102: "noauth",
    -103: "badversion",
    -108: "nochildrenforephemerals",
    -110: "nodeexists",
    -111: "notempty",
    -112: "sessionexpired",
    -113: "invalidcallback",
    -114: "invalidacl",
    -115: "authfailed",
    -118: "sessionmoved",
    -119: "notreadonly",
    -120: "ephemeralonlocalsession",
    -121: "nowatcher",
    -122: "requesttimeout",
    -123: "reconfigdisabled",
    -124: "sessionclosedrequiresaslauth",
    -125: "quotaexceeded",
    -127: "throttledop",
}
"""Names of the error codes of `org.apache.zookeeper.KeeperException.Code`."""


class LogError(UserError):
    """A log or snapshot that cannot be read on; the text is one line, `transactions` is what was read before."""

    def __init__(self, message: str, transactions: "Sequence[Transaction]" = ()):
        super().__init__(message)
        self.transactions = transactions


@dataclass(slots=True, unsafe_hash=True)
class Acl:
    """One entry of an access control list (jute type `org.apache.zookeeper.data.ACL`)."""

    permissions: int
    scheme: str
    id: str


@dataclass(slots=True, unsafe_hash=True)
class CreateSession:
    """A session opens; `timeout` in milliseconds."""

    timeout: int

    def form(self) -> str:
        """Name the operation."""
        return "createSession"


@dataclass(slots=True, unsafe_hash=True)
class CloseSession:
    """A session ends and its ephemerals go; `paths` lists them from ZooKeeper 3.6, before it is None."""

    paths: tuple[str, ...] | None

    def form(self) -> str:
        """Name the operation."""
        return "closeSession"


@dataclass(slots=True, unsafe_hash=True)
class Create:
    """A znode is created; `parent_cversion` is the parent's new cversion (-1: not logged, old), `ttl` in ms."""

    path: str
    data: bytes | None
    ephemeral: bool
    parent_cversion: int
    kind: Literal["create", "create2", "container", "ttl"] = "create"
    acl: tuple[Acl, ...] | None = ()
    ttl: int = 0

    def form(self) -> str:
        """Name the operation, its path and whether the znode is ephemeral, a container or has a time to live."""
        if self.kind in ("container", "ttl"):
            return f"create {self.path} ({self.kind})"
        return f"create {self.path} (ephemeral)" if self.ephemeral else f"create {self.path}"


@dataclass(slots=True, unsafe_hash=True)
class Delete:
    """A znode is deleted; `container`: by the server (deleteContainer): an empty container, an expired TTL node."""

    path: str
    container: bool = False

    def form(self) -> str:
        """Name the operation and its path."""
        return f"delete {self.path}"


@dataclass(slots=True, unsafe_hash=True)
class SetData:
    """A znode's data is set; `version` is the one after the operation."""

    path: str
    data: bytes | None
    version: int

    def form(self) -> str:
        """Name the operation and its path."""
        return f"setData {self.path}"


@dataclass(slots=True, unsafe_hash=True)
class Reconfig:
    """The ensemble's configuration is written to /zookeeper/config; `version` is always -1."""

    path: str
    data: bytes | None
    version: int

    def form(self) -> str:
        """Name the operation and its path."""
        return f"reconfig {self.path}"


@dataclass(slots=True, unsafe_hash=True)
class SetAcl:
    """A znode's access control list is set; `version` is the aversion after the operation."""

    path: str
    version: int
    acl: tuple[Acl, ...] | None = ()

    def form(self) -> str:
        """Name the operation and its path."""
        return f"setACL {self.path}"


@dataclass(slots=True, unsafe_hash=True)
class Check:
    """A multi's condition on a znode's version; `version` is the current one + 1, whatever was asked for."""

    path: str
    version: int

    def form(self) -> str:
        """Name the operation and its path."""
        return f"check {self.path}"


@dataclass(slots=True, unsafe_hash=True)
class Failure:
    """An operation that failed, an `error` record; `code` is negative, see ERROR_NAMES."""

    code: int

    def form(self) -> str:
        """Name the error."""
        return f"error {ERROR_NAMES.get(self.code, self.code)}"


Operation = CreateSession | CloseSession | Create | Delete | SetData | Reconfig | SetAcl | Check | Failure


@dataclass(slots=True, unsafe_hash=True)
class Transaction:
    """One record of a log: a header (`org.apache.zookeeper.txn.TxnHeader`) and its operations, one unless `multi`.

    `session` from 0 to 2**64 - 1, `time` in milliseconds since 1970, `trailer`: bytes after the
    operations (from 3.6 the digest of the tree).
    """

    zxid: int
    session: int
    cxid: int
    time: int
    operations: tuple[Operation, ...]
    multi: bool = False
    trailer: bytes = b""

    @property
    def first(self) -> Operation | None:
        """The first operation; None of a multi that has none, which ZooKeeper logs all the same."""
        return self.operations[0] if self.operations else None

    @property
    def failed(self) -> bool:
        """Whether any operation failed; then the whole transaction changed nothing."""
        return Failure in map(type, self.operations)

    def form(self) -> str:
        """Describe the transaction in one line, as `multi[check /controller_epoch; error nodeexists]`."""
        forms = "; ".join(operation.form() for operation in self.operations)
        return f"multi[{forms}]" if self.multi else forms
