"""Tells why a record is explained by no step: the state before it, what its writer may be doing, what was allowed."""

from kafkaproof.checker.model.refusals import told
from kafkaproof.spec.election.broker_state import Doing
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.traces.explain.election.observation import Observation
from kafkaproof.traces.explain.election.possibilities import Possibilities, Shared
from kafkaproof.traces.explain.election.single_steps import Local, Outcome
from kafkaproof.traces.zookeeper.transactions import Transaction

_MOST = 6


def reason_for(
    possible: Possibilities, transaction: Transaction, broker: int, observation: Observation, after: Shared
) -> str:
    """The reason in words, in one line."""
    before = possible.shared
    parts = [f"{transaction.form()} by broker {broker}, session {transaction.session:#x}"]
    if after != before:
        parts[0] += f", which makes {shared_text(after)}"
    if observation.state:
        parts[0] += f", which writes controller epoch {observation.state.controller_epoch}"
    parts.append(f"before it {shared_text(before)}")
    parts.append(f"broker {broker} may be: {_beliefs(possible, broker)}")
    if observation.candidates:
        parts += [
            _verdict(possible, broker, candidate.name, observation)
            for candidate in observation.candidates
            if possible.steps.has(candidate.name)
        ] or [f"{possible.steps.model.variant} has no such step"]
    parts.append(f"allowed there: {_allowed(possible, broker)}")
    return "; ".join(parts)


def shared_text(shared: Shared) -> str:
    """What is shared, in words."""
    controller = "no /controller" if shared.controller is None else f"/controller of broker {shared.controller}"
    if shared.epoch < 0:
        return f"{controller}, no /controller_epoch"
    return f"{controller}, /controller_epoch {shared.epoch} (version {shared.version})"


def _verdict(possible: Possibilities, broker: int, name: str, observation: Observation) -> str:
    """What a transition would have been answered, and what it would have made."""
    known = observation.known.controller_epoch if observation.known else 0
    readied = list(possible.readied(broker, name, known))
    outcomes = [outcome for local, scene in readied if (outcome := possible.steps.take(name, ANSWERED, local, scene))]
    if not outcomes:
        refusals = filter(None, (possible.steps.refusal(name, *each) for each in readied[:_MOST]))
        return f"{name} is not enabled: {told(refusals)}"
    texts = sorted({_outcome_text(possible, broker, outcome) for outcome in outcomes})
    return f"{name} would be {' or '.join(texts)}"


def _outcome_text(possible: Possibilities, broker: int, outcome: Outcome) -> str:
    text = f"answered {outcome.answer}" if outcome.answer else "done"
    if outcome.term:
        text += f" in epoch {outcome.term}"
    after = possible.absolute(broker, outcome.scene)
    return text if after == possible.shared else f"{text} and make {shared_text(after)}"


def _beliefs(possible: Possibilities, broker: int) -> str:
    texts = sorted({belief_text(possible, local) for local in possible.sets[broker]})
    more = f" and {len(texts) - _MOST} more" if len(texts) > _MOST else ""
    return ", ".join(texts[:_MOST]) + more


def belief_text(possible: Possibilities, local: Local) -> str:
    """What a broker is, by one of its local states."""
    field = possible.steps.field
    if not field(local, "session"):
        return "down"
    epoch = field(local, "epoch")
    text = f"controller of epoch {epoch}" if epoch else "not controller"
    doing = Doing.names[field(local, "doing")]
    text += "" if doing == "IDLE" else f" ({doing})"
    return text if field(local, "client.session") else f"{text}, its session over"


def _allowed(possible: Possibilities, broker: int) -> str:
    """The steps that the broker could take there, with their answers."""
    steps = set()
    for name in possible.logged:
        for local, scene in possible.readied(broker, name, 0):
            if outcome := possible.steps.take(name, ANSWERED, local, scene):
                steps.add(f"{name} -> {outcome.answer}" if outcome.answer else name)
    return ", ".join(sorted(steps)) or "nothing"
