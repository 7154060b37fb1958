"""One group at one coordinator as a state of the specification, driven by its own transitions.

The state is made for two records at a time: their members and protocols are numbered, the log has what counts of the
records before. Requests are put where a client would have put them. Client 0 stands for all members that are not
static, each other client for a group.instance.id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.group import deletion, join, loading, membership, network, offsets, sync
from kafkaproof.spec.group.coordinator import MEMBER
from kafkaproof.spec.group.history.unlocked.coordinator import append
from kafkaproof.spec.group.network import put_request
from kafkaproof.spec.group.state import STATE, initial
from kafkaproof.spec.group.static import static_join
from kafkaproof.spec.group.transactions import commit_in_transaction
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.sets import only
from kafkaproof.spec.language.steps import names

CURRENT, LOCKED, UNLOCKED = "current", "locked", "unlocked"
_MODELS = {CURRENT: ("static", "transactional", "current"), LOCKED: ("locked",), UNLOCKED: ("unlocked",)}
_TAKEN = names(
    loading.take_over,
    loading.read,
    loading.load,
    join.first_join,
    join.join,
    join.complete_join,
    join.join_timeout,
    static_join,
    membership.expire,
    membership.leave,
    sync.sync,
    offsets.commit,
    offsets.reset_offset,
    commit_in_transaction,
    deletion.clean_up,
    deletion.topic_deleted,
    deletion.delete_offset,
    deletion.delete_group,
    deletion.remove_dead,
    deletion.bury,
    append,
)
LOG, MANY = 8, 1 << 30


def instance_of(_, m):
    """The group.instance.id in the requests of client `m`, as a set: client 0 has none."""
    return only(m) if m > 0 else 0


class Machine:
    """The transitions of a variant of *group* that are taken, by name; `replacements` are mistakes for tests."""

    def __init__(self, variant: str, replacements: Mapping[Callable, Callable] = {}):
        self.variant = variant
        ways = {network.instance: instance_of, network.shared_instance: instance_of}
        self.transitions: dict[str, Callable] = {}
        for name in _MODELS[variant]:
            for function in (transition.function for transition in find("group", name)[0].transitions):
                if function.__name__ in _TAKEN:
                    bound = rebind(rebind(function, ways), replacements) if replacements else rebind(function, ways)
                    self.transitions[function.__name__] = bound


@lru_cache
def machine_of(variant: str) -> Machine:
    """The machine of a variant without mistakes."""
    return Machine(variant)


class Coordinator:
    """A state with one broker, which owns the partition, and as many member ids and clients as are needed."""

    def __init__(self, machine: Machine, ids: int, instances: int = 0, topics: int = 2):
        self.machine = machine
        scope = {
            "brokers": 1,
            "clients": instances + 1,
            "ids": ids + 1,
            "generations": MANY,
            "epochs": 2,
            "log": LOG,
            "appends": LOG,
            "protocols": 3,
            "faults": MANY,
            "topics": topics,
            "periods": MANY,
            "prepared": 1,
        }
        self.state: Plain = new_state(STATE, scope)
        initial(self.state)

    @property
    def group(self) -> Plain:
        """The group in the broker's cache."""
        return self.state.brokers[0].group

    @property
    def log(self) -> Plain:
        """The offsets log."""
        return self.state.storage.log

    def members(self) -> list[int]:
        """The numbers of the members."""
        return [n for n, member in enumerate(self.group.members) if member.status == MEMBER]

    def take(self, transition: Callable, *arguments: int) -> bool:
        """Take a step; False where the variant has no transition of this name, or it is not enabled.

        A record that the step only prepares is appended at once.
        """
        bound = self.machine.transitions.get(transition.__name__)
        taken = bound is not None and bound(self.state, *arguments)
        if self.state.brokers[0].prepared.length:
            self.machine.transitions[append.__name__](self.state, 0, 0)
        return taken

    def load(self, unread: int = 0) -> bool:
        """The broker is elected, reads the log but for its last `unread` records, and owns the partition."""
        broker = self.state.brokers[0]
        broker.owned, broker.epoch = 0, 0
        readable = range(self.log.length - unread)
        read = self.take(loading.take_over, 0) and all(self.take(loading.read, 0) for _ in readable)
        return read and self.take(loading.load, 0)

    def ask(self, m: int, kind: int, id: int, known: int = 1, generation: int = 0, leading: int = 0) -> None:
        """A request of client `m` is about to arrive; leaving is late in the specification."""
        request = self.state.network.late[m] if kind == network.LEAVE else self.state.network.requests[m]
        put_request(request, kind, id, known, generation, leading)

    def appended(self) -> Plain | None:
        """The last record in the log."""
        return self.log.slots[self.log.length - 1] if self.log.length else None
