"""A counterexample is brought about in real brokers, or its control, and what comes of it is said."""

from __future__ import annotations

from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.harness.conducting.conductor import Departs
from kafkaproof.impl.harness.driving.cluster import TOPIC, wait_until
from kafkaproof.impl.harness.driving.watch import Watcher, known_state_in, read_znode, state_in
from kafkaproof.impl.harness.real.along import Along
from kafkaproof.impl.harness.real.behaviour import WHEN_LEFT, Behaviour
from kafkaproof.impl.harness.real.cluster import KafkaCluster
from kafkaproof.impl.harness.real.control import Control
from kafkaproof.impl.harness.real.moves import how
from kafkaproof.impl.harness.real.recorded import Recorded
from kafkaproof.impl.harness.real.records import ALL, Clients
from kafkaproof.impl.harness.real.verdict import ASKED, HOLDS, MENDED, RESTATED, Seen, look
from kafkaproof.impl.seams.zookeeper.znodes import Topic
from kafkaproof.spec.cluster.data_plane import produce
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import ids_in
from kafkaproof.spec.partition.faults import shut_down

ANSWERS, IN_SYNC, SOON = 20.0, 120.0, 5.0
"""How long a producer's answer is waited for, until all brokers are in sync again, and until a violation shows, in
seconds.
"""


def go_along(behaviour: Behaviour, cluster: KafkaCluster, watcher: Watcher, control: Control | None) -> None:
    """Drive real brokers along a counterexample, or its control, and keep a history of what is seen.

    Raises Departs where they go otherwise, and Unfinished where a step cannot be forced.
    """
    _tell_plan(behaviour, watcher, control)
    with Recorded(watcher, cluster, behaviour, control) as recorded:
        _drive(behaviour, cluster, recorded, control)


def _drive(behaviour: Behaviour, cluster: KafkaCluster, watcher: Recorded, control: Control | None) -> None:
    """Start the brokers, take the steps, and say what came of it; raises Departs and Unfinished."""
    along = Along(cluster, watcher, behaviour)
    if not behaviour.starts_brokers:
        _start(behaviour, cluster, along)
    watcher.begin()
    along.take_all()
    along.compare_end()
    if behaviour.violated in RESTATED:
        seen = _end(behaviour, cluster, watcher, along, control)
    else:
        seen = _look_closer(behaviour, cluster, along, control)
    if control:
        watcher.say(
            f"the control ends without the violation of {behaviour.violated}: ZooKeeper holds what the "
            "specification has then" + (", and every acknowledged record is there" if behaviour.has_planes else ""),
            control=str(control.omitted),
        )
        return
    watcher.say(
        f"reproduced: every step was taken, and ZooKeeper holds what the specification has at the end of the "
        f"counterexample of {behaviour.violated}" + "".join(f"; {text}" for text in seen),
        violates=behaviour.violated,
        reproduced=True,
        seen=seen,
    )


def _start(behaviour: Behaviour, cluster: KafkaCluster, along: Along) -> None:
    """Start all brokers, with the topic of a counterexample that begins when all run."""
    if behaviour.has_planes:
        cluster.create_logs(behaviour.assignments)
    cluster.start_brokers()
    along.await_started(*range(cluster.size.brokers))
    cluster.create_events(behaviour.assignments)


def _look_closer(behaviour: Behaviour, cluster: KafkaCluster, along: Along, control: Control | None) -> list[str]:
    """Hold nothing any more; what shows of a violated property in more than ZooKeeper, before that or after, in words.

    Raises Departs where nothing does, or in a control something.
    """
    seen = []
    if behaviour.violated in HOLDS:
        text, holds = HOLDS[behaviour.violated]
        violated = wait_until(lambda: not holds(cluster), SOON)
        seen += concluded(behaviour, text, violated, control)
    along.let_all_go()
    if behaviour.violated in MENDED:
        text, holds = MENDED[behaviour.violated]
        violated = not wait_until(lambda: holds(cluster), ANSWERS)
        seen += concluded(behaviour, f"{text}, for {ANSWERS:.0f} seconds in which nothing was held", violated, control)
    return seen


def concluded(behaviour: Behaviour, text: str, violated: bool, control: Control | None) -> list[str]:
    """What was seen, in words; raises Departs where nothing is violated, or in a control something is."""
    if control and violated:
        raise Departs(f"the control violates {behaviour.violated}, too: {text}")
    if not control and not violated:
        raise Departs(f"after the last step, {behaviour.steps[-1]}: it is not so that {text}")
    return [text] if violated else []


def _tell_plan(behaviour: Behaviour, watcher: Watcher, control: Control | None) -> None:
    """Say before anything starts how each step is brought about, and what is done besides."""
    if control:
        watcher.say(control.text, without=str(control.omitted), skipped=[str(step) for step in control.skipped])
    for number, step in enumerate(behaviour.steps, 1):
        for text in behaviour.besides(number):
            watcher.say(f"     {text}", besides=text)
        watcher.say(f"{number:3}  {step}: {how(step)}", plan=str(step), how=how(step))


def _end(
    behaviour: Behaviour, cluster: KafkaCluster, watcher: Recorded, along: Along, control: Control | None
) -> list[str]:
    """Restate the violated property on what is seen; raises Departs where it holds, or in a control does not."""
    clients, brokers = along.clients, behaviour.scope["brokers"]
    partitions = range(behaviour.size.partitions)
    if behaviour.has_planes:
        _await_answers(behaviour, clients)
    for step in control.skipped if control else []:
        if step.name == produce.__name__:
            _produce_anywhere(clients, step.arguments["b"], step.arguments["p"], brokers)
    if behaviour.violated in ASKED:
        along.let_all_go_but_fetches()
        _ask_leaders(behaviour, clients)
    now = later = [look(cluster, clients, p, brokers) for p in partitions]
    for seen in now:
        watcher.say(f"     at the end {seen.text}", now=seen.text)
    if behaviour.violated not in ASKED:
        await_end = _await_left if behaviour.violated in WHEN_LEFT else _await_in_sync
        await_end(behaviour, cluster, along)
        later = [look(cluster, clients, p, brokers) for p in partitions]
    for seen in later if later is not now else []:
        watcher.say(f"     later {seen.text}", later=seen.text)
    for each in clients.produced:
        watcher.say(
            f"     {each.value.decode()}: broker {each.broker} answered {each.error}, offset {each.offset}",
            produced=each.value.decode(),
            broker=each.broker,
            answer=each.error,
            offset=each.offset,
        )
    found = [text for before, after in zip(now, later) for text in RESTATED[behaviour.violated](before, after, clients)]
    along.let_all_go()
    if control and found:
        raise Departs(f"the control violates {behaviour.violated}, too: {'; '.join(found)}")
    if not control and not found:
        raise Departs(
            f"after the last step, {behaviour.steps[-1]}: {behaviour.violated} is not violated as seen from "
            f"outside; the specification has it violated"
        )
    return found


def _await_in_sync(behaviour: Behaviour, cluster: KafkaCluster, along: Along) -> None:
    """Wait until all brokers are in sync when nothing is held any more; raises Departs where they stay out of sync."""
    brokers, partitions = behaviour.scope["brokers"], range(behaviour.size.partitions)
    along.let_all_go()
    if not wait_until(lambda: all(_is_in_sync(cluster, p) for p in partitions), IN_SYNC):
        raise Departs("when nothing is held any more the brokers do not come to be in sync again")
    wait_until(lambda: all(_is_level(look(cluster, along.clients, p, brokers)) for p in partitions), ANSWERS)


def _await_left(behaviour: Behaviour, cluster: KafkaCluster, along: Along) -> None:
    """Wait until the brokers that shut down have gone, and lead nothing; raises Departs where they stay."""
    left = {step.arguments["b"] for step in behaviour.steps if step.name == shut_down.__name__}
    along.let_all_go()
    if not wait_until(lambda: not any(cluster.children[b].running for b in left), IN_SYNC):
        raise Departs(f"broker {min(left)} does not end")
    partitions = range(behaviour.size.partitions)
    if not wait_until(lambda: not any(known_state_in(cluster, p).leader in left for p in partitions), IN_SYNC):
        raise Departs(f"broker {min(left)} has gone, and is the leader yet")


def _ask_leaders(behaviour: Behaviour, clients: Clients) -> None:
    """A producer asks each leader that ZooKeeper names for acks=all, and waits for a while."""
    for p, state in enumerate(behaviour.states[-1].zk.partitions):
        record = clients.produce(state.leader, p, ALL)
        wait_until(lambda record=record: record.error is not None, ANSWERS)


def _await_answers(behaviour: Behaviour, clients: Clients) -> None:
    """Wait for the answers that producers get in the specification."""
    planes = behaviour.states[-1].planes
    waiting = {(p, id) for p, plane in enumerate(planes) for broker in plane.brokers for id in ids_in(broker.waiting)}
    numbers: dict[int, int] = {}
    for each in clients.produced:
        number = numbers[each.partition] = numbers.get(each.partition, -1) + 1
        if (each.partition, number) not in waiting:
            wait_until(lambda each=each: each.error is not None, ANSWERS)


def _produce_anywhere(clients: Clients, first: int, p: int, brokers: int) -> None:
    """A producer that looks for the leader: it asks one broker, and then the others."""
    record = clients.produce(first, p, ALL)
    for broker in sorted(range(brokers), key=lambda b: b != first):
        if broker != first:
            record.broker = broker
            clients.send(record)
        wait_until(lambda: record.error is not None, ANSWERS)
        if record.error == DONE:
            return


def _is_in_sync(cluster: KafkaCluster, p: int) -> bool:
    """Whether a partition has a leader, and all registered replicas of the behaviour are in its ISR."""
    state, topic = state_in(cluster, p), read_znode(cluster, Topic.path_of(TOPIC), Topic)
    if not state or not topic:
        return False
    replicas = set(topic.assignments[p]).intersection(cluster.registered())
    return state.leader in replicas and replicas <= set(state.isr)


def _is_level(seen: Seen) -> bool:
    """Whether consumers can read all that the leader's log holds, and the others have it."""
    log = seen.shown.get(seen.state.get("leader", NOBODY))
    return log is not None and all(each == log for each in seen.logs.values())
