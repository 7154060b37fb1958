"""The seams of a group to its clients: requests as they come, answers as they go out when their step is recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kafkaproof.impl.protocol.offset_records import Committed, Member
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.spec.group import network
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, only
from kafkaproof.spec.running.group_answers import Answering


@dataclass
class Asked:
    """A request of a client: `kind` as the specification has it, the numbers in it, and the call to be answered.

    `name` is the member id that the client named, or that it is given; `member` is who joins; `instance` the number of
    its group.instance.id, if any, whose name is `instance_name`; `told`: it may be told a member id;
    `offsets` are those that it commits, `refused` the partitions of the commit that have an answer of their own.
    """

    kind: int = network.NOTHING
    id: int = NOBODY
    known: int = 0
    generation: int = 0
    leading: int = 0
    name: str = ""
    instance: int = NOBODY
    instance_name: str = ""
    told: bool = True
    member: Member | None = None
    offsets: dict[tuple[str, int], Committed] | None = None
    refused: dict[tuple[str, int], str] = field(default_factory=dict)
    call: Call | None = None

    def recorded(self) -> dict:
        """The request as it is recorded."""
        told = {
            "kind": network.Request.names[self.kind],
            "id": self.id,
            "known": self.known,
            "generation": self.generation,
            "leading": self.leading,
            "name": self.name,
        }
        if self.instance != NOBODY:
            told["instance"] = self.instance_name
        if not self.told:
            told["told"] = 0
        if self.member:
            told["protocols"] = [name for name, _ in self.member.protocols[:2]]
        if self.offsets is not None:
            told["offsets"] = [[*place, each.offset] for place, each in self.offsets.items()]
        return told


class GroupNetwork(Answering):
    """The seams to clients, each the one of its name in `kafkaproof.spec.group.network`.

    `current` is the request at hand, which is that of client 0 there until it is kept; `kept` are those whose answers
    are due later, each at a number of its own. `verdict` is what the last step has answered, None for nothing;
    `outbox` are answers, which go out when the step is recorded; `released` the numbers of members whose parked syncs
    were answered.
    """

    def __init__(self):
        self.current = Asked()
        self.kept: dict[int, Asked] = {}
        self.verdict: int | None = None
        self.m = 0
        self.content: Callable[..., dict] = lambda asked, **told: told
        self.outbox: list[tuple[int, Call, str, dict]] = []
        self.released: list[int] = []

    def begin(self, asked: Asked) -> None:
        """Take up a request; its client gets the least number that no waiting client has."""
        self.current, self.m = asked, next(m for m in range(len(self.kept) + 1) if m not in self.kept)
        self.kept[self.m] = asked

    def end(self) -> None:
        """The step is over: a request that was accepted is answered with NONE, or kept for later."""
        if self.verdict == network.NONE:
            self._give(1 << self.m, network.NONE)
        elif self.verdict not in (network.PARKED, network.STORED):
            self.kept.pop(self.m, None)
        self.current = Asked()

    def asked(self, m, late):
        """What is asked: leaving is late in the specification, all else is waited for."""
        kind = self.current.kind
        return kind if bool(late) == (kind == network.LEAVE) else network.NOTHING

    def id_of(self, m, late):
        """The member id in the request, or that would be drawn."""
        return self.current.id

    def id_known(self, m, late):
        """Whether the request has a member id."""
        return self.current.known

    def instance(self, m):
        """The group.instance.id in the request, as a set."""
        return 0 if self.current.instance == NOBODY else only(self.current.instance)

    def may_be_told_id(self, m):
        """Whether it may be told a member id to join with."""
        return int(self.current.told)

    def generation_of(self, m, late):
        """The generation in the request."""
        return self.current.generation

    def has_assignment(self, m, late):
        """Whether a SyncGroup has an assignment."""
        return self.current.leading

    def answer(self, m, late, verdict):
        """Answer the request with an error; what is accepted is answered by what follows, or later."""
        self.verdict = verdict
        if verdict not in (network.NONE, network.PARKED, network.STORED, network.MEMBER_ID_REQUIRED):
            self._give(1 << m, verdict)
        return verdict

    def answer_operator(self, verdict):
        """The same for a client that is no member; who deletes groups is answered about all of them at once."""
        if self.current.kind == network.NOTHING:
            self.verdict = verdict
            return verdict
        return self.answer(self.m, 0, verdict)

    def operator(self):
        """A client that commits without a group waits for the answer like any other."""
        return 1 << self.m

    def _give(self, clients, verdict, **told):
        for m in [m for m in self.kept if contains(clients, m)]:
            asked = self.kept.pop(m)
            if asked.kind == network.SYNC and asked is not self.current:
                self.released.append(asked.id)
            if asked.call:
                self.outbox.append((m, asked.call, network.Verdict.names[verdict], self.content(asked, **told)))
