"""Properties of controller election: C1 to C10, as far as they concern it."""

from dataclasses import replace

from kafkaproof.spec.election.broker_state import CONFIRMING, CONFIRMING_EPOCH, CREATING, DOWN, IDLE, NONE, RAISING
from kafkaproof.spec.election.network import arriving
from kafkaproof.spec.kafka.zookeeper import NOTHING, PROCESS, owns_controller
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.rebind import rebind


def rules(broker):
    """Whether the broker acts as controller: active, past registration, not resigned."""
    return broker.active == 1 and broker.ruling != NONE


def rules_by_channels(broker):
    """Whether the broker acts as controller, up to 1.0: it has a channel manager, whoever leads."""
    return broker.ruling != NONE


def rulers(s):
    """How many brokers act as controller at once."""
    count = 0
    for broker in s.brokers:
        if rules(broker):
            count += 1
    return count


def one_owner(s):
    """/controller and /brokers/ids exist only while the session that created them is open (C1)."""
    for b in range(len(s.brokers)):
        if owns_controller(s.zk, b) and not s.zk.clients[b].session:
            return False
        if s.zk.clients[b].registered == PROCESS and not s.zk.clients[b].session:
            return False
    return True


def epoch_unique(s):
    """No two terms have the same epoch: none is written twice, and no two brokers are controller in one (C2)."""
    for a in range(len(s.brokers)):
        for b in range(a):
            both = s.brokers[a].ruling != NONE and s.brokers[b].ruling != NONE
            if both and s.brokers[a].epoch == s.brokers[b].epoch:
                return False
    return not s.zk.ghosts.epoch_reused


def own_epoch(before, after):
    """A broker whose term begins has the current epoch, and wrote it: in this step, or (when the answer was
    lost) in the transaction that put it into /controller, as it has read (C3).
    """
    for b in range(len(after.brokers)):
        old = before.brokers[b]
        new = after.brokers[b]
        begins = new.ruling != NONE and (old.ruling == NONE or new.epoch != old.epoch)
        if begins and new.epoch != after.zk.epoch:
            return False
        if begins and before.zk.epoch == after.zk.epoch and old.doing != CONFIRMING_EPOCH:
            return False
    return True


def no_stale_write(s):
    """No write of a controller is applied after a later election took effect (C4)."""
    return not s.zk.ghosts.stale_write


def holds_token(s, b):
    """Whether `b` acts as controller with the current version of /controller_epoch."""
    return rules(s.brokers[b]) and s.brokers[b].epoch_version == s.zk.epoch_version


def one_token(s):
    """At most one acting controller holds the current version of /controller_epoch (C5)."""
    for a in range(len(s.brokers)):
        for b in range(a):
            if holds_token(s, a) and holds_token(s, b):
                return False
    return True


def applied_never_fall(before, after):
    """The controller epochs of the requests that a process accepts never decrease (C6)."""
    for b in range(len(after.brokers)):
        if after.brokers[b].session != DOWN:
            if after.brokers[b].ghosts.applied < before.brokers[b].ghosts.applied:
                return False
    return True


def deletes_own(s):
    """A resigning controller deletes only its own /controller (C7)."""
    return not s.zk.ghosts.foreign_delete


def idle_zombie(before, after):
    """While two controllers act, no stale write is applied (C8)."""
    return before.zk.ghosts.stale_write or not after.zk.ghosts.stale_write or rulers(before) < 2


def epoch_bound(s):
    """No broker has seen, and no partition state holds, an epoch that has not been written yet (C9)."""
    for broker in s.brokers:
        if broker.seen_epoch > 0 and broker.seen_epoch > s.zk.epoch:
            return False
    return s.zk.state_epoch == 0 or s.zk.state_epoch <= s.zk.epoch


def epoch_node(before, after):
    """Value and version of /controller_epoch grow together (C10)."""
    if before.zk.epoch < 0:
        return True
    grown = after.zk.epoch - before.zk.epoch
    return grown == after.zk.epoch_version - before.zk.epoch_version


def state_epoch_never_falls(before, after):
    """The controller epoch in the partition state never decreases."""
    return after.zk.state_epoch >= before.zk.state_epoch


def owner_is_newest(s):
    """The owner of /controller, once its term has begun, has the highest epoch of all (KAFKA-6082)."""
    for b in range(len(s.brokers)):
        if owns_controller(s.zk, b) and rules(s.brokers[b]) and s.brokers[b].epoch != s.zk.epoch:
            return False
    return True


def two_controllers(s):
    """Two brokers act as controller at once."""
    return rulers(s) > 1


def stale_request(s):
    """A control request arrives whose epoch is lower than one that its receiver has seen; it will be refused."""
    for epoch in range(len(s.network.requests)):
        for b in range(len(s.brokers)):
            if epoch < s.brokers[b].seen_epoch and arriving(s.network, b, epoch):
                return True
    return False


def refused_candidate(s):
    """A candidate's creation of /controller was refused, because another was first."""
    for b in range(len(s.brokers)):
        if s.brokers[b].doing == CONFIRMING and s.zk.controller != b:
            return True
    return False


def overtaken_candidate(s):
    """A candidate is about to raise an epoch that another has raised since it read it."""
    for broker in s.brokers:
        if broker.doing == CREATING or broker.doing == RAISING:
            if s.zk.epoch > broker.read_epoch:
                return True
    return False


def own_registration_found(s):
    """A candidate whose answer was lost finds that its own registration had succeeded."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        if broker.doing == CONFIRMING_EPOCH and s.zk.epoch == broker.read_epoch + 1:
            return True
    return False


def zombie_writes(s):
    """A controller is at work in an epoch that is not the current one any more."""
    for broker in s.brokers:
        if rules(broker) and broker.doing == IDLE and broker.epoch < s.zk.epoch:
            return True
    return False


def stale_context(s):
    """A broker that is not active, with nothing left to do or to handle, has never emptied its context."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        quiet = broker.doing == IDLE and s.zk.clients[b].fired == NOTHING
        if quiet and broker.ruling != NONE and not broker.active:
            return True
    return False


def forgotten_term(s):
    """A broker that has given up /controller, with nothing left to do or to handle, still acts as controller
    alongside the next one.
    """
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        quiet = broker.doing == IDLE and s.zk.clients[b].fired == NOTHING and s.zk.clients[b].session
        for c in range(len(s.brokers)):
            if quiet and rules(broker) and not broker.active and b != c:
                if rules(s.brokers[c]) and owns_controller(s.zk, c):
                    return True
    return False


def rules_nothing(s):
    """A broker, with nothing left to do or to handle, believes that it is the controller, and does not act as one."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        quiet = broker.doing == IDLE and s.zk.clients[b].fired == NOTHING
        if quiet and broker.active and broker.ruling == NONE:
            return True
    return False


def trapped(s):
    """The owner of /controller, at work with nothing to handle, has a version that fences all its writes."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        quiet = broker.doing == IDLE and s.zk.clients[b].fired == NOTHING
        if quiet and rules(broker) and owns_controller(s.zk, b):
            if broker.epoch_version != s.zk.epoch_version:
                return True
    return False


def refused_registration(s):
    """A process finds its id taken by the session of its predecessor."""
    for b in range(len(s.brokers)):
        if s.brokers[b].session != DOWN and s.zk.clients[b].registered > PROCESS:
            return True
    return False


SAFETY = (
    always(one_owner),
    always(epoch_unique),
    always_step(own_epoch),
    always(no_stale_write),
    always(one_token),
    always_step(applied_never_fall),
    always(deletes_own),
    always_step(idle_zombie),
    always(epoch_bound),
    always_step(epoch_node),
    always_step(state_epoch_never_falls),
    always(owner_is_newest),
)
GOALS = (
    sometimes(two_controllers),
    sometimes(stale_request),
    sometimes(refused_candidate),
    sometimes(overtaken_candidate),
    sometimes(zombie_writes),
    sometimes(refused_registration),
)
FENCED = SAFETY + GOALS + (sometimes(own_registration_found), sometimes(stale_context, faults=2))
EDITED = tuple(p for p in FENCED if p.name != "epoch_node") + (sometimes(trapped),)
LEGACY = SAFETY + GOALS
ZKCLIENT = tuple(
    replace(p, predicate=rebind(p.predicate, {rules: rules_by_channels}))
    for p in SAFETY + GOALS + (sometimes(stale_context, faults=1), sometimes(forgotten_term), sometimes(rules_nothing))
)
