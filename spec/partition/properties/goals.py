"""What must be reachable in the model of partitions, so that its properties do not hold vacuously."""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.kafka.state_machines import NEW_PARTITION, OFFLINE_PARTITION, ONLINE_PARTITION
from kafkaproof.spec.kafka.strategies import prefers, replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import sometimes
from kafkaproof.spec.language.sets import contains, intersection, is_empty
from kafkaproof.spec.partition.context import (
    CONTROLLED_SHUTDOWN,
    DELETING_REQUEST,
    ELECTING,
    FORCED,
    IDLE,
    MOVING,
    OFFLINE,
    PREFERRED,
    PREFERRED_BY_ZNODE,
    READING_BROKERS,
    REASSIGN,
    STUCK,
    WRITING_LEADER,
    WRITING_REMOVAL,
    has_leader,
    is_known,
    is_queued,
    online,
)
from kafkaproof.spec.partition.network import arriving
from kafkaproof.spec.partition.properties.controllers import rules
from kafkaproof.spec.partition.properties.sessions import rests
from kafkaproof.spec.partition.properties.states import exists
from kafkaproof.spec.partition.zookeeper import assigned, is_moved, session_open


def two_controllers(s):
    """Two brokers are controller at once."""
    count = 0
    for broker in s.brokers:
        if broker.controller.epoch > 0:
            count += 1
    return count > 1


def stale_request(s):
    """LeaderAndIsr arrives with a lower controller epoch than its receiver has seen; it will be refused."""
    for epoch in range(len(s.network.requests)):
        for b in range(len(s.brokers)):
            if epoch < s.brokers[b].seen_epoch and arriving(s.network, epoch, 0, b):
                return True
    return False


def zombie_write(s):
    """A deposed controller whose session is open is about to write a state."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        writes = controller.doing == WRITING_LEADER or controller.doing == WRITING_REMOVAL
        if writes and controller.epoch < s.zk.epoch and session_open(s.zk, b):
            return True
    return False


def overtaken_write(s):
    """The current controller is about to write on an outdated version."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        writes = controller.doing == WRITING_LEADER or controller.doing == WRITING_REMOVAL
        if writes and controller.epoch == s.zk.epoch and not contains(s.zk.partitions[0].readers, b):
            return True
    return False


def overtaken_election(s):
    """The current controller is about to write an election's result on an outdated version: it will elect again."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        if controller.doing == WRITING_LEADER and controller.epoch == s.zk.epoch:
            if not contains(s.zk.partitions[0].readers, b):
                return True
    return False


def leaderless(s):
    """A partition has lost its leader, and its ISR names the replicas that could lead."""
    return exists(s.zk.partitions[0]) and s.zk.partitions[0].leader == NOBODY


def elects(s, chosen):
    """Whether some controller has elected by a strategy, and is about to write."""
    for broker in s.brokers:
        if broker.controller.doing == WRITING_LEADER and broker.controller.strategy == chosen:
            return True
    return False


def elects_uncleanly(s, chosen):
    """Whether some controller has elected a leader from outside the ISR by a strategy, and is about to write."""
    for broker in s.brokers:
        if broker.controller.doing == WRITING_LEADER and broker.controller.strategy == chosen:
            if not contains(s.zk.partitions[0].isr, broker.controller.result.leader):
                return True
    return False


def unclean_by_configuration(s):
    """A leader from outside the ISR has been elected, because the topic allows it."""
    return s.zk.unclean == 1 and elects_uncleanly(s, OFFLINE)


def unclean_by_force(s):
    """A leader from outside the ISR has been elected, because an administrator forces it."""
    return not s.zk.unclean and elects_uncleanly(s, FORCED)


def living_leader_forced_out(s):
    """A forced election takes a leader from outside the ISR although the old one lives: it is shutting down."""
    for broker in s.brokers:
        if broker.controller.doing == WRITING_LEADER and broker.controller.strategy == FORCED:
            leader = s.zk.partitions[0].leader
            if leader != NOBODY and s.brokers[leader].replicas[0].leader == leader:
                return True
    return False


def force_fails(s):
    """A forced election is held, and no replica is online."""
    for broker in s.brokers:
        controller = broker.controller
        if controller.doing == ELECTING and controller.strategy == FORCED:
            if is_empty(intersection(online(controller, controller.partitions[0]), assigned(s.zk, 0))):
                return True
    return False


def new_topic_fails(s):
    """No replica of a new partition is online: it is New when the event is over."""
    for broker in s.brokers:
        controller = broker.controller
        if controller.epoch > 0 and controller.doing == IDLE and not exists(s.zk.partitions[0]):
            if controller.partitions[0].state == NEW_PARTITION and not is_queued(controller, 0):
                return True
    return False


def new_topic_succeeds(s):
    """The first leader of a new partition is elected, and the controller knows."""
    for broker in s.brokers:
        partition = broker.controller.partitions[0]
        if partition.state == ONLINE_PARTITION and partition.leader_epoch == 0:
            return True
    return False


def offline_succeeds(s):
    """The offline strategy has elected another member of the ISR in place of a leader that is gone."""
    for broker in s.brokers:
        controller = broker.controller
        if controller.doing == WRITING_LEADER and controller.strategy == OFFLINE:
            leader = s.zk.partitions[0].leader
            gone = leader != NOBODY and not s.brokers[leader].up
            if gone and contains(s.zk.partitions[0].isr, controller.result.leader):
                return True
    return False


def offline_fails(s):
    """No leader was found: a partition is Offline when the event is over."""
    for broker in s.brokers:
        if broker.controller.epoch > 0 and broker.controller.doing == IDLE:
            if broker.controller.partitions[0].state == OFFLINE_PARTITION:
                return True
    return False


def preferred_succeeds(s):
    """The automatic rebalance has elected the preferred replica."""
    return elects(s, PREFERRED)


def preferred_fails(s):
    """An operator's request is fulfilled, and the preferred replica does not lead."""
    for broker in s.brokers:
        controller = broker.controller
        partition = controller.partitions[0]
        if controller.doing == DELETING_REQUEST and controller.strategy == PREFERRED_BY_ZNODE:
            if not prefers(partition.assignment, partition.leader):
                return True
    return False


def reassignment_succeeds(s):
    """The target of a reassignment has been elected."""
    return elects(s, REASSIGN)


def reassignment_fails(s):
    """A reassignment is dealt with, and no online replica of the target leads."""
    for broker in s.brokers:
        controller = broker.controller
        for p in range(len(controller.partitions)):
            partition = controller.partitions[p]
            fails = controller.doing == DELETING_REQUEST and controller.strategy == REASSIGN and is_moved(s.zk, p)
            leads = has_leader(controller, partition) and contains(replicas_of(controller.target), partition.leader)
            if fails and not leads:
                return True
    return False


def storage_error(s):
    """A controller knows that a log directory has failed, and the replica is out of the ISR."""
    for broker in s.brokers:
        partition = broker.controller.partitions[0]
        if not is_empty(partition.failed) and is_empty(intersection(partition.failed, partition.isr)):
            return True
    return False


def stale_storage_error(s):
    """A storage error that was received in one term still waits when the next term of the same broker begins."""
    for broker in s.brokers:
        for r in range(len(s.brokers)):
            if broker.controller.doing == READING_BROKERS and not is_empty(broker.errors[r]):
                return True
    return False


def queued_stays_leaderless(s):
    """A partition of a topic that is queued for deletion has no leader, and an online member of its ISR could lead."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        partition = controller.partitions[0]
        if rules(s, b) and is_queued(controller, 0) and is_known(partition) and not has_leader(controller, partition):
            if not is_empty(intersection(partition.isr, online(controller, partition))):
                return True
    return False


def controlled_shutdown_succeeds(s):
    """Another leader than the broker that is shutting down has been elected."""
    return elects(s, CONTROLLED_SHUTDOWN)


def controlled_shutdown_fails(s):
    """A broker that is shutting down still leads when the event is over."""
    for broker in s.brokers:
        controller = broker.controller
        if controller.epoch > 0 and controller.doing == IDLE and controller.partitions[0].leader != NOBODY:
            if contains(controller.leaving, controller.partitions[0].leader):
                return True
    return False


def shutting_down_leader_replaced(s):
    """The offline strategy elects another leader although the old one lives: it is shutting down."""
    for broker in s.brokers:
        controller = broker.controller
        if controller.doing == WRITING_LEADER and controller.strategy == OFFLINE:
            leader = s.zk.partitions[0].leader
            if leader != NOBODY and contains(controller.leaving, leader) and s.brokers[leader].up:
                return True
    return False


def bounced_broker(s):
    """A controller finds that a broker has gone and come between two reads."""
    for broker in s.brokers:
        if not is_empty(broker.controller.bounced):
            return True
    return False


def stuck_new(s):
    """The current controller, which has handled everything, believes a partition New that it created itself."""
    for b in range(len(s.brokers)):
        if rules(s, b) and s.brokers[b].controller.partitions[0].state == NEW_PARTITION:
            if s.zk.partitions[0].controller_epoch == s.zk.epoch:
                return True
    return False


def stale_isr(s):
    """The current controller, which has handled everything, remembers another ISR than the one that it wrote."""
    for b in range(len(s.brokers)):
        cached = s.brokers[b].controller.partitions[0]
        if rules(s, b) and cached.leader_epoch == s.zk.partitions[0].leader_epoch:
            if cached.isr != s.zk.partitions[0].isr:
                return True
    return False


def overlooked_request(s):
    """An operator's request waits for ever: the event that read it failed, because a partition has no state."""
    for broker in s.brokers:
        if broker.controller.overlooked and s.zk.preferred:
            return True
    return False


def failover_fails(s):
    """A failover has failed, because a partition that the operator's request names has no state."""
    for broker in s.brokers:
        if broker.controller.doing == MOVING:
            return True
    return False


def rules_with_dead_machine(s):
    """A controller rules whose replica state machine is dead."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        if rests(s, b) and s.zk.controller == b and controller.replica_batch == STUCK:
            return True
    return False


def dies_within_term(s):
    """A controlled shutdown, whose write was refused, has killed a state machine of a controller that goes on."""
    for broker in s.brokers:
        controller = broker.controller
        dead = controller.replica_batch == STUCK or controller.partition_batch == STUCK
        if dead and controller.epoch == 1 and s.zk.epoch > 1:
            return True
    return False


def leader_told_of_none(s):
    """A leader receives LeaderAndIsr of a higher leader epoch in which nobody leads; it will lead on."""
    for epoch in range(len(s.network.requests)):
        for p in range(len(s.zk.partitions)):
            for b in range(len(s.brokers)):
                comes = s.brokers[b].up and arriving(s.network, epoch, p, b) and not is_stale(s.brokers[b], epoch)
                request = s.network.requests[epoch][p]
                replica = s.brokers[b].replicas[p]
                news = request.leader == NOBODY and request.leader_epoch > replica.leader_epoch
                if comes and news and replica.leader == b:
                    return True
    return False


LOG_DIRS = (sometimes(storage_error, replicas=2), sometimes(stale_storage_error, faults=2, epochs=2))
SHUTTING_DOWN = (sometimes(shutting_down_leader_replaced, faults=2, replicas=2, leader_epochs=2),)
"""From 1.0 on: up to 0.11 the failure of a broker touches only what it led."""
OF_ALL = (
    sometimes(two_controllers, epochs=2),
    sometimes(zombie_write, faults=2, epochs=2),
    sometimes(leaderless, leader_epochs=1),
    sometimes(new_topic_succeeds),
    sometimes(offline_succeeds, replicas=2),
    sometimes(offline_fails, leader_epochs=1),
    sometimes(controlled_shutdown_succeeds, replicas=2),
    sometimes(controlled_shutdown_fails, faults=2),
    sometimes(preferred_fails, faults=2),
    sometimes(preferred_succeeds, replicas=2),
    sometimes(unclean_by_configuration, replicas=2),
    sometimes(new_topic_fails, brokers=3, faults=2),
    sometimes(reassignment_succeeds, leader_epochs=3),
    sometimes(reassignment_fails, faults=2),
    sometimes(queued_stays_leaderless, faults=2),
    sometimes(stale_request, epochs=2),
    sometimes(overtaken_write, faults=2),
    sometimes(overtaken_election, faults=2, leader_epochs=2),
    sometimes(stuck_new),
    sometimes(failover_fails, faults=2),
    sometimes(overlooked_request, faults=2),
    sometimes(leader_told_of_none, faults=1, leader_epochs=1),
)
STALE_ISR = (sometimes(stale_isr, replicas=2, epochs=2),)
"""Not in 2.1 to 2.6: there the notification of each ISR is kept from others than the present controller."""
FORCED_ELECTIONS = (
    sometimes(unclean_by_force, faults=2, replicas=2),
    sometimes(living_leader_forced_out, faults=2, replicas=2),
    sometimes(force_fails, faults=3),
)
GOALS = OF_ALL + SHUTTING_DOWN + LOG_DIRS + STALE_ISR
DEAD_MACHINES = (
    sometimes(rules_with_dead_machine, faults=2, epochs=3),
    sometimes(dies_within_term, faults=2, epochs=2, replicas=2),
)
"""From 2.1 on, where writes are fenced."""
FROM_2_2 = DEAD_MACHINES + (sometimes(bounced_broker),)
WITH_BROKER_EPOCHS = GOALS + FORCED_ELECTIONS + FROM_2_2
