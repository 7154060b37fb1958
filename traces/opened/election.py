"""The election before a record: what ZooKeeper holds, and what each broker may be doing."""

from functools import cached_property

from kafkaproof.spec.election.broker_state import IDLE
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.explain.election.divergence import belief_text
from kafkaproof.traces.explain.election.epoch_names import Names
from kafkaproof.traces.explain.election.observation import Observation
from kafkaproof.traces.explain.election.replay import Follower
from kafkaproof.traces.explain.election.single_steps import Local, Scene, renamed_scene
from kafkaproof.traces.opened.standing import ROOM, Choice, Standing, numbered
from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.reading.current_states import Standing as States
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.reading.sweep import sweep
from kafkaproof.traces.zookeeper.transactions import Create, SetData, Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.contents import state_in

_MOST_EPOCHS = 20
"""Up to so many epochs keep their numbers."""


class _Before(Follower):
    """Follows a log up to a record; knows then what stands before that."""

    def __init__(self, recording: Recording, variant: str, transaction: Transaction, root: str):
        self._earlier, self.transaction = recording.before(transaction.zxid), transaction
        super().__init__(self._earlier, variant, Members(recording, root), root)
        sweep(self._earlier, root, self)
        self.writer = self.members.broker_of.get(transaction.session)

    def begin(self, tree: Tree, standing: States) -> None:
        """Begin with what brokers may be doing by a tree."""
        self._standing = standing
        super().begin(tree, standing)

    @cached_property
    def seen(self) -> Observation:
        """What the record may be; nothing where it is in no table."""
        if self.writer is None:
            return Observation()
        write = self.transaction.operations[-1]
        state = state_in(write.data) if isinstance(write, Create | SetData) and write.path.endswith("/state") else None
        if state and isinstance(write, SetData):
            known = self._standing.at(write.path)
            found = self.observer.of_state(state, known, self.transaction.multi, self.writer)
        else:
            found = self.observer.of_broker(self.transaction, self.writer)
        return found or Observation()

    @property
    def state_epoch(self) -> int:
        """The controller epoch of the partition's state: that of the one which the record writes, else the present one."""
        return self.seen.known.controller_epoch if self.seen.known else max(self.possible.shared.epoch, 0)

    def in_order(self, broker: int) -> list[Local]:
        """What a broker may be doing, the likeliest first: that from which it may take the step that the record shows; it
        runs; it is controller if /controller names it; it is idle.
        """
        field, holds = self.possible.steps.field, self.possible.shared.controller == broker
        explaining = self._explaining(broker) if broker == self.writer else set()

        def key(local: Local) -> tuple:
            runs, rules = self.possible.steps.has_session(local), field(local, "epoch") > 0
            return local not in explaining, not runs, rules != holds, field(local, "doing") != IDLE, local

        return sorted(self.possible.sets[broker], key=key)

    def _explaining(self, writer: int) -> set[Local]:
        """The states from which a broker may take a step that is answered as the record shows."""
        found, steps = set(), self.possible.steps
        for name, answer in self.seen.candidates:
            for local, scene in self.possible.readied(writer, name, self.state_epoch) if steps.has(name) else ():
                outcome = steps.take(name, ANSWERED, local, scene)
                if outcome and outcome.answer == answer:
                    found.add(local)
        return found


def election_before(recording: Recording, variant: str, transaction: Transaction, root: str) -> Standing:
    """The election of all brokers before a record of a log."""
    before = _Before(recording, variant, transaction, root)
    possible, brokers, writer = before.possible, before.members.brokers, before.writer
    chosen = {broker: before.in_order(broker)[0] for broker in brokers}
    own = [chosen] if writer is None else [chosen | {writer: local} for local in before.in_order(writer)]
    controller = possible.shared.controller
    seat = brokers.index(controller) if controller in brokers else NOBODY
    scene = Scene(seat, possible.shared.epoch, possible.shared.version, before.state_epoch)
    names = _names(before, own, scene)
    small = renamed_scene(scene, names.small)
    sizes = {"brokers": len(brokers), "receivers": 1, "epochs": max(small.epoch, small.version) + ROOM}
    scope = {name: sizes.get(name, ROOM) for name in possible.steps.model.scope}
    choices = []
    for states in own:
        locals = [possible.steps.renamed(states[broker], names.small) for broker in brokers]
        text = (
            ""
            if writer is None
            else f"broker {writer}, which wrote the record, is {belief_text(possible, states[writer])}"
        )
        choices.append(Choice(text, possible.steps.together(scope, locals, small)))
    return Standing(possible.steps.model, scope, choices, _told(before, chosen, names))


def _names(before: _Before, own: list[dict[int, Local]], scene: Scene) -> Names:
    """Names for all epochs and versions: their own, where they are few."""
    values = before.possible.steps.epochs_in([local for states in own for local in states.values()], scene)
    return Names(range(-1, max(values) + 1) if max(values) <= _MOST_EPOCHS else values)


def _told(before: _Before, chosen: dict[int, Local], names: Names) -> tuple[str, ...]:
    possible, epoch = before.possible, before.possible.shared.epoch
    named = "" if names.small(epoch) == epoch else f" Controller epoch {names.small(epoch)} stands for {epoch}."
    others = [
        f"{broker} is {belief_text(possible, local)}" for broker, local in chosen.items() if broker != before.writer
    ]
    believed = (
        f" Of what each other broker may be doing one possibility is chosen: {', '.join(others)}." if others else ""
    )
    return (
        f"This is the election of all brokers before that. They are numbered from 0: {numbered(list(chosen))}."
        f"{named}{believed}",
        f"What is on its way between brokers is not known, and left out. The one partition of this model is taken to have "
        f"been written in controller epoch {before.state_epoch}.",
    )
