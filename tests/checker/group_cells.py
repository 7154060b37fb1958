"""Which cells of the decision tables exploration comes to, with a step for each answer that is given there.

A request is told by the step that handles it and by what the broker holds of its sender before it. Where a group has
no members, nobody can tell a member's request from a former member's: it stands for all the rows of its kind.
"""

import numpy as np

from kafkaproof.checker.compile.expansion import Expansion, require_in_range
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.refine.numbered import field_values
from kafkaproof.checker.runs.table import Table
from kafkaproof.spec.group.coordinator import JOIN_PARKED, MEMBER, PENDING
from kafkaproof.spec.group.group_states import ABSENT, DEAD, EMPTY, GroupState
from kafkaproof.spec.group.network import Verdict
from kafkaproof.spec.language.domains import values

HEARTBEATS = ("heartbeat, member", "heartbeat, other generation", "heartbeat, not a member", "heartbeat, replaced")
MEMBERLESS = {
    "join.join": (
        "join, pending",
        "join, member, same",
        "join, leader, same",
        "join, member, changed",
        "join, id not in group",
        "join, nothing in common",
    ),
    "sync.sync": ("sync, member", "sync, leader", "sync, other generation", "sync, not a member", "sync, replaced"),
    "membership.heartbeat": HEARTBEATS,
    "membership.heartbeat_beside": HEARTBEATS,
    "membership.leave": ("leave, member", "leave, pending", "leave, not a member"),
    "offsets.commit": ("commit, member", "commit, other generation", "commit, not a member", "commit, replaced"),
}
PLAIN = {
    "offsets.reset_offset": "commit, no group",
    "transactions.commit_in_transaction": "commit, in a transaction",
    "deletion.delete_group": "delete",
    "validation.refuse_type": "join, another type",
    "validation.refuse_topic": "commit, no such topic",
    "membership.expire": "session ends",
    "membership.sync_timeout": "syncs are due",
}


class Steps:
    """Some steps of one transition: its arguments, and fields of the states before and after, as arrays."""

    def __init__(self, kernel, arguments, before, after):
        self._kernel, self.arguments = kernel, arguments
        self._before, self._after = before, after
        self.b = arguments["b"]

    def field(self, name, *indices):
        """A field of each state before: ``field("brokers[{}].owned", b)``."""
        sizes = [range(int(index.max(initial=0)) + 1) for index in indices]
        return self._chosen(self._before, name, sizes, indices)

    def group(self, name):
        """A field of broker b's group."""
        return self.field(f"brokers[{{}}].group.{name}", self.b)

    def state_after(self):
        """The group's state after the step."""
        return self._chosen(self._after, "brokers[{}].group.state", [range(int(self.b.max(initial=0)) + 1)], (self.b,))

    def every_member(self, name):
        """A field of all that broker b's group may know, shape (ids, n)."""
        ids = self._kernel.scope["ids"]
        return np.array([self.group(f"members[{id}].{name}") for id in range(ids)])

    def member(self, name, ids):
        """A field of what broker b's group knows of some ids; of nobody what it knows of the first."""
        return np.take_along_axis(self.every_member(name), np.maximum(ids, 0)[None], 0)[0]

    def _chosen(self, states, name, sizes, indices):
        if not indices:
            return field_values(self._kernel, [name], states)[:, 0]
        found = np.zeros(len(states), np.int64)
        for chosen in np.unique(np.array(indices), axis=1).T:
            here = np.all(np.array(indices) == chosen[:, None], axis=0)
            found[here] = field_values(self._kernel, [name.format(*chosen)], states[here])[:, 0]
        return found


def request(steps, name):
    """A field of the request that is handled."""
    m, late = steps.arguments["m"], steps.arguments.get("late", np.zeros_like(steps.b))
    of_late, of_present = (steps.field(f"network.{kind}[{{}}].{name}", m) for kind in ("late", "requests"))
    return np.where(late, of_late, of_present)


def instance_elsewhere(steps, ids):
    """Whether the sender's group.instance.id is that of another member."""
    shared = steps.arguments["m"] < 2
    return shared & np.any((steps.every_member("instance") & 1) > 0, axis=0) & (steps.member("instance", ids) & 1 == 0)


def nothing_in_common(steps):
    """Whether some member supports neither of the protocols that are offered, one by one."""
    status = steps.every_member("status")
    best, rest = steps.every_member("first"), steps.every_member("second")
    alone = [
        np.any((status == MEMBER) & (best != p) & (rest != p), axis=0)
        for p in (steps.arguments["first"], steps.arguments["second"])
    ]
    return alone[0] & alone[1]


def of_join(steps):
    """Rows of a JoinGroup with a member id."""
    ids, offered = request(steps, "id"), (steps.arguments["first"], steps.arguments["second"])
    status, leads = steps.member("status", ids), steps.group("leader") == ids
    same = (offered[0] == steps.member("first", ids)) & (offered[1] == steps.member("second", ids))
    same &= steps.arguments["changed"] == 0
    nothing = nothing_in_common(steps)
    waiting = steps.member("parked", ids) == JOIN_PARKED
    joined = (np.sum(steps.every_member("parked") == JOIN_PARKED, axis=0) > 0) & ~waiting & ~nothing
    known, pending = (status == MEMBER) & ~nothing, (status == PENDING) & ~nothing
    yield "join, nothing in common", nothing
    yield "join, pending", pending & ~joined
    yield "join, pending, one has joined", pending & joined
    yield "join, id not in group", (status != MEMBER) & (status != PENDING) & ~nothing & ~joined
    yield "join, member, same", known & same & ~leads & ~joined
    yield "join, leader, same", known & same & leads & ~joined
    yield "join, member, changed", known & ~same & ~joined
    yield "join, member, one has joined", known & joined


def of_member(kind, steps):
    """Rows of a request that names a generation."""
    ids = request(steps, "id")
    is_member = (ids >= 0) & (steps.member("status", ids) == MEMBER)
    replaced = instance_elsewhere(steps, ids) & ~is_member
    present = request(steps, "generation") == steps.group("generation")
    leads = (steps.group("leader") == ids) & (kind == "sync")
    yield f"{kind}, replaced", replaced
    yield f"{kind}, not a member", ~is_member & ~replaced
    yield f"{kind}, other generation", is_member & ~present
    yield f"{kind}, leader", is_member & present & leads
    yield f"{kind}, member", is_member & present & ~leads


def of_leave(steps):
    """Rows of LeaveGroup."""
    status = steps.member("status", steps.field("network.late[{}].id", steps.arguments["m"]))
    for name, is_so in (("member", status == MEMBER), ("pending", status == PENDING), ("not a member", status == 0)):
        yield f"leave, {name}", is_so


def of_static_join(steps):
    """Rows of the join of a static member whose instance is known, by whether the protocols are the former's."""
    ids = np.argmax(steps.every_member("instance") & 1, axis=0)
    same = steps.arguments["first"] == steps.member("first", ids)
    same &= steps.arguments["second"] == steps.member("second", ids)
    other = np.all([steps.arguments[name] != steps.group("protocol") for name in ("first", "second")], axis=0)
    yield "join, in place of a member", same
    yield "join, in place of a member, changed", other & ~nothing_in_common(steps)


def groupless(steps):
    """Whether broker b has no group, or a Dead one, of which nothing is known."""
    state = steps.group("state")
    return (state == ABSENT) | (state == DEAD)


def of_fetch(steps):
    """Rows of OffsetFetch."""
    stable, pending = steps.arguments["stable"] == 1, steps.group("pending") >= 0
    yield "fetch", ~stable
    yield "fetch, stable", stable & ~pending
    yield "fetch, stable, one is pending", stable & (pending | groupless(steps))


def of_deletion(steps):
    """Rows of OffsetDelete."""
    subscribed = (steps.group("generation") == 0) | (steps.group("topic") == 0)
    pending = (steps.group("pending") >= 0) & (~subscribed | (steps.group("state") == EMPTY))
    yield "delete offset", subscribed & ~pending
    yield "delete offset, not subscribed", (~subscribed & ~pending) | groupless(steps)
    yield "delete offset, one is pending", pending | groupless(steps)


def of_first_join(steps):
    """Rows of a JoinGroup without a member id."""
    joined = np.any(steps.every_member("parked") == JOIN_PARKED, axis=0)
    yield "join, nothing in common", nothing_in_common(steps)
    yield "join, no id", ~nothing_in_common(steps) & ~joined
    yield "join, no id, one has joined", ~nothing_in_common(steps) & joined


def of_flaw(steps):
    """Rows of a request that has a flaw of its own."""
    rows = ("without permission", "without a group id", "join, session too long", "commit, metadata too long")
    for flaw, row in enumerate(rows):
        yield row, steps.arguments["flaw"] == flaw


def of_removal(steps):
    """Rows of the removal of a static member by its instance."""
    known = np.any((steps.every_member("instance") >> steps.arguments["i"]) & 1, axis=0)
    yield "remove static", known | (steps.group("state") <= EMPTY) | (steps.group("state") == DEAD)


ROWS = {
    "join.first_join": of_first_join,
    "join.join": of_join,
    "sync.sync": lambda steps: of_member("sync", steps),
    "membership.heartbeat": lambda steps: of_member("heartbeat", steps),
    "membership.heartbeat_beside": lambda steps: of_member("heartbeat", steps),
    "membership.leave": of_leave,
    "offsets.commit": lambda steps: of_member("commit", steps),
    "offsets.fetch": of_fetch,
    "deletion.delete_offset": of_deletion,
    "static.static_join": of_static_join,
    "static.remove_static": of_removal,
    "validation.refuse": of_flaw,
} | {name: lambda steps, row=row: [(row, np.ones(len(steps.b), bool))] for name, row in PLAIN.items()}


def rows_of(name, steps):
    """(row, which of the steps) of a transition."""
    if name in MEMBERLESS:
        state = steps.group("state")
        unknown = (state == ABSENT) | (state == EMPTY) | (state == DEAD)
        unknown &= np.all(steps.every_member("status") == 0, axis=0)
        for row in MEMBERLESS[name]:
            yield row, unknown & (state != EMPTY) if row.endswith("pending") else unknown
        yield from ((row, mask & ~unknown) for row, mask in ROWS[name](steps))
    else:
        yield from ROWS[name](steps)


def columns_of(steps):
    """(column, which of the steps): the states of the group, behind the gate."""
    state = steps.group("state")
    owned, loading = (steps.field(f"brokers[{{}}].{name}", steps.b) == 1 for name in ("owned", "loading"))
    yield "loading", loading & ~owned
    yield "loading again", loading & owned
    yield "not owned", ~owned & ~loading & (state != DEAD)
    yield "unloaded", ~owned & ~loading & (state == DEAD)
    for code, name in enumerate(GroupState.names):
        yield name, owned & ~loading & (state == code)


class Cells:
    """All (row, column) of the tables that some step of `model` at `scope` is in, with {(answer, state after)}."""

    def __init__(self, model, scope):
        self.kernel, self.run = Kernel(model, scope, ()), Execution(model, scope)
        self.found: dict[tuple[str, str], set] = {}
        self._seen: set[tuple] = set()
        self._explore()

    def _explore(self):
        expansion, table = Expansion(self.kernel.compiled), Table(self.kernel.compiled.words)
        frontier = np.array([self.kernel.packing.pack(state) for state in self.run.initial_states()], np.uint64)
        table.insert(frontier)
        while len(frontier):
            fresh = [frontier[:0]]
            for out, origins, numbers in expansion.run(frontier):
                self._look(frontier[origins], numbers, out)
                fresh.append(out[table.insert(out)])
            require_in_range(self.kernel, expansion)
            frontier = np.concatenate(fresh)

    def _look(self, before, numbers, after):
        for i, transition in enumerate(self.kernel.model.transitions):
            here = (numbers >= self.kernel.bases[i]) & (numbers < self.kernel.bases[i + 1])
            if transition.name in ROWS and here.any():
                arguments = self._arguments(transition, numbers[here] - self.kernel.bases[i])
                steps = Steps(self.kernel, arguments, before[here], after[here])
                self._note(transition.name, steps, before[here], numbers[here])

    def _arguments(self, transition, rest):
        found = {}
        for name, domain in reversed(transition.arguments.items()):
            allowed = values(domain, self.kernel.scope)
            rest, position = np.divmod(rest, len(allowed))
            found[name] = allowed.start + position
        return found

    def _note(self, name, steps, before, numbers):
        ends, columns = steps.state_after(), list(columns_of(steps))
        for row, mask in rows_of(name, steps):
            for column, there in columns:
                for end in np.unique(ends[mask & there]):
                    if (row, column, end) not in self._seen:
                        self._seen.add((row, column, end))
                        for which in np.flatnonzero(mask & there & (ends == end))[[0, -1]]:
                            self._try(row, column, before[which], int(numbers[which]), GroupState.names[end])

    def _try(self, row, column, packed, number, end):
        """Take a step in plain Python, to see its answer."""
        transition, arguments = self.kernel.step(number)
        state = self.run.from_values(self.kernel.packing.unpack(packed))
        after = self.run.after(state, transition, arguments)
        broker = dict(zip(transition.arguments, arguments))["b"]
        assert GroupState.names[after.brokers[broker].group.state] == end
        answer = self.run.step(transition, arguments).answer
        assert answer is None or answer in Verdict.names
        self.found.setdefault((row, column), set()).add((answer, end))
