"""Follows what is written below /consumers, record by record."""

from collections import defaultdict
from collections.abc import Callable

from kafkaproof.spec.consumer import offsets, rebalance, session
from kafkaproof.spec.consumer.properties import safety
from kafkaproof.traces.basics.columns import ByZxid
from kafkaproof.traces.evidence.accounts import Account
from kafkaproof.traces.explain.consumers.groups import Found, Group
from kafkaproof.traces.reading.cluster import below
from kafkaproof.traces.reading.sweep import Listener
from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, Delete, SetData, Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.consumers import (
    MemberPlace,
    PartitionPlace,
    offset_in,
    place_in_group,
    subscription_in,
    thread_in,
)
from kafkaproof.traces.zookeeper.znodes.topics import PlaceKind, place_of, topic_in


def _steps(*transitions: Callable) -> Account:
    """The steps that a record may be."""
    return Account("consumer", " or ".join(each.__name__ for each in transitions))


REGISTER, CLAIM, COMMIT = _steps(session.register), _steps(rebalance.claim), _steps(offsets.commit)
RELEASE = _steps(rebalance.release, rebalance.undo)
_WRITES = (Create, SetData, Delete)


class OldConsumers(Listener):
    """Collects what is `found`, what each record is (`accounts`), and what no step explains (`problems`).

    `root`: the chroot of the cluster; `names_are_true`: ids sort as they did, which pseudonyms do not.
    """

    def __init__(self, root: str, names_are_true: bool = True):
        self.found, self.problems = Found(), list[str]()
        self.accounts: ByZxid[Account] = ByZxid()
        self._root, self._names_are_true = root, names_are_true
        self._sizes: defaultdict[str, set[int]] = defaultdict(set)
        self._groups: dict[str, Group] = {}

    def begin(self, tree: Tree, standing) -> None:
        """Begin with the topics, members and owners that there are."""
        self._tree = tree
        for path, node in tree.nodes.items():
            known = below(self._root, path) or ""
            self._size(known, node.data)
            if isinstance(place := place_in_group(known), MemberPlace):
                self._group(place).register(place.member, node.ephemeral_owner, subscription_in(node.data))
            elif place and not place.of_offset and (thread := thread_in(node.data)):
                self._group(place).claimed[thread.member].add((place.topic, place.partition))

    def before(self, transaction: Transaction) -> None:
        """Judge a record by the tree before it."""
        if transaction.failed:
            return
        for operation in transaction.operations:
            if isinstance(operation, CloseSession):
                for path in self._tree.ephemerals.get(transaction.session, ()):
                    self._remove(path)
            elif isinstance(operation, _WRITES):
                self._write(transaction, operation)

    def end(self) -> None:
        """The log is over: what was claimed in a session that is unknown to the end is told."""
        self.found.groups = len(self._groups)
        self.found.members = sum(len(group.members) for group in self._groups.values())
        self.problems += [text for group in self._groups.values() for text in group.early.values()]

    def _group(self, place: MemberPlace | PartitionPlace) -> Group:
        return self._groups.setdefault(place.group, Group(self._sizes))

    def _size(self, path: str, data: bytes | None) -> None:
        place = place_of(path)
        if place and place.kind == PlaceKind.TOPIC and (topic := topic_in(data)):
            self._sizes[place.topic].add(len(topic.partitions))

    def _remove(self, path: str) -> None:
        place = place_in_group(below(self._root, path) or "")
        if isinstance(place, MemberPlace):
            self._group(place).leave(place.member)

    def _write(self, transaction: Transaction, operation: Create | SetData | Delete) -> None:
        path = below(self._root, operation.path) or ""
        if not isinstance(operation, Delete):
            self._size(path, operation.data)
        place = place_in_group(path)
        if isinstance(place, MemberPlace):
            self._registration(transaction, operation, place)
        elif place and place.of_offset and not isinstance(operation, Delete):
            self._offset(transaction, operation, place)
        elif place and not place.of_offset:
            self._owner(transaction, operation, place)

    def _registration(self, transaction, operation, place: MemberPlace) -> None:
        if isinstance(operation, Create):
            self._group(place).register(place.member, transaction.session, subscription_in(operation.data))
            self._is(transaction, REGISTER)
        elif isinstance(operation, Delete):
            self._group(place).leave(place.member)

    def _owner(self, transaction, operation, place: PartitionPlace) -> None:
        group, node = self._group(place), self._tree.nodes.get(operation.path)
        if isinstance(operation, Create):
            thread = thread_in(operation.data)
            if why := group.why_not_claimed(place, thread, self._names_are_true):
                self.problems.append(_told(transaction, operation, why))
                return
            self._is(transaction, CLAIM)
            if thread and group.member_of(transaction.session) != thread.member:
                never = _told(transaction, operation, "the owner never registers in this session")
                group.early.setdefault((thread.member, transaction.session), never)
        elif isinstance(operation, Delete) and (name := group.member_of(transaction.session)):
            if (place.topic, place.partition) not in group.claimed[name]:
                self.problems.append(_told(transaction, operation, f"{name} has never claimed this partition"))
                return
            self._is(transaction, RELEASE)
            if node and node.ephemeral_owner != transaction.session:
                self.found.violated[safety.deletes_its_own.__name__].note(transaction.zxid)

    def _offset(self, transaction, operation, place: PartitionPlace) -> None:
        group, node = self._group(place), self._tree.nodes.get(operation.path)
        former, offset = offset_in(node.data) if node else None, offset_in(operation.data)
        if (place.topic, place.partition) in group.claimed[group.member_of(transaction.session) or ""]:
            self._is(transaction, COMMIT)
        if former is not None and offset is not None and offset < former:
            self.found.violated[safety.offset_never_falls.__name__].note(transaction.zxid)

    def _is(self, transaction: Transaction, step: Account) -> None:
        self.accounts.append(transaction.zxid, step)
        self.found.steps[step.name] += 1


def _told(transaction: Transaction, operation, why: str) -> str:
    return f"{transaction.zxid:#x}: session {transaction.session:#x}: {operation.form()}: {why}"
