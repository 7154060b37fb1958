"""Mistakes in the replication model of KIP-320, and what independent checkers count for each."""

from dataclasses import replace

from kafkaproof.spec.language.domains import NOBODY, Bound, Record, Sequence
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere, within
from kafkaproof.spec.language.sets import contains, everybody, only, without_member
from kafkaproof.spec.replication import replication as now
from kafkaproof.spec.replication.model import scope
from kafkaproof.spec.replication.replication import (
    REQUEST,
    Reason,
    Replica,
    Request,
    adopt,
    append,
    end_of_match,
    following_epoch,
    initial,
    is_true_leader,
    presumes_leadership,
    reached_current_epoch,
    reached_high_watermark,
    same_entry,
    truncate,
    write_isr,
    write_quorum,
)

SMALL, TWO, WIDE = scope(log=1, records=1, epochs=1), scope(brokers=2), scope(epochs=1)


def elect_without_leader(s, leader: Replica):
    if s.quorum.leader != NOBODY or not contains(s.quorum.isr, leader):
        return False
    write_quorum(s, leader, s.quorum.isr)
    return True


def elect_anyone(s, leader: Replica):
    if s.quorum.leader == leader:
        return False
    write_quorum(s, leader, s.quorum.isr)
    return True


def shrink_but_never_to_nobody(s, replica: Replica):
    quorum = s.quorum
    if quorum.leader != replica and not contains(quorum.isr, replica):
        return False
    if quorum.leader != replica and quorum.isr == only(replica):
        return False
    if quorum.leader != replica:
        write_quorum(s, quorum.leader, without_member(quorum.isr, replica))
    elif quorum.isr == only(replica):
        write_quorum(s, NOBODY, quorum.isr)
    else:
        write_quorum(s, NOBODY, without_member(quorum.isr, replica))
    return True


def write_quorum_without_request(s, leader, isr):
    write_quorum(s, leader, isr)
    if leader == NOBODY:
        s.requests.slots[s.requests.length - 1].isr = 0


def become_leaderless(s, follower: Replica, request: Request):
    """A replica takes a request that names no leader."""
    if request >= s.requests.length or s.requests.slots[request].leader != NOBODY:
        return False
    if request <= s.replicas[follower].leader_epoch:
        return False
    adopt(s.replicas[follower], request, NOBODY, s.requests.slots[request].isr)
    return True


def write_quorum_and_forget(s, leader, isr):
    """Only the newest request may still arrive."""
    write_quorum(s, leader, isr)
    for i in range(len(s.requests.slots)):
        if i < s.requests.length - 1:
            s.requests.slots[i].leader = NOBODY
            s.requests.slots[i].isr = 0


def write_isr_and_request(s, leader, isr):
    write_isr(s, leader, isr)
    s.requests.slots[s.quorum.leader_epoch].isr = isr


def initial_with_isr(s):
    initial(s)
    for replica in s.replicas:
        replica.isr = everybody(len(s.replicas))


def adopt_without_isr(replica, leader_epoch, leader, isr):
    adopt(replica, leader_epoch, leader, 0)


def inc_by_quorum_isr(s, leader: Replica):
    l = s.replicas[leader]
    if not presumes_leadership(s, leader) or l.hw >= l.log.length:
        return False
    for f in range(len(s.replicas)):
        if contains(s.quorum.isr, f):
            if not following_epoch(s, leader, f) or s.replicas[f].log.length <= l.hw:
                return False
    l.hw += 1
    return True


def same_leader(s, leader, follower):
    return presumes_leadership(s, leader) and s.replicas[follower].leader == leader


def shrink_anyone(s, leader: Replica, follower: Replica, reason: Reason):
    isr = s.replicas[leader].isr
    if leader == follower or not contains(isr, follower) or not is_true_leader(s, leader):
        return False
    write_isr(s, leader, without_member(isr, follower))
    return True


def always_reached_epoch(s, leader):
    return True


def always_reached(s, leader, follower):
    return True


def fetch_without_lowering(s, leader: Replica, follower: Replica):
    l = s.replicas[leader]
    f = s.replicas[follower]
    if not following_epoch(s, leader, follower) or f.log.length >= l.log.length:
        return False
    append(f.log, l.log.slots[f.log.length].id, l.log.slots[f.log.length].epoch)
    f.hw = max(f.hw, min(l.hw, f.log.length))
    return True


def fetch_nothing(s, leader: Replica, follower: Replica):
    """A follower that lacks no record learns the leader's high watermark."""
    l = s.replicas[leader]
    f = s.replicas[follower]
    if leader == follower or not following_epoch(s, leader, follower) or f.log.length < l.log.length:
        return False
    f.hw = min(l.hw, f.log.length)
    return True


def follow_whoever(s, leader: Replica, follower: Replica, request: Request):
    f = s.replicas[follower]
    l = s.replicas[leader]
    if leader == follower or request >= s.requests.length or s.requests.slots[request].leader != leader:
        return False
    if request <= f.leader_epoch:
        return False
    end = end_of_match(l.log, f.log)
    truncate(f.log, end)
    f.hw = min(end, f.hw)
    adopt(f, request, leader, s.requests.slots[request].isr)
    return True


def follow_later_leader(s, leader: Replica, follower: Replica, request: Request):
    f = s.replicas[follower]
    l = s.replicas[leader]
    if leader == follower or request >= s.requests.length or s.requests.slots[request].leader != leader:
        return False
    if request <= f.leader_epoch or l.leader != leader or l.leader_epoch < request:
        return False
    end = end_of_match(l.log, f.log)
    truncate(f.log, end)
    f.hw = min(end, f.hw)
    adopt(f, request, leader, s.requests.slots[request].isr)
    return True


def common_prefix(leader_log, follower_log):
    end = 0
    for i in range(len(leader_log.slots)):
        if end == i and same_entry(leader_log, follower_log, i):
            end = i + 1
    return end


def whole_log(leader_log, follower_log):
    return follower_log.length


def follow_without_lowering(s, leader: Replica, follower: Replica, request: Request):
    f = s.replicas[follower]
    l = s.replicas[leader]
    if leader == follower or request >= s.requests.length or s.requests.slots[request].leader != leader:
        return False
    if request <= f.leader_epoch or l.leader != leader or l.leader_epoch != request:
        return False
    truncate(f.log, end_of_match(l.log, f.log))
    adopt(f, request, leader, s.requests.slots[request].isr)
    return True


def epochs_exclusive(model):
    """The bound on epochs read as their number."""
    state = Record(
        **{name: (f.domain, f.meaning) for name, f in model.state.fields.items()}
        | {"requests": (Sequence(REQUEST, Bound("epochs")), "LeaderAndIsr request of each epoch")}
    )
    return replace(model, state=state)


def added(function):
    """The mutation that adds a transition."""
    return lambda model: replace(model, transitions=(*model.transitions, Transition(function, "controller")))


def mutant(name, text, mutate, small, two, wide):
    """A mutant with the rows of the three scopes: (distinct, depth, weak, strong)."""
    kills = "weak_isr" if small[2] or two[2] or wide[2] else "strong_isr" if small[3] or wide[3] else ""
    rows = {SMALL: small, TWO: two, WIDE: wide}
    at = next((at for at, row in rows.items() if row[2] or row[3]), SMALL)
    return Mutant(name, text, kills, mutate, at, rows)


MUTANTS = (
    Mutant(
        "elect-outside-isr",
        "the controller elects a replica outside the ISR",
        "leader_in_isr",
        everywhere({now.elect_leader: elect_anyone}),
        scope(brokers=2, log=1, records=1, epochs=1),
    ),
    mutant(
        "epochs-exclusive",
        "the bound on epochs taken as their number",
        epochs_exclusive,
        (271, 13, None, None),
        (957, 15, None, None),
        (1063, 17, None, None),
    ),
    mutant(
        "elect-only-leaderless",
        "the controller elects only when there is no leader",
        everywhere({now.elect_leader: elect_without_leader}),
        (3421, 18, None, None),
        (2293, 17, None, None),
        (18037, 22, None, None),
    ),
    mutant(
        "never-empty-isr",
        "the controller never shrinks the ISR to nobody",
        everywhere({now.controller_shrink_isr: shrink_but_never_to_nobody}),
        (6787, 18, None, None),
        (5881, 18, None, None),
        (39619, 22, None, None),
    ),
    mutant(
        "leaderless-not-sent",
        "states without a leader are not added to the requests",
        everywhere({write_quorum: write_quorum_without_request}),
        (6784, 18, None, None),
        (5972, 18, None, None),
        (39616, 22, None, None),
    ),
    mutant(
        "leaderless-taken",
        "a replica takes a request that names no leader",
        added(become_leaderless),
        (8551, 18, None, None),
        (9081, 18, None, None),
        (46495, 22, None, None),
    ),
    mutant(
        "newest-request-only",
        "only the newest request is kept",
        everywhere({write_quorum: write_quorum_and_forget}),
        (5443, 18, None, None),
        (3947, 17, None, None),
        (32005, 22, None, None),
    ),
    mutant(
        "isr-in-request",
        "a leader's ISR update also replaces the request of that epoch",
        everywhere({write_isr: write_isr_and_request}),
        (36763, 20, None, None),
        (7979, 19, None, None),
        (249994, 24, None, None),
    ),
    mutant(
        "initial-isr-all",
        "replicas start with everybody in their ISR (a bijection)",
        lambda model: replace(model, initial=initial_with_isr),
        (6787, 18, None, None),
        (5973, 18, None, None),
        (39619, 22, None, None),
    ),
    mutant(
        "follower-without-isr",
        "a follower does not store the ISR of the request",
        within("become_follower", {adopt: adopt_without_isr}),
        (8959, 16, 9, 9),
        (6985, 18, None, None),
        (61045, 21, 9, 9),
    ),
    mutant(
        "hw-by-quorum-isr",
        "the high watermark advances by the quorum's ISR, not the leader's",
        everywhere({now.leader_inc_high_watermark: inc_by_quorum_isr}),
        (6865, 18, 7, None),
        (6125, 18, 6, None),
        (40213, 22, 7, None),
    ),
    mutant(
        "hw-ignores-epoch",
        "the high watermark advances without comparing leader epochs",
        within("leader_inc_high_watermark", {following_epoch: same_leader}),
        (6805, 18, None, None),
        (5973, 18, None, None),
        (39769, 22, None, None),
    ),
    mutant(
        "shrink-anyone",
        "a leader may drop any follower at any time",
        everywhere({now.leader_shrink_isr: shrink_anyone}),
        (6787, 18, None, None),
        (5973, 18, None, None),
        (39619, 22, None, None),
    ),
    mutant(
        "shrink-ignores-epoch",
        "the shrink test ignores the leader epoch",
        within("leader_shrink_isr", {following_epoch: same_leader}),
        (6631, 18, None, None),
        (5953, 18, None, None),
        (39037, 22, None, None),
    ),
    mutant(
        "expand-ignores-epoch",
        "the ISR expands without comparing leader epochs",
        within("leader_expand_isr", {following_epoch: same_leader}),
        (7189, 18, None, None),
        (6265, 18, None, None),
        (41131, 22, None, None),
    ),
    mutant(
        "expand-before-own-epoch",
        "the ISR expands before the high watermark has reached the epoch",
        within("leader_expand_isr", {reached_current_epoch: always_reached_epoch}),
        (7099, 18, None, 12),
        (6519, 18, None, None),
        (42451, 22, None, 12),
    ),
    mutant(
        "expand-before-hw",
        "the ISR expands by a follower below the high watermark",
        within("leader_expand_isr", {reached_high_watermark: always_reached}),
        (8101, 18, 9, 9),
        (6825, 18, 8, 8),
        (52690, 22, 9, 9),
    ),
    mutant(
        "fetch-ignores-epoch",
        "a fetch does not compare leader epochs",
        within("follower_fetch", {following_epoch: same_leader}),
        (7282, 18, None, None),
        (6345, 18, None, None),
        (44653, 22, None, None),
    ),
    mutant(
        "hw-never-lower",
        "a follower's high watermark never goes down on a fetch",
        everywhere({now.follower_fetch: fetch_without_lowering}),
        (6787, 18, None, None),
        (6003, 18, None, None),
        (39823, 22, None, None),
    ),
    mutant(
        "fetch-of-hw-alone",
        "a fetch may carry the high watermark alone",
        added(fetch_nothing),
        (6919, 17, None, None),
        (6031, 20, None, None),
        (40765, 22, None, None),
    ),
    mutant(
        "truncate-by-anyone",
        "a follower truncates by the answer of whoever the request names",
        everywhere({now.become_follower: follow_whoever}),
        (7891, 18, None, None),
        (6765, 18, None, None),
        (43771, 22, None, None),
    ),
    mutant(
        "truncate-by-later-leader",
        "a follower accepts a leader of a later epoch",
        everywhere({now.become_follower: follow_later_leader}),
        (6787, 18, None, None),
        (5977, 18, None, None),
        (39619, 22, None, None),
    ),
    mutant(
        "truncate-to-prefix",
        "truncation to the longest common prefix (the same)",
        everywhere({end_of_match: common_prefix}),
        (6787, 18, None, None),
        (5973, 18, None, None),
        (39619, 22, None, None),
    ),
    mutant(
        "never-truncate",
        "a follower does not truncate",
        everywhere({end_of_match: whole_log}),
        (6883, 18, None, None),
        (5735, 18, 9, 9),
        (39739, 22, 10, 10),
    ),
    mutant(
        "truncation-keeps-hw",
        "truncation does not lower the high watermark (the same)",
        everywhere({now.become_follower: follow_without_lowering}),
        (6787, 18, None, None),
        (5973, 18, None, None),
        (39619, 22, None, None),
    ),
)
