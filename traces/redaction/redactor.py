"""Rewrites transactions and snapshots: each name in paths and JSON becomes the pseudonym that it has everywhere.

A word that Kafka does not use itself (`words.py`) is taken for a name, so what is not known is hidden too.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from kafkaproof.traces.redaction import words
from kafkaproof.traces.zookeeper.snapshot import Snapshot
from kafkaproof.traces.zookeeper.transactions import Acl, CloseSession, Transaction
from kafkaproof.traces.zookeeper.znodes.json_parts import parsed

_NUMBER = re.compile(r"-?\d+")
_SETTING = re.compile(r"-?[\d.]+|\*|\d+:\d+(,\d+:\d+)*")
_SEQUENCE = re.compile(r"(isr_change|log_dir_event|config_change|acl_changes|token_change)_\d{10}")
_ENDPOINT = re.compile(r"(.*)://(.*):(-?\d+)", re.DOTALL)


class Redactor:
    """Knows the pseudonym of each name: ``topic-1``, ``host-2`` and so on, counted as they come.

    Two names of one sort never share one. Internal topics of Kafka keep their names, broker ids and numbers stay.
    """

    def __init__(self):
        self._pseudonyms: dict[tuple[str, str], str] = {}
        self._counts: Counter = Counter()

    def name(self, sort: str, name: str) -> str:
        """The pseudonym of a name of a sort, such as a topic, group, client, host or principal."""
        if name in words.KEPT.get(sort, ()):
            return name
        key = sort, name
        if key not in self._pseudonyms:
            self._counts[sort] += 1
            self._pseudonyms[key] = f"{sort}-{self._counts[sort]}"
        return self._pseudonyms[key]

    def transactions(self, found: Iterable[Transaction]) -> tuple[Transaction, ...]:
        """The records, rewritten."""
        return tuple(self.transaction(each) for each in found)

    def transaction(self, found: Transaction) -> Transaction:
        """A record, rewritten; the digest of the tree is left out."""
        return replace(found, operations=tuple(map(self._operation, found.operations)), trailer=b"")

    def snapshot(self, found: Snapshot) -> Snapshot:
        """A snapshot, rewritten."""
        nodes = {self.path(path): node._replace(data=self.data(path, node.data)) for path, node in found.nodes.items()}
        return replace(found, nodes=nodes)

    def _operation(self, operation):
        if isinstance(operation, CloseSession):
            return CloseSession(operation.paths and tuple(map(self.path, operation.paths)))
        changed = {}
        if hasattr(operation, "path"):
            changed["path"] = self.path(operation.path)
        if hasattr(operation, "data"):
            changed["data"] = self.data(operation.path, operation.data)
        if getattr(operation, "acl", None):
            changed["acl"] = tuple(map(self._acl, operation.acl))
        return replace(operation, **changed) if changed else operation

    def _acl(self, acl: Acl) -> Acl:
        return (
            acl
            if acl.scheme == "world"
            else replace(acl, scheme=self._scheme(acl.scheme), id=self.name("principal", acl.id))
        )

    def _scheme(self, scheme: str) -> str:
        return scheme if scheme in ("digest", "sasl", "ip", "auth", "x509", "super") else self.name("scheme", scheme)

    # Paths

    def path(self, path: str) -> str:
        """A path: its chroot, and each part of it that is a name."""
        chroot, known = _split(path)
        parts, tree = [self.name(words.CHROOT, part) if part else part for part in chroot], words.TREE
        for part in known:
            written, tree = self._part(part, tree)
            parts.append(written)
        return "/".join(parts)

    def _part(self, part: str, tree: dict) -> tuple[str, dict]:
        """One part of a path, and what may come below it."""
        if part in tree:
            return part, tree[part]
        for sort in tree:
            if sort.startswith("{"):
                return self._named(sort[1:-1], part), tree[sort]
        return self.name(words.ZNODE, part), {}

    def _named(self, sort: str, part: str) -> str:
        if sort == "number":
            return part if _NUMBER.fullmatch(part) or part == "<default>" else self.name(words.ZNODE, part)
        if sort == "sequence":
            return part if _SEQUENCE.fullmatch(part) else self.name(words.ZNODE, part)
        return self.name(sort, part)

    # What znodes hold

    def data(self, path: str, data: bytes | None) -> bytes | None:
        """What is written to a znode: JSON is rewritten, a number stays where Kafka writes one, all else is a name."""
        if not data:
            return data
        _, known = _split(path)
        if data.isdigit() and (known in (["controller"], ["controller_epoch"]) or known[2:3] == ["offsets"]):
            return data
        found, problem = parsed(data)
        if isinstance(found, dict):
            text = json.dumps(self._object("", found), separators=(",", ":"))
            return (text if problem is None else _with_a_key_twice(text)).encode()
        if isinstance(found, str):
            return json.dumps(self.name("topic", found)).encode()
        return self.name("data", data.hex()).encode()

    def _object(self, key: str, found: dict) -> dict:
        """A JSON object; `key`: below which it stands."""
        kind = str(found.get("entity_type", ""))
        changed: dict[str, object] = {}
        for name, value in found.items():
            if name == "entity_name":
                changed[name] = self.path(f"/config/{kind}/{value}").rpartition("/")[2]
            elif key == "config":
                changed[self._key(key, name)] = self._setting(value)
            else:
                changed[self._key(key, name)] = self._value(name, value, key)
        return changed

    def _key(self, key: str, name: str) -> str:
        """A key of a JSON object."""
        if key == "listener_security_protocol_map":
            return self._listener(name)
        if key == "subscription":
            return self.name("topic", name)
        if key == "config":
            return name if name in words.CONFIGS else self.name("setting", name)
        number = key in ("partitions", "adding_replicas", "removing_replicas") and _NUMBER.fullmatch(name)
        return name if number or name in words.KEYS else self.name("key", name)

    def _value(self, key: str, value: object, above: str = "") -> object:
        if isinstance(value, dict):
            return self._object(key, value)
        if isinstance(value, list):
            return [self._value(key, each, above) for each in value]
        if value is None or isinstance(value, bool) or isinstance(value, (int, float)) and key not in words.SORTS:
            return value
        written = self._text(key, str(value), above)
        return written if isinstance(value, str) else [written]

    def _text(self, key: str, text: str, above: str) -> str:
        if above == "listener_security_protocol_map":
            return text if text in words.PROTOCOLS else self.name("protocol", text)
        if text in words.ENUMERATED.get(key, ()) or key in words.NUMBERS and _NUMBER.fullmatch(text):
            return text
        if key == "entity_path":
            return self.path(f"/config/{text}").removeprefix("/config/")
        if key == "endpoints" and (found := _ENDPOINT.fullmatch(text)):
            return f"{self._listener(found[1])}://{self.name('host', found[2])}:{found[3]}"
        if key == "principal":
            kind, _, name = text.partition(":")
            return f"{kind}:{self.name('principal', name)}" if kind == "User" else self.name("principal", text)
        return self.name(words.SORTS.get(key, "text"), text)

    def _listener(self, name: str) -> str:
        return name if name in words.PROTOCOLS else self.name("listener", name)

    def _setting(self, value: object) -> object:
        """The value of a setting; a password, a mechanism or a class is none that stays."""
        text = str(value)
        return value if text in words.SETTINGS or _SETTING.fullmatch(text) else self.name("value", text)


def _with_a_key_twice(text: str) -> str:
    """A JSON object that has a key twice, as its content had before; the second one counts."""
    return text.replace("{", f"{{{text[1:].partition(':')[0]}:0,", 1)


def _split(path: str) -> tuple[list[str], list[str]]:
    """The parts of a path before the first that is Kafka's, and the others; what is before the first slash is empty."""
    parts = path.split("/")
    first = next((place for place, part in enumerate(parts) if place and part in words.TREE), len(parts))
    return parts[:first], parts[first:]
