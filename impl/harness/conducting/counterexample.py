"""A counterexample that `kafkaproof check` has found, read from its run directory, to drive a running cluster along."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from kafkaproof.impl.harness.conducting import replica_messages as plane_contents
from kafkaproof.impl.harness.conducting.conductor import LONG
from kafkaproof.impl.harness.conducting.running_model import RunningModel
from kafkaproof.impl.harness.driving.cluster import Size
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.election import active_controller, requests, session
from kafkaproof.spec.election.broker_state import CLEANING, LOADING
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.language.domains import Scope, values
from kafkaproof.spec.language.model import Model, Transition
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.language.steps import Step, by_name, parse_step
from kafkaproof.spec.partition import failover, replica
from kafkaproof.spec.partition.history.leader_zk import isr_notification
from kafkaproof.spec.partition.network import arriving, drop_requests
from kafkaproof.spec.partition.zookeeper import isr_changed
from kafkaproof.spec.running.processes import CLUSTER, ELECTION, PARTITION, why_not_run

ELSEWHERE = by_name(
    {
        active_controller.send: "control requests are steps of partition",
        requests.leader_and_isr: "control requests are steps of partition",
        requests.update_metadata: "UpdateMetadata is a step of partition",
        requests.stop_replica: "StopReplica is not sent",
        active_controller.write_state: "states are written by steps of partition",
        active_controller.write_when_asked: "states are written by steps of partition",
    }
)
"""Steps of *election* that stand for what runs as steps of *partition*, or does not run."""
PLACES = {"brokers", "replicas", "partitions", "epochs", "leader_epochs", "log", "records", "min_isr"}
"""The sizes that a cluster, or an array of its state, has: from 1 to the largest."""
SESSION = 300.0
"""No session ends by itself while steps are taken, in seconds."""


@dataclass(frozen=True)
class Counterexample:
    """A behaviour of `model` to a violation of the property `violated` (None: a path that violates nothing): the texts of
    its steps, and what the message says that each of them handles.
    """

    model: Model
    scope: Scope
    violated: str | None
    steps: tuple[str, ...]
    contents: tuple[dict[str, object], ...]

    @property
    def size(self) -> Size:
        """The cluster that it is a behaviour of."""
        brokers = self.scope["brokers"]
        return Size(
            brokers=brokers,
            replicas=self.scope.get("replicas", brokers),
            ordered=True,
            partitions=self.scope.get("partitions", 1),
            min_isr=self.scope.get("min_isr", 1),
            variant=self.model.variant,
            session_timeout=SESSION,
        )

    @property
    def has_planes(self) -> bool:
        """Whether its brokers have logs, as those of *cluster* have."""
        return self.model.system == CLUSTER

    @property
    def beginning(self) -> tuple[str, ...]:
        """The steps that lead to its first state, in which every broker is registered; none in *election*."""
        if self.model.system == ELECTION:
            return ()
        return tuple(
            str(Step(Transition(function).name, {"b": b}))
            for b in range(self.scope["brokers"])
            for function in (session.start, session.register_broker)
        )


def read_counterexample(directory: Path, wanted: str | None = None) -> Counterexample:
    """The counterexample of a run: that of the property `wanted`, or the shortest.

    Raises UserError, before anything has started, where there is none or one of its steps cannot be driven.
    """
    result = read_result(directory)
    system, variant, scope = (result[name] for name in ("system", "variant", "scope"))
    if reason := why_not_run(system, variant):
        raise UserError(f"{directory}: {reason}")
    shortest = shortest_of(directory, result, wanted)
    model = find(system, variant)[0]
    bounded = PLACES & scope.keys()
    if scope.keys() != model.scope.keys() or not all(1 <= scope[size] <= model.largest[size] for size in bounded):
        raise UserError(f"{directory}: {scope} is no scope of {system}")
    found = _Followed(directory, model, scope).all(shortest["trace"])
    steps, contents = tuple(text for text, _ in found), tuple(content for _, content in found)
    return Counterexample(model, scope, shortest["property"], steps, contents)


def shortest_of(
    directory: Path, result: dict, wanted: str | None, may_stand: bool = False, rounds: Collection[str] = ()
) -> dict:
    """The counterexample of the property `wanted` in a result, or the shortest; raises UserError where there is none.

    `may_stand`: a lasso counts where nothing more happens at its end; `rounds`: the properties of which any lasso
    counts.
    """
    found = [
        each
        for each in result["violations"]
        if wanted in (None, each["property"])
        and ("loop" not in each or may_stand and each["loop"] == len(each["trace"]) or each["property"] in rounds)
    ]
    if not found:
        raise UserError(f"{directory}: no counterexample of {wanted or 'any property'} in it that comes to an end")
    return min(found, key=lambda each: len(each["trace"]))


def read_result(run: Path) -> dict:
    """The result of a run, or the trace of a file, as `show` takes it; raises UserError where there is none."""
    file = run if run.is_file() else run / "result.json"
    if file != run and not (run / "run.json").is_file():
        why = "it has no run.json" if run.exists() else "there is no such file or directory"
        raise UserError(f"{run}: not a run directory of kafkaproof check: {why}")
    try:
        result = json.loads(file.read_text())
        if "trace" in result:
            result["violations"] = [{"property": result.get("property"), "trace": result["trace"]}]
        if result.get("model"):
            raise UserError(f"{file}: {result['model']} is a model of one's own, and nothing runs it")
        numbers = all(isinstance(size, int) for size in result["scope"].values())
        if numbers and all(isinstance(text, str) for each in result["violations"] for text in each["trace"]):
            return result
    except FileNotFoundError:
        raise UserError(f"{run}: the run has not ended: it has no result.json; resume it") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise UserError(f"{file}: not the result of a run")


def as_named_today(model: Model, step: Step) -> Step:
    """The same step; when it was recorded, the module of its transition may have had another name."""
    found = [t.name for t in model.transitions if t.function.__name__ == step.name]
    return step if step.transition in found or not found else replace(step, transition=found[0])


class _Followed:
    """Follows a counterexample in plain Python, to see whether each step is one that can be driven."""

    def __init__(self, directory: Path, model: Model, scope: Scope):
        self._directory, self._model, self._scope = directory, model, scope
        self._running = RunningModel(model.variant, scope) if model.system == CLUSTER else None

    def all(self, texts: list[str]) -> list[tuple[str, dict[str, object]]]:
        """For each step, its text and what the message says that it handles; raises UserError."""
        for arguments in Transition(self._model.initial).choices(self._scope):
            state = new_state(self._model.state, self._scope)
            self._model.initial(state, *arguments)
            try:
                followed = (self._follow(state, number, text) for number, text in enumerate(texts, 1))
                return [each for steps in followed for each in steps]
            except _NotEnabled as refused:
                last = refused
        raise UserError(str(last))

    def _follow(self, state: Plain, number: int, text: str) -> list[tuple[str, dict[str, object]]]:
        where = f"{self._directory}: step {number}, {text}"
        try:
            step = as_named_today(self._model, parse_step(text))
            transition = self._model.transition(step.transition)
            arguments = [self._within(step, name, domain) for name, domain in transition.arguments.items()]
        except (ValueError, KeyError):
            raise UserError(f"{where}: not a step of {self._model.system}, {self._model.variant}") from None
        if reason := why_not(self._model, state, step):
            raise UserError(f"{where}, cannot be driven: {reason}")
        before = self._running.told_first(step) if self._running else []
        for each in (*before, step):
            if self._running and (reason := self._running.take(each)):
                raise UserError(f"{where}, cannot be driven: {reason}")
        content = said_to(self._model, state, step)
        if not transition.function(state, *arguments):
            raise _NotEnabled(f"{where}: it is not enabled; the run is of another version of the specification")
        lose_undelivered(self._model, state, step)
        return [*((str(each), {}) for each in before), (str(step), content)]

    def _within(self, step, name, domain) -> int:
        if step.arguments[name] not in values(domain, self._scope):
            raise ValueError(f"{name} is out of its range")
        return step.arguments[name]


def why_not(model: Model, state: Plain, step: Step) -> str | None:
    """Why a step that is enabled in the model cannot be driven, None where it can."""
    b, name = step.arguments.get("b"), step.name
    if model.system == ELECTION:
        doing = state.brokers[b].doing if b is not None else None
        own = {active_controller.load.__name__: LOADING, active_controller.clean.__name__: CLEANING}
        if own.get(name, doing) != doing:
            return "it stands for the work of a controller, which is that of partition"
        return ELSEWHERE.get(name)
    if model.system == CLUSTER and (reason := plane_contents.why_not(state, step)):
        return reason
    if name in LONG and step.answer == "EXPIRED":
        return "its session would have to end in the middle of it"
    if name == replica.leader_and_isr.__name__ and not arriving(
        state.network, step.arguments["epoch"], step.arguments["p"], b
    ):
        return f"the request would have to reach the next process of broker {b}"
    if name == isr_notification.__name__ and not isr_changed(state.zk, step.arguments["p"]):
        return "an election has deleted the notification"
    return None


def said_to(model: Model, state: Plain, step: Step) -> dict[str, object]:
    """What the message says that a step handles: of LeaderAndIsr the newest of its epoch and partition."""
    if model.system == CLUSTER:
        return plane_contents.said_to(state, step)
    if model.system == ELECTION or step.name != replica.leader_and_isr.__name__:
        return {}
    request = state.network.requests[step.arguments["epoch"]][step.arguments["p"]]
    return {"leader": request.leader, "leader_epoch": request.leader_epoch}


def lose_undelivered(model: Model, state: Plain, step: Step) -> None:
    """Lose what is on its way to a process that has ended: no request reaches the next process of its broker.

    Nor does a notification reach the next controller: a process that is elected deletes all of them.
    """
    for b in range(len(state.brokers) if model.system == PARTITION else 0):
        if not state.brokers[b].up:
            drop_requests(state.network, b)
    if step.name == failover.elect.__name__:
        state.zk.isr_changed = state.zk.log_dir_events = state.zk.log_dir_read = 0


class _NotEnabled(Exception):
    """A step is not enabled; the message names it."""
