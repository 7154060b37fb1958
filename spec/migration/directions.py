"""What the operator does, in the order of Kafka's directions for the migration and for each way back.

Brokers are restarted one by one; a restart ends the process, and the broker starts by itself. The quorum is provisioned, and
taken away, in one step.
"""

from kafkaproof.spec.election.broker_state import DOWN, end_process
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.zookeeper import NOTHING, end_session
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import with_member
from kafkaproof.spec.migration.quorum import append, forget_driver, is_open
from kafkaproof.spec.migration.state import (
    FINALIZED,
    GOING_BACK,
    IN_MIGRATION,
    IN_ZOOKEEPER,
    KRAFT_MODE,
    LEAVING,
    MIGRATION_MODE,
    WITHOUT_CONTROLLER,
    WITHOUT_QUORUM,
    ZOOKEEPER_MODE,
    forget_quorum,
    is_same,
)
from kafkaproof.spec.migration.zookeeper import quorum_owns_controller, remove_migration, remove_owner


def restart(s, b, mode):
    """The process of `b` is stopped, closes its session, and is to start in another mode."""
    end_session(s.zk, b)
    s.zk.clients[b].fired = NOTHING
    end_process(s.brokers[b])
    s.brokers[b].mode = mode
    for follower in range(len(s.followers) - 1):
        if follower == b:
            s.followers[follower].image = 0


def all_run(s):
    """Whether all brokers run that are to run with ZooKeeper: the operator waits for one before the next is restarted."""
    for broker in s.brokers:
        if broker.session == DOWN and broker.mode != KRAFT_MODE:
            return False
    return True


def all_in(s, mode):
    """Whether all brokers are in a mode."""
    for broker in s.brokers:
        if broker.mode != mode:
            return False
    return True


def any_in(s, mode):
    """Whether some broker is in a mode."""
    for broker in s.brokers:
        if broker.mode == mode:
            return True
    return False


def forget_all(s):
    """No controller of the quorum runs, and nothing is left of its log."""
    forget_quorum(s.quorum)
    for c in range(len(s.drivers)):
        forget_driver(s.drivers[c])
    s.zk.migration.readers = 0


def provision(s):
    """The operator provisions a quorum of controllers, with empty logs, for the migration.

    Guards:  the cluster is in ZooKeeper mode.
    Effects: its drivers begin.
    """
    if s.stage != IN_ZOOKEEPER:
        return False

    s.stage = IN_MIGRATION
    s.attempts += 1
    return True


def enter_migration(s, b: Broker):
    """The operator restarts a broker in migration mode.

    Guards:  the quorum runs; the broker is in ZooKeeper mode, and all run.
    Effects: it will register with the quorum, too.
    """
    if s.stage != IN_MIGRATION or s.brokers[b].mode != ZOOKEEPER_MODE or not all_run(s):
        return False

    restart(s, b, MIGRATION_MODE)
    return True


def move_to_kraft(s, b: Broker):
    """The operator restarts a broker in KRaft mode.

    Guards:  the copy is committed; the broker is in migration mode, and all run.
    Effects: it has no session with ZooKeeper any more.
    """
    if s.stage != IN_MIGRATION or not is_open(s) or s.brokers[b].mode != MIGRATION_MODE or not all_run(s):
        return False

    restart(s, b, KRAFT_MODE)
    return True


def finalize(s):
    """The operator restarts the controllers out of migration mode.

    Guards:  all brokers are in KRaft mode; the quorum has a leader.
    Effects: the log says POST_MIGRATION. Nobody writes to ZooKeeper any more.
    """
    if s.stage != IN_MIGRATION or not all_in(s, KRAFT_MODE) or s.quorum.leader == NOBODY:
        return False

    last = s.quorum.records[s.quorum.end - 1]
    append(s.quorum, last.topic, last.leader, last.leader_epoch)
    s.quorum.finalized = s.quorum.end
    for c in range(len(s.drivers)):
        forget_driver(s.drivers[c])
    s.stage = FINALIZED
    return True


def go_back(s):
    """The operator decides to go back.

    Guards:  the quorum runs for the migration.
    Effects: no broker goes on.
    """
    if s.stage != IN_MIGRATION:
        return False

    s.stage = GOING_BACK
    return True


def return_to_migration(s, b: Broker):
    """The operator restarts a broker out of KRaft mode into migration mode.

    Guards:  the cluster goes back; all brokers run.
    Effects: it will register with ZooKeeper again.
    """
    if s.stage != GOING_BACK or s.brokers[b].mode != KRAFT_MODE or not all_run(s):
        return False

    restart(s, b, MIGRATION_MODE)
    return True


def may_take_away(s):
    """Whether the operator takes the quorum away: ZooKeeper has all that the log has (ZkWriteBehindLag is 0)."""
    return s.quorum.migrated == 0 or is_same(s.zk.topic, s.quorum.records[s.quorum.end - 1])


def take_away(s):
    """The operator takes the quorum away.

    Guards:  the cluster goes back; no broker is in KRaft mode; ZooKeeper has all that the log has.
    Effects: the log is gone. Where no broker has entered migration mode, that is all.
    """
    if s.stage != GOING_BACK or any_in(s, KRAFT_MODE) or not may_take_away(s):
        return False

    s.stage = IN_ZOOKEEPER if all_in(s, ZOOKEEPER_MODE) else WITHOUT_QUORUM
    forget_all(s)
    return True


def delete_controller(s):
    """The operator deletes /controller, so that a broker is elected.

    Guards:  the quorum was taken away.
    Effects: /controller is gone, whoever owned it.
    """
    if s.stage != WITHOUT_QUORUM:
        return False

    remove_owner(s.zk)
    s.stage = WITHOUT_CONTROLLER
    return True


def delete_migration(s):
    """The operator deletes /migration, so that another attempt begins from nothing.

    Guards:  /controller was deleted.
    Effects: /migration is gone.
    """
    if s.stage != WITHOUT_CONTROLLER:
        return False

    remove_migration(s.zk)
    s.stage = LEAVING
    return True


def leave_migration(s, b: Broker):
    """The operator restarts a broker out of migration mode.

    Guards:  the znodes of the migration are gone; the broker is in migration mode, and all run.
    Effects: after the last one the cluster is in ZooKeeper mode.
    """
    if s.stage != LEAVING or s.brokers[b].mode != MIGRATION_MODE or not all_run(s):
        return False

    restart(s, b, ZOOKEEPER_MODE)
    if all_in(s, ZOOKEEPER_MODE):
        s.stage = IN_ZOOKEEPER
    return True


def ask_for_deletion(s):
    """A user deletes the topic while brokers rule: /admin/delete_topics names it.

    Guards:  a broker owns /controller; there is a topic that is not named there yet.
    Effects: it is named there.
    """
    owned = s.zk.controller != NOBODY and not quorum_owns_controller(s.zk)
    if not owned or s.zk.topic.topic == NOBODY or s.zk.deleting:
        return False

    s.zk.deleting = 1
    s.unwanted = with_member(s.unwanted, s.zk.topic.topic)
    s.zk.changes += 1
    return True
