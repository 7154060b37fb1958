"""Holds the log of a real cluster to the transitions of the election system."""

from collections.abc import Callable
from functools import cache
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from kafkaproof.spec.election import election, faults
from kafkaproof.spec.election.model import MODELS
from kafkaproof.spec.election.session import die
from kafkaproof.spec.language.steps import names
from kafkaproof.traces.evidence.accounts import Account
from kafkaproof.traces.evidence.controllers import Controllers
from kafkaproof.traces.explain.election.divergence import reason_for
from kafkaproof.traces.explain.election.first_states import begin
from kafkaproof.traces.explain.election.observation import CLOSES, OPENS, Observation, Observer
from kafkaproof.traces.explain.election.possibilities import Candidate, Possibilities, Shared, Undecided
from kafkaproof.traces.explain.election.result import Result
from kafkaproof.traces.explain.election.single_steps import ElectionSteps, Local
from kafkaproof.traces.explain.election.state_kinds import Kinds
from kafkaproof.traces.explain.election.steps import Made, Steps
from kafkaproof.traces.explain.election.violations import Violations
from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.reading.current_states import Standing
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.reading.state_records import StateWrite, StateWrites
from kafkaproof.traces.reading.sweep import Listener
from kafkaproof.traces.zookeeper.snapshot import Znode
from kafkaproof.traces.zookeeper.transactions import Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.contents import broker_in, number_in


class _Explained(NamedTuple):
    """What a record is, what there is to say of it as a step, and the properties it breaks."""

    account: Account
    made: Made
    broken: frozenset[str]


class _Divergence(Exception):
    """A record that no behaviour explains; the text is the reason. `by_a_state`: what was before it decides that."""

    def __init__(self, reason: str, by_a_state: bool = True):
        super().__init__(reason)
        self.by_a_state = by_a_state


class Follower(Listener):
    """Follows one log: the tree says what ZooKeeper holds, the possibilities what brokers may be doing.

    `result` is what is found, once the sweep has begun.
    """

    result: Result

    def __init__(self, recording: Recording, variant: str, members: Members, root: str):
        self.steps, self.variant, self.members, self.root = _steps_of(variant), variant, members, root
        self.observer = Observer(self.steps.has(election.register.__name__), root)
        self._recording, self._paths = recording, (f"{root}/controller", f"{root}/controller_epoch")
        self._alike: dict[tuple, tuple[_Explained, frozenset[Local]]] = {}
        self._over = False

    def begin(self, tree: Tree, standing: Standing) -> None:
        """Begin with what brokers may be doing by a tree."""
        self.tree = tree
        self.latest = {self.members.broker_of[s]: s for s in sorted(tree.sessions) if s in self.members.broker_of}
        self._shared: tuple[Znode | None, Znode | None, Shared] = None, None, shared_in(tree, self.root)
        self.possible = Possibilities(self.steps, self.members.brokers, self._shared[2])
        begin(self.possible, self.latest, self._registrations())
        self.result = Result(
            self.variant,
            len(self._recording.transactions),
            self.possible.shared,
            Controllers(self.members, self.root, tree.nodes),
            Violations(self.steps.properties),
            Steps(self._recording),
        )
        complete = self._recording.start.last_processed_zxid if self._recording.start else 0
        for transaction in takewhile(lambda t: t.zxid <= complete, self._recording.transactions):
            self.result.skip(transaction, "written while the snapshot was taken")

    def _registrations(self) -> dict[int, int]:
        paths = self.tree.children.get(f"{self.root}/brokers/ids", ())
        owners = [self.tree.nodes[path].ephemeral_owner for path in paths]
        return {self.members.broker_of[owner]: owner for owner in owners if owner in self.members.broker_of}

    def before(self, transaction: Transaction) -> None:
        """See what a record may be, while its session is as it was before."""
        if self._over:
            return
        broker = self._broker = self.members.broker_of.get(transaction.session)
        observation = None if broker is None else self.observer.of_broker(transaction, broker)
        self._observation = observation
        self._closed = broker is not None and observation != OPENS and transaction.session not in self.tree.sessions

    def after(self, transaction: Transaction, contradictions: tuple[str, ...]) -> None:
        """Explain a record; where nothing does, what comes after it is not followed."""
        if not self._over:
            self._try(transaction, self._follow, transaction, contradictions)

    def state_written(self, write: StateWrite, contradictions: tuple[str, ...]) -> None:
        """Explain a record that sets a partition's state."""
        if self._over:
            return
        transaction = write.transaction
        broker = self._broker = self.members.broker_of.get(transaction.session)
        self._observation = None if broker is None else self.observer.of_state(*write[-3:], broker)
        self._closed = broker is not None and transaction.session not in self.tree.sessions
        if broker is None or self._closed or contradictions:
            self._try(transaction, self._follow, transaction, contradictions)
        else:
            self._try(transaction, self._of_broker, transaction, broker, self._observation, self._shared[2])

    def states_written(self, writes: StateWrites) -> None:
        """Explain many such records: those of a kind that leaves its broker as it is all at once."""
        if self._over:
            return
        kinds, row = Kinds(writes, self.members, self.observer.guarded), 0
        seen = [self._seen(writes, first) for first in kinds.rows.tolist()]
        while row < len(writes) and not self._over:
            explained = [self._settled(*each) for each in seen]
            known = np.array([each is not None for each in explained])[kinds.of[row:]]
            many = len(known) if known.all() else int(np.argmin(known))
            if many:
                self._count_many(writes.part(row, row + many), kinds.of[row : row + many], explained)
            else:
                self.state_written(writes.write(row), ())
            row += max(1, many)

    def _seen(self, writes: StateWrites, row: int) -> tuple[int, int | None, Observation | None]:
        """Session, broker and observation of a record."""
        session = int(writes.sessions[row])
        broker = self.members.broker_of.get(session)
        seen = None if broker is None else self.observer.of_state(*writes.write(row)[-3:], broker)
        return session, broker, seen

    def _settled(self, session: int, broker: int | None, observation: Observation | None) -> _Explained | None:
        """What a record is that changes nothing of what its broker may be doing; None where it may."""
        if observation is None or broker is None:
            return None
        if session not in self.tree.sessions or self._shared[2] != self.possible.shared:
            return None
        possible = self.possible.sets[broker]
        explained, left = self._alike.get((session, broker, possible, self._shared[2], observation.sign), (None, None))
        return explained if left == possible else None

    def _try(self, transaction: Transaction, explain: Callable, *arguments) -> None:
        """Explain a record, or note why nothing is followed from here on."""
        try:
            explain(*arguments)
        except _Divergence as divergence:
            self.result.diverge(transaction, str(divergence), divergence.by_a_state)
        except Undecided as undecided:
            self.result.undecided = f"{transaction.zxid:#x}: {undecided}"
            self.result.last = transaction.zxid - 1
        self._over = bool(self.result.divergence or self.result.undecided)

    def _follow(self, transaction: Transaction, contradictions: tuple[str, ...]) -> None:
        """Explain one record; raises _Divergence or Undecided."""
        broker, observation = self._broker, self._observation
        if self._closed:
            if not transaction.failed:
                raise _Divergence(
                    f"{transaction.form()} by broker {broker}, but its session {transaction.session:#x} is not open"
                )
            self.result.skip(transaction, "requests in a session that is over")
            return
        if contradictions:
            raise _Divergence(f"ZooKeeper cannot have written this: {'; '.join(contradictions)}", by_a_state=False)
        after = self._now()
        if broker is None:
            self._of_tool(transaction, after)
        elif observation == CLOSES:
            self._close_session(transaction, broker, after)
        else:
            self._of_broker(transaction, broker, observation, after)
        if (removed := self.observer.unregisters(transaction)) is not None:
            self.possible.unregister(removed)
        if not transaction.failed:
            self.result.controllers.add(transaction)

    def _now(self) -> Shared:
        """What the tree says of /controller and /controller_epoch."""
        controller, epoch = (self.tree.nodes.get(path) for path in self._paths)
        if self._shared[0] is not controller or self._shared[1] is not epoch:
            self._shared = controller, epoch, shared_in(self.tree, self.root)
        return self._shared[2]

    def _of_tool(self, transaction: Transaction, after: Shared) -> None:
        """A record of a session that is no broker's: an operator's step, or of no concern."""
        name = self.observer.of_operator(transaction)
        if name is None and after == self.possible.shared:
            self.result.skip(transaction, self.observer.kind_of_tool(transaction))
        elif name is None or not self.steps.has(name) or not self.possible.settle_operator(name, after):
            raise _Divergence(
                f"{transaction.form()} by session {transaction.session:#x}, which is no broker's: "
                f"{self.result.variant} has no such step"
            )
        else:
            self.result.accounts.append(transaction.zxid, Account("election", name))
            made = Made(transaction.session, None, Candidate(name, None), 0, self.possible.shared, ())
            self.result.steps.add(transaction, made)

    def _close_session(self, transaction: Transaction, broker: int, after: Shared) -> None:
        """The session ends of a broker's process, or of its former process, or one that owns nothing any more."""
        ends = names(faults.stop, die) if transaction.cxid else names(faults.expire_session, faults.expire_orphan)
        present = self.latest.get(broker) == transaction.session

        def lives(local: Local) -> bool:
            return present and self.steps.has_session(local)

        found = [
            explanation
            for explanation in self.possible.outcomes(broker, [Candidate(name, None) for name in ends], after)
            if (explanation.candidate.name == faults.expire_orphan.__name__) != lives(explanation.before)
        ]
        owns_nothing = set()
        if after == self.possible.shared:
            states = self.possible.sets[broker]
            owns_nothing = {local for local in states if not self.steps.orphaned(local) and not lives(local)}
        observation = CLOSES if found else Observation(outside="sessions that own nothing any more")
        explained = self._settle(transaction, broker, observation, found, owns_nothing, after)
        self._count(transaction, observation, explained)

    def _of_broker(self, transaction: Transaction, broker: int, observation: Observation | None, after: Shared) -> None:
        """Find the steps that may have made a record; one that changes nothing shared is found once for all alike."""
        if observation is None:
            raise _Divergence(
                f"{transaction.form()} by broker {broker}: no step of {self.result.variant}, and no kind "
                "of record outside of the election",
                by_a_state=False,
            )
        if observation == OPENS:
            self.latest[broker] = transaction.session
        if after != self.possible.shared:
            self._count(transaction, observation, self._of_broker_now(transaction, broker, observation, after))
            return
        key = (transaction.session, broker, self.possible.sets[broker], after, observation.sign)
        alike = self._alike.get(key)
        if alike is None:
            explained = self._of_broker_now(transaction, broker, observation, after)
            alike = self._alike[key] = explained, self.possible.sets[broker]
        explained, self.possible.sets[broker] = alike
        self._count(transaction, observation, explained)

    def _of_broker_now(self, transaction, broker, observation, after) -> _Explained:
        known = observation.known.controller_epoch if observation.known else 0
        term = observation.state.controller_epoch if observation.state else None
        found = self.possible.outcomes(broker, observation.candidates, after, known, term)
        if observation.otherwise and not found:
            observation = Observation(outside=observation.otherwise)
        same = observation.outside and after == self.possible.shared
        return self._settle(transaction, broker, observation, found, self.possible.sets[broker] if same else (), after)

    def _settle(self, transaction, broker, observation, found, unchanged, after) -> _Explained:
        """Go on from the explanations of a record; without one raise _Divergence."""
        if not found and not unchanged:
            raise _Divergence(reason_for(self.possible, transaction, broker, observation, after))
        broken = self._broken_by_state(broker, observation)
        self.possible.settle(broker, found, after, unchanged)
        if observation.outside:
            made = self._made(transaction, broker, Candidate("outside", None), 0, broken)
            return _Explained(Account(None, observation.outside), made, broken)
        if observation.applied:
            broken |= frozenset.intersection(*(explanation.outcome.broken for explanation in found))
        names = " or ".join(sorted({explanation.candidate.text for explanation in found}))
        made = self._made(transaction, broker, found[0].candidate, found[0].outcome.term, broken)
        return _Explained(Account("election", names), made, broken)

    def _made(self, transaction, broker, candidate, term, broken) -> Made:
        return Made(transaction.session, broker, candidate, term, self.possible.shared, tuple(sorted(broken)))

    def _count(self, transaction: Transaction, observation: Observation, explained: _Explained) -> None:
        """Note what a record is, and what it violates."""
        self.result.violations.add(transaction, explained.broken, observation)
        self.result.accounts.append(transaction.zxid, explained.account)
        if explained.account.system or explained.broken:
            self.result.steps.add(transaction, explained.made)

    def _count_many(self, writes: StateWrites, kinds: np.ndarray, explained: list[_Explained | None]) -> None:
        """The same for many records that set states."""
        each = [explained[kind] or explained[kinds[0]] for kind in range(len(explained))]
        self.result.violations.add_many(writes, [one.broken for one in each], kinds)
        self.result.accounts.extend(writes.zxids, kinds, [one.account for one in each])
        told = np.array([bool(one.account.system or one.broken) for one in each])[kinds]
        self.result.steps.made.extend(writes.zxids[told], kinds[told], [one.made for one in each])

    def _broken_by_state(self, broker: int, observation: Observation) -> frozenset[str]:
        """What a partition state as written violates, whoever wrote it."""
        if observation.state is None:
            return frozenset()
        known = observation.known.controller_epoch if observation.known else 0
        before = self.possible.scene(broker, known)
        return self.steps.judge(before, before._replace(state_epoch=observation.state.controller_epoch))


@cache
def _steps_of(variant: str) -> ElectionSteps:
    """The steps of a variant, and what is known of them, for all replays of a process."""
    return ElectionSteps(next(model for model in MODELS if model.variant == variant))


def shared_in(tree: Tree, root: str) -> Shared:
    """What a tree says of /controller and /controller_epoch."""
    controller, epoch = tree.nodes.get(f"{root}/controller"), tree.nodes.get(f"{root}/controller_epoch")
    holder = broker_in(controller.data) if controller else None
    number = number_in(epoch.data) if epoch else None
    return Shared(holder) if epoch is None or number is None else Shared(holder, number, epoch.version)
