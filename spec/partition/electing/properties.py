"""Properties of elections in steps, as far as the controller's work shows what they break: C2, C4, C5 and C7."""

from kafkaproof.spec.election.broker_state import ELECTING
from kafkaproof.spec.election.broker_state import IDLE as NO_CANDIDATE
from kafkaproof.spec.election.properties.events import election_forgotten, reads_what_is
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.partition.context import IDLE, READING_BROKERS
from kafkaproof.spec.partition.electing.state import is_between
from kafkaproof.spec.partition.properties.controllers import epoch_bound as is_bounded
from kafkaproof.spec.partition.properties.states import exists
from kafkaproof.spec.partition.zookeeper import session_open, vacant


def epoch_unique(s):
    """No two controllers rule in one epoch (C2)."""
    for b in range(len(s.brokers)):
        for other in range(b):
            epoch = s.brokers[b].controller.epoch
            if epoch > 0 and epoch == s.brokers[other].controller.epoch:
                return False
    return True


def owner_is_newest(s):
    """The owner of /controller, if it rules, rules in the newest epoch (C5)."""
    for b in range(len(s.brokers)):
        epoch = s.brokers[b].controller.epoch
        if s.zk.controller == b and epoch > 0 and epoch != s.zk.epoch:
            return False
    return True


def deletes_own(s):
    """No broker has deleted a /controller that was not its own (C7)."""
    return not s.zk.ghosts.foreign_delete


def is_written(before, after, p):
    """Whether a state is written by a controller: its leader epoch changes."""
    new = after.zk.partitions[p]
    return exists(new) and new.leader_epoch != before.zk.partitions[p].leader_epoch


def written_by_owner(before, after):
    """A controller that writes a state owns /controller, or nobody else does (C4)."""
    for p in range(len(after.zk.partitions)):
        if is_written(before, after, p) and before.zk.controller != NOBODY:
            if before.brokers[before.zk.controller].controller.epoch != after.zk.partitions[p].controller_epoch:
                return False
    return True


def written_in_own_epoch(before, after):
    """A state is written in an epoch in which one controller rules (C2, C4)."""
    for p in range(len(after.zk.partitions)):
        ruling = 0
        for broker in before.brokers:
            if broker.controller.epoch == after.zk.partitions[p].controller_epoch:
                ruling += 1
        if is_written(before, after, p) and ruling > 1:
            return False
    return True


def raised_by_one(before, after, b, delivery):
    """Each election raises /controller_epoch by one, from what the candidate has read (C2)."""
    if delivery != ANSWERED or after.brokers[b].controller.epoch == 0:
        return True
    return after.zk.epoch == before.zk.epoch + 1 or before.zk.epoch < 0


def is_at_rest(broker):
    """Whether a broker is no candidate, and has none of what a candidate keeps."""
    kept = broker.read_epoch != 0 or broker.read_version != 0
    return broker.doing == NO_CANDIDATE and broker.active == 0 and not kept


def stands_for_nobody(before, after, b):
    """A broker becomes a candidate where there is no /controller, in an open session, once and without a term."""
    old = before.brokers[b]
    free = old.up == 1 and old.controller.epoch == 0 and old.doing == NO_CANDIDATE
    return free and vacant(before.zk) and session_open(before.zk, b) and after.brokers[b].doing == ELECTING


def rules_or_stands(s):
    """A broker that rules, or that does not run, is no candidate."""
    for broker in s.brokers:
        if (broker.controller.epoch > 0 or not broker.up) and not is_at_rest(broker):
            return False
    return True


def owner_rules_or_stands(s):
    """A process that owns /controller rules or is a candidate, as long as its session is open."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        idle = broker.controller.epoch == 0 and broker.doing == NO_CANDIDATE
        if broker.up and s.zk.controller == b and session_open(s.zk, b) and idle:
            return False
    return True


def term_begins(before, after):
    """A term begins in the newest epoch, and first reads which brokers are live."""
    for b in range(len(after.brokers)):
        controller = after.brokers[b].controller
        if before.brokers[b].controller.epoch == 0 and controller.epoch > 0:
            if controller.epoch != after.zk.epoch or controller.doing != READING_BROKERS:
                return False
            if after.brokers[b].epoch != controller.epoch:
                return False
    return True


def lapses(before, after):
    """A candidate whose session has expired gives up with its next step."""
    for b in range(len(after.brokers)):
        old = before.brokers[b]
        new = after.brokers[b]
        if not session_open(before.zk, b) and old.doing != NO_CANDIDATE and old.doing != new.doing:
            if not is_at_rest(new):
                return False
    return True


def reopens_at_rest(before, after, b):
    """A broker registers again when it is no candidate, and stays none."""
    return is_at_rest(before.brokers[b]) and is_at_rest(after.brokers[b])


def lands_late(s):
    """A candidate that has created /controller and is still to raise the epoch, while another broker rules."""
    for broker in s.brokers:
        for other in s.brokers:
            if is_between(broker) and other.controller.epoch > 0:
                return True
    return False


def zombie_is_newest(s):
    """A broker that does not own /controller rules in a newer epoch than its owner, which rules too."""
    for b in range(len(s.brokers)):
        if s.zk.controller != NOBODY and s.zk.controller != b:
            owner = s.brokers[s.zk.controller].controller.epoch
            if owner > 0 and s.brokers[b].controller.epoch > owner:
                return True
    return False


def zombie_has_written(s):
    """A state was written in a newer epoch than that in which the owner of /controller rules."""
    if s.zk.controller == NOBODY:
        return False
    owner = s.brokers[s.zk.controller].controller.epoch
    for state in s.zk.partitions:
        if owner > 0 and exists(state) and state.controller_epoch > owner:
            return True
    return False


def owner_waits_in_vain(s):
    """The owner of /controller waits for events in an old epoch, and no other broker rules or stands for election."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        old = s.zk.controller == b and 0 < controller.epoch < s.zk.epoch and controller.doing == IDLE
        if old and is_alone(s, b):
            return True
    return False


def is_alone(s, b):
    """Whether no other broker rules or is a candidate."""
    for other in range(len(s.brokers)):
        if other != b and (s.brokers[other].controller.epoch > 0 or s.brokers[other].doing != 0):
            return False
    return True


def epoch_bound(s):
    """No broker has seen, and no state holds, a controller epoch that has not been written yet (C9)."""
    return s.zk.epoch < 0 or is_bounded(s)


WITHOUT_STEPS = ("epoch_bound", "ephemerals_end_with_session")
"""Where the election is one step there is an epoch from the beginning, and the owner of /controller rules."""


def adapted(found):
    """Properties of partitions that hold of elections in steps, too."""
    return tuple(p for p in found if p.name not in WITHOUT_STEPS)


SAFETY = (
    always(epoch_bound),
    always(epoch_unique),
    always(owner_is_newest),
    always_step(written_by_owner),
    always_step(written_in_own_epoch),
    always(rules_or_stands),
    always_step(stands_for_nobody, of=("stand",)),
    always_step(term_begins),
)
IN_ONE_MULTI = (
    *SAFETY,
    always(election_forgotten),
    always(owner_rules_or_stands),
    always_step(raised_by_one, of=("register",)),
    always_step(reads_what_is, of=("learn_epoch",)),
    always_step(lapses),
    always_step(reopens_at_rest, of=("reopen",)),
)
IN_TWO_STEPS = (
    *SAFETY,
    always(deletes_own),
    always_step(raised_by_one, of=("raise_epoch",)),
    sometimes(lands_late, epochs=2, faults=1),
    sometimes(zombie_is_newest, epochs=2, faults=1),
    sometimes(zombie_has_written, epochs=2, faults=1),
    sometimes(owner_waits_in_vain, epochs=2, faults=1),
)
