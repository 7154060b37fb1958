"""What Kafka writes to its znodes: for each the fields, their types, and the versions with their releases.

Sources: kafka.zk.ZkData (1.1 to 3.9); kafka.utils.ZkUtils, kafka.utils.ReplicationUtils, kafka.utils.LogDirUtils,
kafka.cluster.Broker, kafka.admin.AdminUtils, kafka.server.ZookeeperLeaderElector (0.8.0 to 1.0);
kafka.consumer.ZookeeperConsumerConnector, kafka.consumer.TopicCount, kafka.utils.Json (0.8.0 to 1.1).
Not declared, and not judged: access control and delegation tokens, which no transition reads.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from kafkaproof.spec.language.releases import Releases
from kafkaproof.traces.zookeeper.znodes.json_parts import MOST, parsed
from kafkaproof.traces.zookeeper.znodes.shapes import Shape, either, fields, listed, mapped, null, shown, text, whole

NEWEST = "3.9"
"""The newest version of Kafka whose formats are known, the last one with a ZooKeeper mode."""
_DIGITS = text(r"-?\d+", "text of digits")
_NUMBER = r"0|[1-9]\d{0,9}"
_ANY = text()
_ASSIGNED = mapped(_NUMBER, listed(whole()))
_PARTITION = {"topic": _ANY, "partition": whole()}
_LISTED = {"partitions": listed(fields(_PARTITION))}
_TOLD = {"partitions": listed(fields(_PARTITION), 1)}
_WANTED = {"partitions": listed(fields(_PARTITION | {"replicas": listed(whole())}))}
_LEVELS = mapped(".*", mapped(".*", whole()))
_PORT = whole(-1, 65535)
_BROKER = {"host": either(_ANY, null), "port": _PORT, "jmx_port": _PORT, "timestamp": _DIGITS}
_ENDPOINTS = _BROKER | {"endpoints": listed(text(r".+://.*:\d{1,5}", "endpoint such as PLAINTEXT://host:9092"), 1)}
_PROTOCOL = text("PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL", "security protocol")
_LISTENERS = _ENDPOINTS | {"listener_security_protocol_map": mapped(".+", _PROTOCOL)}
_TOPIC_ID = text(r"[A-Za-z0-9_-]{22}|topic-id-\d+", "id of a topic, nor a pseudonym of one")
_RACK = {"rack": either(_ANY, null)}
_PATTERN = text("static|white_list|black_list", "kind of subscription")
_UNESCAPED = (
    r'\{ "pattern":"(?:white|black)_list", "subscription":\{ "[^"]*\\[^"]*" : \d+ \}, "timestamp":"\d+", "version":1 \}'
    r'|\{"version":1,"subscription":\{"[^"]*\\[^"]*":\d+\},"pattern":"(?:white|black)_list","timestamp":"\d+"\}'
)
"""A subscription by a pattern with a backslash, which 0.8.0 and 0.8.1 did not escape: no member could read it."""


class Version(NamedTuple):
    """What Kafka writes under a "version": its fields, and in which releases; `keys`: all that there may be."""

    version: int | str
    releases: Releases
    shape: Shape
    keys: frozenset[str]


@dataclass(frozen=True, eq=False)
class Format:
    """A kind of znode: what it is, its path as brokers know it, and what Kafka writes to it.

    `plain`: what it is when it is no JSON object, None where it always is one, and `words` for that; `ephemeral`: it
    goes with its session;
    `sequence`: the beginning of its name, to which ZooKeeper appends a number of ten digits, None where it does not.
    """

    name: str
    path: str
    versions: tuple[Version, ...] = ()
    plain: str | None = None
    words: str = "a number"
    ephemeral: bool = False
    sequence: str | None = None

    @property
    def newest(self) -> int:
        """The newest known version, 0 where there is none."""
        return max((int(each.version) for each in self.versions), default=0)


class Fault(NamedTuple):
    """What is wrong with a content; `certain`: no Kafka writes it. Else it has a key that no known Kafka writes."""

    text: str
    certain: bool = True


def _of(version: int | str, releases: str, shapes: Mapping[str, Shape], optional: Mapping[str, Shape] = {}) -> Version:
    """A version by its fields; `releases` such as ``0.9 to 3.9``."""
    first, _, last = releases.partition(" to ")
    return Version(
        version, Releases(first, last or first), fields(shapes, optional), frozenset(("version", *shapes, *optional))
    )


STATE = Format(
    "the state of a partition",
    r"/brokers/topics/[^/]+/partitions/\d+/state",
    (
        _of(
            1,
            "0.8.0 to 3.9",
            {"leader": whole(-1), "leader_epoch": whole(), "controller_epoch": whole(), "isr": listed(whole())},
            {"leader_recovery_state": whole(0, 1)},
        ),
    ),
)
EPOCH = Format("the epoch of controllers", "/controller_epoch", plain=_NUMBER)
REASSIGN = Format("a list of reassignments", "/admin/reassign_partitions", (_of(1, "0.8.0 to 3.9", _WANTED),))
FORMATS = (
    STATE,
    EPOCH,
    REASSIGN,
    Format(
        "a topic",
        "/brokers/topics/[^/]+",
        (
            _of(1, "0.8.0 to 2.3", {"partitions": _ASSIGNED}),
            _of(
                2, "2.4 to 2.7", {"partitions": _ASSIGNED, "adding_replicas": _ASSIGNED, "removing_replicas": _ASSIGNED}
            ),
            _of(
                3,
                "2.8 to 3.9",
                {"partitions": _ASSIGNED, "adding_replicas": _ASSIGNED, "removing_replicas": _ASSIGNED},
                {"topic_id": _TOPIC_ID},
            ),
        ),
    ),
    Format(
        "the registration of a broker",
        r"/brokers/ids/\d+",
        (
            _of(1, "0.8", _BROKER),
            _of(2, "0.9 to 3.9", _ENDPOINTS),
            _of(3, "0.10.0 to 0.10.1", _ENDPOINTS, _RACK),
            _of(4, "0.10.2 to 3.9", _LISTENERS, _RACK),
            _of(5, "2.7 to 3.9", _LISTENERS | {"features": _LEVELS}, _RACK),
        ),
        ephemeral=True,
    ),
    Format(
        "the controller",
        "/controller",
        (
            _of(1, "0.8.0 to 3.3", {"brokerid": whole(), "timestamp": _DIGITS}),
            _of(2, "3.4 to 3.9", {"brokerid": whole(), "timestamp": _DIGITS, "kraftControllerEpoch": whole(-1)}),
        ),
        plain=_NUMBER,
        ephemeral=True,
    ),
    Format("a list of preferred elections", "/admin/preferred_replica_election", (_of(1, "0.8.0 to 3.9", _LISTED),)),
    Format("a request to delete a topic", "/admin/delete_topics/[^/]+", plain=""),
    Format(
        "a notification of ISRs",
        "/isr_change_notification/[^/]+",
        (_of(1, "0.9 to 3.9", _TOLD),),
        sequence="isr_change_",
    ),
    Format(
        "a notification of a failed log directory",
        "/log_dir_event_notification/[^/]+",
        (_of(1, "1.0 to 3.9", {"broker": whole(), "event": whole(1, 1)}),),
        sequence="log_dir_event_",
    ),
    Format(
        "an announcement of a configuration",
        "/config/changes/[^/]+",
        (
            _of(1, "0.9 to 0.10.0", {"entity_type": _ANY, "entity_name": _ANY}),
            _of(2, "0.10.1 to 3.9", {"entity_path": _ANY}),
        ),
        plain='".*"',
        sequence="config_change_",
    ),
    Format(
        "a configuration",
        "/config/(?:topics|clients|users|brokers|ips)/.+",
        (_of(1, "0.8.1 to 3.9", {"config": mapped(".*", _ANY)}),),
        plain="",
    ),
    Format("the cluster's id", "/cluster/id", (_of("1", "0.10.1 to 3.9", {"id": _ANY}),)),
    Format(
        "a block of producer ids",
        "/latest_producer_id_block",
        (_of(1, "0.11 to 3.9", {"broker": whole(-1), "block_start": _DIGITS, "block_end": _DIGITS}),),
        plain="",
    ),
    Format(
        "the levels of features",
        "/feature",
        (
            _of(1, "2.7 to 3.9", {"status": whole(0, 1), "features": _LEVELS}),
            _of(2, "3.3 to 3.9", {"status": whole(0, 1), "features": _LEVELS}),
        ),
    ),
    Format("the counter of broker ids", "/brokers/seqid", plain=""),
    Format("a partition", r"/brokers/topics/[^/]+/partitions(?:/\d+)?", plain=""),
    Format(
        "a member of a group of old consumers",
        "/consumers/[^/]+/ids/[^/]+",
        (_of(1, "0.8 to 1.1", {"subscription": mapped(".+", whole(1)), "pattern": _PATTERN, "timestamp": _DIGITS}),),
        plain=_UNESCAPED,
        ephemeral=True,
    ),
    Format(
        "the owner of a partition in a group",
        r"/consumers/[^/]+/owners/[^/]+/\d+",
        plain=r".+-\d+",
        words="the name of a thread",
        ephemeral=True,
    ),
    Format(
        "the offset of a group in a partition",
        r"/consumers/[^/]+/offsets?/[^/]+/\d+",
        plain=r"-?\d{1,19}",
        words="an offset",
    ),
    Format("a group of old consumers", "/consumers/[^/]+(?:/ids|/(?:owners|offsets?)(?:/[^/]+)?)?", plain=""),
)
"""Every kind of znode whose content is read, and those whose content Kafka leaves empty."""
_PATHS = [(re.compile(f"(.*?)(?:{each.path})", re.ASCII), each) for each in FORMATS]
_PLAIN = {each: re.compile(each.plain, re.DOTALL) for each in FORMATS if each.plain is not None}


@lru_cache(maxsize=100_000)
def format_of(path: str) -> tuple[str, Format] | None:
    """The chroot of a znode of a kind that is declared, and that kind; the shortest chroot counts."""
    found = [(match[1], each) for pattern, each in _PATHS if (match := pattern.fullmatch(path))]
    return min(found, key=lambda each: len(each[0]), default=None)


class Content(NamedTuple):
    """What a znode of a kind holds: the version that it names, None without one that is known; and what is wrong with it.

    `later`: the version that it names, where that is later than all that are known.
    """

    version: Version | None
    fault: Fault | None
    later: int | None


@lru_cache(maxsize=100_000)
def content_of(known: Format, data: bytes | None) -> Content:
    """What a znode of a kind holds."""
    value, problem = parsed(data)
    named = value.get("version") if isinstance(value, dict) else None
    version = next((each for each in known.versions if _same(each.version, named)), None)
    if known in _PLAIN and _is_plain(known, data):
        fault = None
    elif not known.versions:
        wanted = f"writes {known.words}" if known.plain else "leaves it empty"
        fault = Fault(f"it is {shown(data)}, and Kafka {wanted}")
    elif problem or not isinstance(value, dict):
        fault = Fault(f"it {problem or f'is {shown(value)}'}")
    else:
        fault = _fault_in(known, value, version)
    return Content(version, fault, _later(known, named))


def _later(known: Format, named: object) -> int | None:
    if isinstance(named, str) and named.isdecimal() and any(isinstance(v.version, str) for v in known.versions):
        named = int(named)
    return named if type(named) is int and 0 < known.newest < named else None


def _fault_in(known: Format, value: dict, version: Version | None) -> Fault | None:
    """Why no Kafka writes this object to a znode of a kind; None where one may."""
    if version is None:
        asked = "version is " + shown(value["version"]) if "version" in value else "it has no version"
        return Fault(f"{asked}; Kafka writes {_versions(known)}")
    if why := version.shape(value, "it"):
        return Fault(f"{why} (version {version.version}, Kafka {version.releases})")
    strange = sorted(value.keys() - version.keys)
    return _strange_key(known, version, strange) if strange else None


def _strange_key(known: Format, version: Version, keys: list[str]) -> Fault:
    """What is wrong with keys that a version does not have: no Kafka writes one of another version."""
    for each in known.versions:
        if own := [key for key in keys if key in each.keys]:
            return Fault(
                f"it has the key {shown(own[0])} of version {each.version} (Kafka {each.releases}), and its version is "
                f"{version.version}"
            )
    return Fault(f"it has the key {shown(keys[0])}, which no known Kafka writes", False)


def _is_plain(known: Format, data: bytes | None) -> bool:
    """Whether a content that is no JSON object is one that Kafka writes."""
    try:
        text = (data or b"").decode()
    except UnicodeDecodeError:
        return False
    return bool(_PLAIN[known].fullmatch(text)) and (known.plain != _NUMBER or int(text) <= MOST)


def _same(known: int | str, version: object) -> bool:
    return type(version) is type(known) and version == known


def _versions(known: Format) -> str:
    return ", ".join(f"{each.version!r} ({each.releases})" for each in known.versions)
