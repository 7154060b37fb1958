"""What is asked of the controllers of earlier releases alone."""

from kafkaproof.spec.kafka.state_machines import OFFLINE_PARTITION, ONLINE_PARTITION
from kafkaproof.spec.kafka.strategies import prefers
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always_step, sometimes
from kafkaproof.spec.language.sets import contains, difference, is_empty
from kafkaproof.spec.partition.context import IDLE, MOVING, PREFERRED, PREFERRED_BY_ZNODE, is_known, is_queued
from kafkaproof.spec.partition.history.triggers import is_moved_away_though_queued
from kafkaproof.spec.partition.properties.controllers import differs_from_cache
from kafkaproof.spec.partition.properties.events import is_touched, leaver_moved_away
from kafkaproof.spec.partition.properties.sessions import has_session, rests
from kafkaproof.spec.partition.properties.states import differs
from kafkaproof.spec.partition.properties.writes import is_refused
from kafkaproof.spec.partition.zookeeper import isr_changed


def only_what_it_led(before, after, b):
    """The failure of a broker takes no partition offline but those that it led (until 0.11)."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    for p in range(len(new.partitions)):
        leader = old.partitions[p].leader
        fails = new.partitions[p].state == OFFLINE_PARTITION and old.partitions[p].state != OFFLINE_PARTITION
        if fails and (leader == NOBODY or contains(new.live, leader)):
            return False
    return True


def live_as_listed(before, after, b):
    """A controller that lists the brokers has exactly those as live at once, before it handles any (until 2.1)."""
    listed = after.brokers[b].controller.live
    return not has_session(before, b) or listed == before.zk.registered


def preferred_if_needed(before, after, b, p, delivery):
    """A preferred election writes nothing where the preferred replica leads, as the controller remembers (until 1.0)."""
    controller = before.brokers[b].controller
    partition = controller.partitions[p]
    asked = controller.strategy == PREFERRED or controller.strategy == PREFERRED_BY_ZNODE
    needless = asked and prefers(partition.assignment, partition.leader)
    return not needless or not differs(before.zk.partitions[p], after.zk.partitions[p])


def gives_up_whoever_owns_it(before, after, b):
    """A controller whose failover has failed ends its term, and deletes /controller, whoever owns it (until 2.0)."""
    old = before.brokers[b].controller
    deleted = after.zk.controller == (NOBODY if has_session(before, b) else before.zk.controller)
    return old.doing == MOVING and after.brokers[b].controller.epoch == 0 and deleted


def needless_counts(before, after, b, p):
    """A preferred election that is not needed, as the controller remembers, makes the partition Online (until 1.0)."""
    old = before.brokers[b].controller
    partition = old.partitions[p]
    asked = old.strategy == PREFERRED or old.strategy == PREFERRED_BY_ZNODE
    if not asked or not prefers(partition.assignment, partition.leader) or not has_session(before, b):
        return True
    return after.brokers[b].controller.partitions[p].state == ONLINE_PARTITION


def dead_in_isr(s):
    """A controller that has handled everything leaves a broker in an ISR that it knows is not registered (until 3.2)."""
    for broker in s.brokers:
        controller = broker.controller
        if controller.epoch > 0 and controller.doing == IDLE:
            for partition in controller.partitions:
                led = partition.leader != NOBODY and contains(controller.live, partition.leader)
                if led and not is_empty(difference(partition.isr, controller.live)):
                    return True
    return False


def waits_for_reassignments(before, after, b):
    """The automatic rebalance moves no leader while the list of reassignments has a partition that has a leader or had
    one, and whose topic is not queued for deletion (until 3.3).
    """
    controller = before.brokers[b].controller
    for p in range(len(controller.partitions)):
        begins = is_known(controller.partitions[p]) and not is_queued(controller, p)
        if begins and before.zk.targets[p].length > 0:
            return False
    return True


def waits_for_election(before, after, b):
    """The automatic rebalance moves no leader once a request for preferred leaders has failed in this term (until 0.10.2)."""
    return not before.brokers[b].controller.overlooked


def successor_fails(s):
    """A request for preferred leaders that names a partition without a state has failed one failover, and now the next
    (until 0.10.2).
    """
    for broker in s.brokers:
        if broker.controller.doing == MOVING and broker.controller.epoch > 1:
            return True
    return False


def notification_taken(before, after, b, p):
    """A controller that reads an ISR that its leader has changed remembers it, and the notification is deleted; if it is
    deposed its term is over, and the notification stays (from 2.1 to 2.6).
    """
    new = after.brokers[b].controller
    stays = isr_changed(after.zk, p)
    if not has_session(before, b):
        return stays and new.epoch > 0 and rests(after, b)
    if is_refused(before, b):
        return stays and new.epoch == 0
    return not stays and new.epoch > 0 and not differs_from_cache(after.zk.partitions[p], new.partitions[p])


UNTIL_3_3 = (always_step(waits_for_reassignments, of=("rebalance",)),)
UNTIL_2_6 = (always_step(notification_taken, of=("isr_notification",)),)
UNTIL_2_1 = (always_step(live_as_listed, of=("broker_change",)),)
UNTIL_2_0 = (
    *UNTIL_2_1,
    always_step(leaver_moved_away, of=("controlled_shutdown",)).rebound({is_touched: is_moved_away_though_queued}),
    always_step(gives_up_whoever_owns_it, of=("move_controller",)),
)
UNTIL_1_0 = (
    *UNTIL_2_0,
    always_step(preferred_if_needed, of=("write_leader",)),
    always_step(needless_counts, of=("read_for_election",)),
)
UNTIL_0_11 = (*UNTIL_1_0, always_step(only_what_it_led, of=("broker_failure",)))
UNTIL_0_10 = (sometimes(successor_fails, epochs=2), always_step(waits_for_election, of=("rebalance",)))
GOALS = (sometimes(dead_in_isr),)
"""Of 2.7 to 3.2."""
