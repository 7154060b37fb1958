"""Follows the members of each group of old consumers, what they own and what they commit, as steps of *consumer*.

What a member has read is in no log. So a claim is a step if some members and some number of partitions, which ZooKeeper
has had since the member registered, give it that partition by one of the strategies. Another client library may assign
in another way: what no step explains is a problem that is told, and no divergence.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from kafkaproof.traces.explain.consumers.claims import claims, is_computed
from kafkaproof.traces.zookeeper.znodes.consumers import STATIC, PartitionPlace, Subscription, Thread

MOST_VIEWS = 64
"""So many memberships are tried to explain a claim; where there were more, it is not judged."""


@dataclass
class Member:
    """A member that has registered: what it subscribes to, and which membership was its first."""

    subscription: Subscription | None
    first_view: int


class Group:
    """One group: `members`, those that ever registered, by their ids; `sizes`: how many partitions topics ever had.

    `claimed`: the partitions that each member has claimed. `early`: claims in a session in which the member was not
    registered yet, by member and session, with what to tell if it never is.
    """

    def __init__(self, sizes: dict[str, set[int]]):
        self.members: dict[str, Member] = {}
        self.claimed: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
        self.early: dict[tuple[str, int], str] = {}
        self._sizes, self._of_session = sizes, dict[int, str]()
        self._present: dict[str, int] = {}
        self._views: list[frozenset[str]] = []

    def register(self, name: str, session: int, subscription: Subscription | None) -> None:
        """A member registers in a session."""
        member = self.members.setdefault(name, Member(subscription, len(self._views)))
        member.subscription = subscription
        self._of_session[session] = name
        self.early.pop((name, session), None)
        self._present[name] = session
        self._views.append(frozenset(self._present))

    def leave(self, name: str) -> None:
        """The id of a member is gone."""
        if self._present.pop(name, None) is not None:
            self._views.append(frozenset(self._present))

    def member_of(self, session: int) -> str | None:
        """The member that has registered in a session."""
        return self._of_session.get(session)

    def why_not_claimed(self, place: PartitionPlace, thread: Thread | None, names_are_true: bool) -> str | None:
        """Why no step of *consumer* claims a partition; None where one does.

        An assignment is asked only where `names_are_true`: it depends on the order of the ids.
        """
        if thread is None or (member := self.members.get(thread.member)) is None:
            return "the owner that it names has never registered"
        self.claimed[thread.member].add((place.topic, place.partition))
        if not names_are_true or self._is_given(member, place, thread):
            return None
        return "no members and partitions that there were since the owner registered give it this partition"

    def _is_given(self, member: Member, place: PartitionPlace, thread: Thread) -> bool:
        """Whether an assignment gives the partition to the thread, or none can be computed."""
        views = set(self._views[member.first_view :])
        if len(views) > MOST_VIEWS or not self._sizes.get(place.topic):
            return True
        return any(self._gives(view, place, thread) for view in views if thread.member in view)

    def _gives(self, view: frozenset[str], place: PartitionPlace, thread: Thread) -> bool:
        """The same for one membership."""
        named = {
            name: each.threads
            for name in view
            if (each := self.members[name].subscription) is not None and each.pattern == STATIC
        }
        if len(named) < len(view):
            return True
        threads = {name: each[place.topic] for name, each in named.items() if place.topic in each}
        if thread.member not in threads or len(set(threads.values())) > 1:
            return thread.member in threads
        several = any(len(each) > 1 for each in named.values())
        number, order = threads[thread.member], sorted(threads)
        for partitions in self._sizes[place.topic]:
            if several or not is_computed(len(order), number, partitions):
                return True
            for strategy in ("range", "roundrobin"):
                found = claims(strategy, len(order), order.index(thread.member), number, partitions)
                if found.get(place.partition) == thread.number:
                    return True
        return False


@dataclass
class Seen:
    """How often something was seen, and at which zxid first."""

    count: int = 0
    first: int = 0

    def note(self, zxid: int) -> None:
        """It is seen in a record."""
        self.first = self.first or zxid
        self.count += 1

    def as_json(self) -> dict | None:
        """An object, None where it was never seen."""
        return {"count": self.count, "first": hex(self.first)} if self.count else None


@dataclass
class Found:
    """What is found of old consumers: `steps` by their names; `violated`: properties of *consumer* that a log decides."""

    groups: int = 0
    members: int = 0
    steps: Counter = field(default_factory=Counter)
    violated: dict[str, Seen] = field(default_factory=lambda: defaultdict(Seen))

    def lines(self) -> list[str]:
        """The same in words."""
        steps = ", ".join(f"{name} {count:,}" for name, count in sorted(self.steps.items()))
        found = [f"old consumers: {self.groups:,} groups, {self.members:,} members; steps: {steps or 'none'}"]
        return found + [
            f"[yellow]{name}[/] of *consumer* does not hold here: first at {seen.first:#x}, {seen.count:,} records"
            for name, seen in sorted(self.violated.items())
        ]

    def as_json(self) -> dict:
        """The object `consumers` of `replay --json`."""
        return {
            "groups": self.groups,
            "members": self.members,
            "steps": dict(sorted(self.steps.items())),
            "violated": {name: seen.as_json() for name, seen in sorted(self.violated.items())},
        }
