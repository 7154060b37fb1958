"""Scenarios: what is done to a running cluster, step by step, to bring about a failure that Kafka once had."""

from __future__ import annotations

from collections.abc import Callable

from kafkaproof.impl.harness.conducting.conductor import Conductor
from kafkaproof.impl.harness.driving.cluster import Cluster
from kafkaproof.impl.harness.driving.watch import Watcher, epoch_in, known_state_in, state_in
from kafkaproof.spec.election.election import maybe_resign
from kafkaproof.spec.election.history.legacy import look_for_controller
from kafkaproof.spec.election.session import register_broker, start
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.partition.machines import write_leader

HOLD = write_leader.__name__
"""The step before which a controller sleeps."""
BROKER_1_WINS = (
    "faults.delete_controller()",
    "legacy.create(b=1) -> OK",
    "legacy.learn_epoch(b=1) -> NONODE",
    "legacy.raise_epoch(b=1) -> NONODE",
    "legacy.found_epoch(b=1) -> OK",
)
"""An operator deletes /controller, and broker 1 is elected in the first epoch."""


def split_brain(cluster: Cluster, watcher: Watcher) -> None:
    """A controller sleeps in the middle of a rebalance, is deposed, and writes when it wakes (KAFKA-6082).

    Up to 2.0 the write lands: its version is the one that the sleeper has read, since its successor changed nothing.
    The brokers obey the successor and refuse the sleeper's request, so ZooKeeper names a leader that nobody obeys.
    From 2.1 on the check of the epoch refuses the write. Until the sleeper has written the others stop before such a
    write too: the successor's own rebalance would leave it a version that is not the present one.
    """
    sleeper = 1
    cluster.start(sleeper)
    cluster.await_that(lambda: cluster.controller() == sleeper and state_in(cluster, 0), "broker 1 leads and rules")
    watcher.look(cluster)
    watcher.say(f"broker {sleeper} is to stop in its next rebalance, before {HOLD}")
    cluster.hold(sleeper, HOLD)
    everybody = list(range(cluster.size.brokers))
    others = [broker for broker in everybody if broker != sleeper]
    for broker in others:
        cluster.start(broker)
    cluster.await_that(lambda: cluster.children[sleeper].stopped, "the preferred leader is in the ISR, and is elected")
    epoch = epoch_in(cluster)
    for broker in others:
        cluster.hold(broker, HOLD)
    cluster.delete_controller()
    watcher.say("an operator deletes /controller")
    cluster.await_that(
        lambda: (
            cluster.controller() not in (None, sleeper)
            and epoch_in(cluster) > epoch
            and cluster.registered() == everybody
        ),
        "another broker is elected",
    )
    watcher.look(cluster)
    before, written = state_in(cluster, 0), cluster.recorded(sleeper, HOLD)
    cluster.resume(sleeper)
    watcher.say(f"broker {sleeper} goes on")
    cluster.await_that(lambda: cluster.recorded(sleeper, HOLD) > written, "the sleeper writes")
    landed = state_in(cluster, 0) != before
    for broker in others:
        cluster.release(broker)
    watcher.look(cluster)
    watcher.say("its write has landed" if landed else "its write has not landed", landed=landed)


def foreign_delete(cluster: Cluster, watcher: Watcher) -> None:
    """A candidate that has lost the election deletes the winner's /controller: it does not look whose it is.

    Up to 2.0 an election is two writes: /controller, then its epoch. Broker 0 sleeps between them, an operator deletes
    its /controller, and broker 1 wins both. Broker 0 wakes, is refused the epoch, and resigns: by deleting /controller.
    There is no controller, and nothing was wrong with broker 1. Since 2.1 both writes are one transaction, and a
    deletion is checked against the epoch (KAFKA-6082).
    """
    conductor = _two_candidates(cluster, watcher)
    watcher.say("broker 0 creates /controller, reads that there is no epoch, and sleeps")
    conductor.take_all(
        "legacy.create(b=0) -> OK", "legacy.learn_epoch(b=0) -> NONODE", "legacy.raise_epoch(b=0) -> NONODE"
    )
    watcher.say("an operator deletes /controller; broker 1 creates it, and writes the epoch")
    conductor.take_all(*BROKER_1_WINS)
    watcher.say("broker 0 wakes, is refused the epoch, and resigns")
    conductor.take_all("legacy.found_epoch(b=0) -> NODEEXISTS", "legacy.delete_any_controller(b=0) -> OK")
    landed = cluster.controller() is None
    watcher.say(f"broker 1 {'has lost' if landed else 'has kept'} /controller", landed=landed)


def zombie_epoch(cluster: Cluster, watcher: Watcher) -> None:
    """A candidate that slept through an election raises the epoch above that of the winner (KAFKA-6082).

    Broker 0 sleeps when it has created /controller; an operator deletes that, and broker 1 is elected in epoch 1.
    Broker 0 wakes, reads the epoch of its successor, and raises it. From now on brokers obey broker 0, whom nobody has
    elected, and refuse broker 1, whom /controller names.
    """
    conductor = _two_candidates(cluster, watcher)
    watcher.say("broker 0 creates /controller, and sleeps")
    conductor.take("legacy.create(b=0) -> OK")
    watcher.say("an operator deletes /controller; broker 1 is elected")
    conductor.take_all(*BROKER_1_WINS)
    watcher.say("broker 0 wakes, and raises the epoch that it reads now")
    conductor.take_all("legacy.learn_epoch(b=0) -> OK", "legacy.raise_epoch(b=0) -> OK")
    landed = cluster.controller() == 1 and epoch_in(cluster) == 2
    watcher.say("broker 1 owns /controller, and the epoch is that of broker 0", landed=landed)


def never_led(cluster: Cluster, watcher: Watcher) -> None:
    """A zombie creates the state of a partition that its successor takes for new: it is never led again (KAFKA-6082).

    Controller 0 sleeps before it creates the first state. Controller 1 has found none either; it is refused
    (NODEEXISTS), and keeps the partition as New. The leader that the zombie wrote loses its session, and whenever
    controller 1 wants to elect, it asks for the creation again, and is refused again, while a member of the ISR lives.
    """
    conductor = _two_registered(cluster, watcher)
    watcher.say("controller 0 finds no state, and sleeps before it creates one")
    _begin_term(conductor, 0)
    watcher.say("an operator deletes /controller; controller 1 finds no state either")
    conductor.take("faults.delete_controller()")
    _begin_term(conductor, 1)
    watcher.say("broker 0 wakes, and creates the state: controller 1 cannot")
    conductor.take_all(
        "machines.create_first_state(b=0, p=0) -> OK", "machines.create_first_state(b=1, p=0) -> NODEEXISTS"
    )
    watcher.say("the leader that broker 0 wrote loses its session")
    conductor.take_all(
        "faults.expire_session(b=0)",
        "brokers.broker_change(b=1) -> OK",
        "brokers.broker_failure(b=1)",
        "machines.create_first_state(b=1, p=0) -> NODEEXISTS",
    )
    led_by = known_state_in(cluster, 0).leader
    watcher.say(
        f"the state names broker {led_by}, who is gone, and the controller elects nobody",
        landed=led_by not in cluster.registered(),
    )


def stale_zkversion(cluster: Cluster, watcher: Watcher) -> None:
    """A leader's cached version of the state is not the present one: its ISR writes are refused for ever (KAFKA-2729).

    Controller 1 sleeps before the write of a preferred election; controller 0 is elected, and the brokers obey it.
    Controller 1 wakes, and its write lands; what it tells the leader is refused, for its epoch is old. The leader leads
    on in the epoch before, and each ISR that it writes is refused (BADVERSION): its follower can neither leave nor
    come back, until the controller happens to elect again. Brokers log "Cached zkVersion not equal to that in
    zookeeper, skip updating ISR".
    """
    conductor = _two_registered(cluster, watcher)
    _begin_term(conductor, 1)
    conductor.take_all(
        "machines.create_first_state(b=1, p=0) -> OK",
        "replica.leader_and_isr(b=0, epoch=1, p=0)",
        "replica.leader_and_isr(b=1, epoch=1, p=0)",
    )
    watcher.say("an operator asks for preferred leaders; controller 1 sleeps before it writes one")
    conductor.take_all(
        "faults.ask_for_preferred()",
        "triggers.preferred_election(b=1)",
        "machines.read_for_election(b=1, p=0) -> OK",
        "faults.delete_controller()",
    )
    watcher.say("broker 0 is elected, and tells the brokers who leads")
    _begin_term(conductor, 0, found="OK")
    conductor.take_all("replica.leader_and_isr(b=0, epoch=2, p=0)", "replica.leader_and_isr(b=1, epoch=2, p=0)")
    watcher.say("broker 1 wakes, and writes; the leader refuses what it is told")
    conductor.take("machines.write_leader(b=1, p=0) -> OK")
    conductor.take("replica.leader_and_isr(b=0, epoch=1, p=0)", leader_epoch=known_state_in(cluster, 0).leader_epoch)
    watcher.say("the leader wants its follower out of the ISR, again and again")
    conductor.take_all(*["leader_zk.change_isr(b=0, p=0, isr=1) -> BADVERSION"] * ATTEMPTS)
    watcher.say("its ISR writes are refused, and nobody tells it why", landed=True)


SCENARIOS: dict[str, Callable[[Cluster, Watcher], None]] = {
    "split-brain": split_brain,
    "foreign-delete": foreign_delete,
    "zombie-epoch": zombie_epoch,
    "never-led": never_led,
    "stale-zkversion": stale_zkversion,
}
CONDUCTED = ("foreign-delete", "zombie-epoch", "never-led", "stale-zkversion")
"""Scenarios of brokers of 1.1 to 2.0 that take only the steps that they are told, with one partition."""
LEAST_BROKERS, ATTEMPTS = 2, 3
SESSION = 300.0
"""Longer than any broker sleeps in a scenario, in seconds."""


def _both(conductor: Conductor, *steps: Callable) -> None:
    """Brokers 0 and 1 take each of these steps, one after the other."""
    for step in steps:
        name = Transition(step).name
        conductor.take_all(f"{name}(b=0)", f"{name}(b=1)")


def _two_candidates(cluster, watcher) -> Conductor:
    """Brokers 0 and 1 have registered, and have seen that there is no controller."""
    conductor = Conductor(cluster, watcher)
    _both(conductor, start, register_broker, maybe_resign, look_for_controller)
    return conductor


def _two_registered(cluster, watcher) -> Conductor:
    """Brokers 0 and 1 have registered."""
    conductor = Conductor(cluster, watcher)
    _both(conductor, start, register_broker)
    return conductor


def _begin_term(conductor, b, found="NONODE"):
    """Broker `b` is elected, and reads who lives, and the state."""
    conductor.take_all(
        f"failover.elect(b={b}) -> OK",
        f"failover.load_brokers(b={b}) -> OK",
        f"failover.load_state(b={b}, p=0) -> {found}",
    )
