"""Replays transactions into a tree of znodes and sessions, as `org.apache.zookeeper.server.DataTree` does."""

import re
from collections.abc import Sequence

from kafkaproof.traces.zookeeper.snapshot import Snapshot, Znode
from kafkaproof.traces.zookeeper.transactions import (
    Check,
    CloseSession,
    Create,
    CreateSession,
    Delete,
    Failure,
    Operation,
    Reconfig,
    SetAcl,
    SetData,
    Transaction,
)

_REFUSED = re.compile("[\x00-\x1e\x80-\x9e\ud801-\uf8fe\ufff1-\ufffe\U00010000-\U0010ffff]")
"""What no path has, in any version (`org.apache.zookeeper.common.PathUtils.validatePath`)."""
_CONTAINER_OWNER = 1 << 63
_TTL_OWNER = 0xFF << 56
_EMPTY = Snapshot(0, 0, {}, {"/": Znode(b""), "/zookeeper": Znode(b""), "/zookeeper/quota": Znode(b"")})


class Tree:
    """The znodes and open sessions after the transactions applied so far.

    `nodes`: path to Znode; `children`: path to the paths of its children, without those that have none;
    `sessions`: id to timeout in milliseconds; `ephemerals`: session to the paths that it owns;
    `zxid`: that of the last transaction applied, or of the snapshot.
    """

    def __init__(self, start: Snapshot | None = None):
        """Begin with a snapshot, or with the tree of a ZooKeeper that was never written to."""
        start = start or _EMPTY
        self.zxid = start.zxid
        self.sessions = dict(start.sessions)
        self.nodes: dict[str, Znode] = {}
        self.children: dict[str, set[str]] = {}
        self.ephemerals: dict[int, set[str]] = {}
        self._fuzzy_until = start.last_processed_zxid
        for path, node in start.nodes.items():
            self._add(path, node)

    def apply(self, transaction: Transaction) -> tuple[str, ...]:
        """Apply a transaction and return the contradictions between it and the tree, each one line.

        A transaction not after `zxid` is already contained and does nothing. Up to the snapshot's
        last_processed_zxid a znode may already reflect this transaction or later ones, so nothing is
        a contradiction; as every operation sets what its record says, the tree comes right in the end.
        """
        if transaction.zxid <= self.zxid:
            return ()
        self.zxid = transaction.zxid
        if transaction.failed and not (type(transaction.first) is Failure and transaction.first.code >= 0):
            return ()
        texts = [text for operation in transaction.operations for text in self._apply(operation, transaction)]
        if not texts or transaction.zxid <= self._fuzzy_until:
            return ()
        return tuple(f"zxid {transaction.zxid:#x}, session {transaction.session:#x}: {text}" for text in texts)

    def _apply(self, operation: Operation, transaction: Transaction) -> Sequence[str]:
        if type(operation) is SetData:
            return self._set_data(operation, transaction)
        if type(operation) is Check:
            return self._check(operation.path, operation.version)
        match operation:
            case Reconfig():
                return self._set_data(operation, transaction)
            case Create():
                return self._create(operation, transaction)
            case Delete(path):
                return self._delete(path, transaction.zxid)
            case SetAcl(path, version):
                return self._set_acl(path, version)
            case CreateSession(timeout):
                return self._create_session(timeout, transaction.session)
            case Failure(code) if not transaction.multi:
                return [f"error {code}, and codes of errors are negative"]
            case CloseSession(paths):
                return self._close_session(paths, transaction)
        return ()

    def _create_session(self, timeout: int, session: int) -> list[str]:
        texts = [f"createSession with a timeout of {timeout:,} ms"] if timeout <= 0 else []
        texts += ["createSession, but it is open"] if session in self.sessions else []
        self.sessions[session] = timeout
        return texts

    def _create(self, operation: Create, transaction: Transaction) -> list[str]:
        path, zxid = operation.path, transaction.zxid
        parent = self.nodes.get(parent_path(path))
        if parent is None:
            return [f"create {path}, but its parent does not exist"]
        texts = [f"create {path}, with a character that ZooKeeper refuses"] if _REFUSED.search(path) else []
        if path in self.nodes:
            texts.append(f"create {path}, but it exists since {self.nodes[path].czxid:#x}")
        else:
            owner = _owner(operation, transaction.session)
            self._add(path, Znode(operation.data, 0, 0, 0, zxid, zxid, zxid, transaction.time, transaction.time, owner))
        if operation.ephemeral and transaction.session not in self.sessions:
            texts.append(f"create ephemeral {path}, but the session is not open")
        if _is_session(parent.ephemeral_owner):
            texts.append(f"create {path}, but its parent is ephemeral")
        cversion = parent.cversion + 1 if operation.parent_cversion == -1 else operation.parent_cversion
        if cversion != parent.cversion + 1:
            texts.append(f"create {path} with parent cversion {cversion}, but it is {parent.cversion}")
        self.nodes[parent_path(path)] = parent._replace(cversion=cversion, pzxid=zxid)
        return texts

    def _delete(self, path: str, zxid: int) -> list[str]:
        parent = self.nodes.get(parent_path(path))
        if parent is not None:
            self.nodes[parent_path(path)] = parent._replace(pzxid=zxid)
        node = self.nodes.get(path)
        if node is None:
            return [f"delete {path}, but it does not exist"]
        self._remove(path, node)
        return [f"delete {path}, but it has children"] if path in self.children else []

    def _set_data(self, operation: SetData | Reconfig, transaction: Transaction) -> Sequence[str]:
        path, version = operation.path, operation.version
        node = self.nodes.get(path)
        if node is None:
            return [f"{operation.form()}, but it does not exist"]
        _, known, cversion, aversion, czxid, _, pzxid, ctime, _, owner = node
        self.nodes[path] = Znode(
            operation.data, version, cversion, aversion, czxid, transaction.zxid, pzxid, ctime, transaction.time, owner
        )
        if version != known + 1 and isinstance(operation, SetData):
            return [f"setData {path} to version {version}, but it is at version {known}"]
        return ()

    def _set_acl(self, path: str, version: int) -> list[str]:
        node = self.nodes.get(path)
        if node is None:
            return [f"setACL {path}, but it does not exist"]
        self.nodes[path] = node._replace(aversion=version)
        if version != node.aversion + 1:
            return [f"setACL {path} to version {version}, but it is at version {node.aversion}"]
        return []

    def _check(self, path: str, version: int) -> Sequence[str]:
        node = self.nodes.get(path)
        if node is None:
            return [f"check {path} succeeded, but it does not exist"]
        if version != node.version + 1:
            return [f"check {path} succeeded at version {version - 1}, but it is at version {node.version}"]
        return ()

    def _close_session(self, paths: tuple[str, ...] | None, transaction: Transaction) -> list[str]:
        owned = sorted(self.ephemerals.get(transaction.session, ()))
        self.sessions.pop(transaction.session, None)
        for path in {*owned, *(paths or ())}:
            self._delete(path, transaction.zxid)
        if paths is not None and sorted(paths) != owned:
            return [f"closeSession lists {sorted(paths)}, but the session's ephemerals are {owned}"]
        return []

    def _add(self, path: str, node: Znode) -> None:
        self.nodes[path] = node
        if path != "/":
            self.children.setdefault(parent_path(path), set()).add(path)
        if node.ephemeral_owner:
            self.ephemerals.setdefault(node.ephemeral_owner, set()).add(path)

    def _remove(self, path: str, node: Znode) -> None:
        del self.nodes[path]
        _discard(self.children, parent_path(path), path)
        _discard(self.ephemerals, node.ephemeral_owner, path)


def parent_path(path: str) -> str:
    """Return the path of a znode's parent; the root's is the root."""
    return path.rpartition("/")[0] or "/"


def _owner(operation: Create, session: int) -> int:
    """Return the ephemeral_owner of a created znode (`org.apache.zookeeper.server.EphemeralType`)."""
    if operation.kind == "container":
        return _CONTAINER_OWNER
    if operation.kind == "ttl":
        return _TTL_OWNER | operation.ttl
    return session if operation.ephemeral else 0


def _is_session(owner: int) -> bool:
    """Whether an ephemeral_owner is a session, not nobody, a container's or a TTL node's mark."""
    return owner not in (0, _CONTAINER_OWNER) and owner & _TTL_OWNER != _TTL_OWNER


def _discard(sets: dict, key: str | int, path: str) -> None:
    """Take a path out of the set of a key, and the key away with its last path."""
    paths = sets.get(key)
    if paths is not None:
        paths.discard(path)
        if not paths:
            del sets[key]
