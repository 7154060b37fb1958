"""The deliberate mistakes of `mutants.liveness_control`. They are not held to the writing rules."""

from spec.controller.belief import CONFIRMING, CREATING
from spec.controller.election import register
from spec.language.domains import NOBODY
from spec.language.sets import contains
from spec.partition.brokers import is_moved_away
from spec.partition.context import OFFLINE, PREFERRED_BY_ZNODE
from spec.partition.legal import REPLICA_DELETION_SUCCESSFUL
from spec.partition.moves import move_replica
from spec.partition.triggers import delete_request, needs_preferred, preferred_election, reassignment
from spec.partition.zookeeper import checked_delete_request, checked_set_state, wanted_target
from spec.replica.broker import UNKNOWN_END
from spec.replica.leader import learn_isr
from spec.requests.batch import take_batch
from spec.requests.network import UNANSWERED, answer
from spec.topics.context import Broker, Partition
from spec.topics.network import DELETED, FAILED, kind_of, take
from spec.topics.progress import at_work
from spec.topics.reign import take_up_deletion
from spec.topics.replica import Epoch, stop_replica
from spec.zookeeper import BADVERSION, EXPIRED, LOST, MINE, NONODE, OK, Fate, session_open


def read_unwatched(zk, b):
    """getData of /controller that arms no watch: of what follows the broker hears nothing."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.controller == NOBODY:
        return NONODE
    return MINE if zk.controller == b else OK


def give_up_batch(network, epoch, b, fate, error):
    """A sender that loses an answer gives up all of the batch, instead of sending the request again."""
    if fate != UNANSWERED:
        return answer(network, epoch, b, fate, error)
    network.faults += 1
    take_batch(network.channels[epoch][b].queue)
    return error


def tell_nobody(zk, b, members):
    """A controller tells nobody who leads."""
    return 0


def trigger_nobody(controller):
    """When a broker comes, no partition that wants a leader is elected."""
    controller.strategy = OFFLINE
    controller.todo = 0


def move_nothing(controller, preferred):
    """The automatic rebalance finds groups out of balance, and moves nothing."""
    return 0


def move_followers(controller, p, leaver):
    """A controlled shutdown stops followers, and moves no leader away."""
    return controller.partitions[p].leader != leaver and is_moved_away(controller, p, leaver)


def prefer_if_needed(s, b: Broker):
    """A request for preferred leaders is left where it is when every leader is the preferred one."""
    needed = False
    for p in range(len(s.brokers[b].controller.partitions)):
        needed = needed or needs_preferred(s.brokers[b].controller, p)
    if not needed:
        return False
    return preferred_election(s, b)


def delete_unwatched(s, b: Broker, fate: Fate):
    """After the deletion of a request the watch on its creation is not armed again: the next one is not heard of."""
    controller = s.brokers[b].controller
    strategy = controller.strategy
    if not delete_request(s, b, fate):
        return False
    if strategy == PREFERRED_BY_ZNODE and controller.epoch > 0:
        controller.strategy = strategy
    return True


def prefer_if_heard(s, b: Broker):
    """Only a request for preferred leaders that the watch tells of is read (with `delete_unwatched`)."""
    if s.brokers[b].controller.strategy == PREFERRED_BY_ZNODE:
        return False
    return preferred_election(s, b)


def reassign_if_needed(s, b: Broker, p: Partition):
    """A reassignment is left where it is when a replica of the target leads already."""
    leader = s.brokers[b].controller.partitions[p].leader
    if leader != NOBODY and contains(wanted_target(s.zk), leader):
        return False
    return reassignment(s, b, p)


def delete_until_found(zk, b, request, epoch, fate):
    """A request whose deletion finds nothing, as after one whose answer was lost, is deleted again and again."""
    answer = checked_delete_request(zk, b, request, epoch, fate)
    return LOST if answer == NONODE else answer


def write_until_applied(zk, b, p, epoch, leader, isr, leader_epoch, fate):
    """A state whose version is not the one that was read, as after a write whose answer was lost, is written again."""
    answer = checked_set_state(zk, b, p, epoch, leader, isr, leader_epoch, fate)
    return LOST if answer == BADVERSION else answer


def note_answer(s, b: Broker, r: Broker, p: Partition):
    """The answer to StopReplica(delete) is noted, and the deletion does not go on."""
    controller = s.brokers[b].controller
    if not at_work(controller):
        return False
    kind = kind_of(s.network, controller.epoch, r, p)
    if kind != DELETED and kind != FAILED:
        return False

    take(s.network, controller.epoch, r, p)
    if controller.deleting and kind == DELETED:
        move_replica(controller.partitions[p], r, REPLICA_DELETION_SUCCESSFUL)
    return True


def resume_nothing(controller, joined):
    """A deletion is not resumed when a broker comes."""
    return 0


def keep_log(s, b: Broker, epoch: Epoch, p: Partition):
    """StopReplica(delete) is answered, and the log stays."""
    log = s.brokers[b].logs[p]
    if not stop_replica(s, b, epoch, p):
        return False
    s.brokers[b].logs[p] = log
    return True


def look_at_no_reassignment(controller):
    """A new controller does not look at the reassignments that it finds."""
    take_up_deletion(controller)
    controller.moving = 0


def never_at_work(controller):
    """Nobody is at work."""
    return False


def reach_nothing(offset, log):
    """A leader does not note how far its followers have fetched."""
    return UNKNOWN_END


def keep_isr(s, b: Broker):
    """A leader that hears that its proposal is written keeps the ISR that it had."""
    isr = s.brokers[b].isr
    if not learn_isr(s, b):
        return False
    s.brokers[b].isr = isr
    return True


def give_up(consumer):
    """The first attempt that fails is the last."""
    return True


def register_unconfirmed(s, b: Broker, fate: Fate):
    """Nobody looks who won when the version of /controller_epoch is refused: the same write is tried again."""
    if not register(s, b, fate):
        return False
    if s.brokers[b].doing == CONFIRMING and s.zk.controller == NOBODY:
        s.brokers[b].doing = CREATING
    return True
