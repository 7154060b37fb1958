"""Tamperings with partition states: leaders, ISRs, leader epochs."""

from json import loads

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.partition.triggers import admin_election
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.scene import stage_of
from kafkaproof.traces.zookeeper.transactions import Create, SetData
from kafkaproof.traces.zookeeper.znodes.topics import REASSIGN
from tests.traces.tamperings.scene import IDS, Record, kind


def quiet(record: Record) -> bool:
    """Whether nobody reassigns or deletes the topic of a state, so that only elections and ISRs write it."""
    content = record.tree.nodes.get(f"/brokers/topics/{record.znode.topic}")
    moving = b"adding_replicas" in content.data and b'adding_replicas":{},"removing_replicas":{}' not in content.data
    if record.scene.features.kip455 or moving or record.deleting():
        return not moving and not record.deleting() and REASSIGN not in record.tree.nodes
    name = b'"%s"' % record.znode.topic.encode()
    return not any(
        name in (getattr(o, "data", None) or b"")
        for t in record.scene.log[: record.place]
        for o in t.operations
        if getattr(o, "path", None) == REASSIGN
    )


def elects_on_request(features: Features) -> bool:
    """Whether some release of a log has unclean elections that an administrator asks for."""
    return any(admin_election.__name__ in stage_of(variant).functions for variant in features.explaining)


def staying(record: Record, brokers) -> list[int]:
    """Those of some brokers that are registered, go on, and were not away before in this term."""
    return [b for b in sorted(brokers) if b in record.registered and record.stays(b) and not record.was_away(b)]


@kind()
def leader_outside_the_isr(record: Record):
    """A controller makes a replica leader that is not in the ISR that it writes."""
    others = staying(record, set(record.replicas) - set(record.after.isr)) if record.by_controller else []
    if others and record.after.leader != NOBODY:
        return record.restate(leader=others[0])


@kind()
def leader_that_is_no_replica(record: Record):
    """A controller elects a broker that has no replica of the partition."""
    others = sorted(record.registered - set(record.replicas) - set(record.after.isr)) if record.after else []
    if others and record.by_controller and record.after.leader != NOBODY:
        return record.restate(leader=others[0], isr=[others[0], *record.after.isr])


@kind()
def unclean_while_the_leader_lives(record: Record):
    """A replica outside the ISR is elected, though the leader is there and stays there."""
    if not record.by_controller or not quiet(record) or record.before.leader not in staying(record, record.registered):
        return None
    others = [b for b in record.replicas if b not in record.before.isr and b in record.registered]
    there_since = record.tree.nodes[f"{IDS}/{record.before.leader}"].czxid
    if others and there_since < record.tree.nodes[record.path].czxid:
        return record.restate(leader=others[0], isr=[others[0]])


@kind()
def unclean_while_disabled(record: Record):
    """A replica outside the ISR is elected of a partition without a leader, though that is not enabled (1.1 to 2.3)."""
    config = record.tree.nodes.get(f"/config/topics/{record.znode.topic}") if record.by_controller else None
    if config is None or b'unclean.leader.election.enable":"true' in config.data:
        return None
    asked = "/config/brokers/<default>" in record.tree.nodes or elects_on_request(record.scene.features)
    others = [b for b in record.replicas if b not in record.before.isr and b in record.registered]
    if others and not asked and record.before.leader == NOBODY and quiet(record):
        return record.restate(leader=others[0], isr=[others[0]])


@kind(unseen="since 2.4 an operator may ask for it (kafka-leader-election, KIP-460), and no log has that request")
def unclean_on_request(record: Record):
    """A replica outside the ISR is elected where nobody leads, though that is not enabled (2.4 and later)."""
    asked = elects_on_request(record.scene.features)
    if record.by_controller and asked and record.before.leader == NOBODY and quiet(record):
        others = [b for b in record.replicas if b not in record.before.isr and b in record.registered]
        if others and not set(record.before.isr) & record.registered:
            return record.restate(leader=others[0], isr=[others[0]])


@kind(unseen="a preferred election may be asked for by a request (2.4 and later) or come by the timer, at any time")
def preferred_election_unasked(record: Record):
    """The preferred replica is elected from the ISR, though nobody asked for it in /admin."""
    if not record.by_controller or not record.replicas or not quiet(record):
        return None
    first, leader = record.replicas[0], record.before.leader
    if first != leader and first in record.before.isr and {first, leader} <= record.registered and record.stays(first):
        return record.restate(leader=first, isr=list(record.before.isr))


@kind(unseen="a controlled shutdown is a request between brokers; who is gone within a minute may have sent one")
def removal_of_one_that_dies_soon(record: Record):
    """A controller takes a replica out of an ISR before its session is over, though it died without a word."""
    if record.by_controller and record.after.leader == record.before.leader and quiet(record):
        others = [b for b in record.after.isr if b != record.after.leader and b in record.registered]
        soon = [b for b in others if not record.stays(b)]
        if soon and record.before.leader in record.registered:
            return record.restate(leader=record.before.leader, isr=[b for b in record.before.isr if b != soon[0]])


@kind()
def isr_without_its_leader(record: Record):
    """A leader writes an ISR that it is not in."""
    if record.by_leader and len(record.after.isr) > 1:
        return record.restate(isr=[b for b in record.after.isr if b != record.after.leader])


@kind()
def isr_grown_by_the_controller(record: Record):
    """An ISR grows with a new leader epoch, though only its leader lets replicas in."""
    others = sorted(set(record.replicas) - set(record.before.isr)) if record.by_controller else []
    if others and record.after.leader != NOBODY:
        return record.restate(isr=[*record.after.isr, others[0]])


@kind()
def isr_of_one_that_is_gone(record: Record):
    """A leader lets a replica in that the controller took out when its broker went, and that is not back (3.4+)."""
    if not record.by_leader or not record.scene.features.refuses_ineligible or not quiet(record):
        return None
    own = [change for change in record.scene.changes if change.path == record.path and change.zxid < record.zxid]
    began = next((change for change in reversed(own) if not change.by_leader), None)
    if began:
        gone = set(began.before.isr) - set(began.after.isr) - set(record.before.isr) - record.registered
        back = {getattr(o, "path", None) for t in record.scene.log[began.zxid : record.place] for o in t.operations}
        gone = sorted(broker for broker in gone if f"{IDS}/{broker}" not in back)
        if gone and set(record.before.isr) < set(record.after.isr):
            return record.restate(isr=[*record.after.isr, gone[0]])


@kind()
def recovering_after_a_clean_election(record: Record):
    """A controller elects a member of the ISR, and marks the partition as RECOVERING (3.2 and later)."""
    exact = record.scene.features.refuses_ineligible
    if exact and record.by_controller and record.after.leader in record.before.isr:
        return record.restate(leader_recovery_state=1)


@kind()
def isr_of_brokers_not_assigned(record: Record):
    """A leader lets a broker in that has no replica of the partition."""
    others = sorted(record.registered - set(record.replicas) - set(record.before.isr)) if record.by_leader else []
    told = (
        record.path
        in {
            getattr(o, "path", None)
            for t in record.scene.log[max(0, record.place - 400) : record.place]
            for o in t.operations
        }
        if others
        else False
    )
    if others and told and not record.deleting() and _never_assigned(record, others[0]):
        return record.restate(isr=[*record.after.isr, others[0]])


def _never_assigned(record: Record, broker: int) -> bool:
    """Whether no version of the topic znode so far has had a broker among the partition's replicas."""
    path, number = f"/brokers/topics/{record.znode.topic}", str(record.znode.number)
    written = [
        o.data
        for t in record.scene.log[: record.place]
        if not t.failed
        for o in t.operations
        if getattr(o, "path", None) == path and isinstance(o, Create | SetData)
    ]
    return not any(broker in loads(data)["partitions"].get(number, ()) for data in written)


@kind()
def isr_of_an_unknown_broker(record: Record):
    """A state names a broker in the ISR that never was."""
    if record.before:
        return record.restate(isr=[*record.after.isr, 99])


@kind()
def isr_empty(record: Record):
    """A state has an empty ISR (1.1 and later)."""
    if record.after:
        return record.restate(isr=[])


@kind()
def isr_with_a_replica_twice(record: Record):
    """A state has a replica twice in its ISR."""
    if record.after and record.after.isr:
        return record.restate(isr=[*record.after.isr, record.after.isr[0]])


@kind()
def isr_change_that_alters_the_leader(record: Record):
    """A leader's ISR names another leader, in the same leader epoch."""
    others = [b for b in record.after.isr if b != record.after.leader] if record.by_leader else []
    if others:
        return record.restate(leader=others[0])


@kind()
def isr_change_without_a_leader(record: Record):
    """An ISR is written in the same leader epoch with leader -1."""
    if record.by_leader:
        return record.restate(leader=NOBODY)


@kind()
def isr_of_a_follower(record: Record):
    """An ISR is written by a broker that is not the leader (up to 2.6)."""
    others = sorted(record.registered - {record.after.leader}) if record.by_leader and record.broker is not None else []
    if others and not record.scene.features.kip455 and len(record.transaction.operations) == 1:
        return record.substitute(session=record.session_of(others[0]))


@kind()
def isr_that_does_not_change(record: Record):
    """A leader writes the ISR that is there, in the same leader epoch."""
    if record.by_leader and set(record.after.isr) != set(record.before.isr):
        return record.restate(isr=list(record.before.isr))


@kind()
def isr_replaced(record: Record):
    """A leader lets a replica in and puts another one out in one write."""
    inside = [b for b in record.before.isr if b != record.before.leader] if record.by_leader else []
    outside = sorted(set(record.replicas) - set(record.before.isr)) if inside else []
    if outside:
        return record.restate(isr=[b for b in record.before.isr if b != inside[0]] + outside[:1])


@kind()
def leader_epoch_stands_still(record: Record):
    """A controller changes the leader, and the leader epoch stays."""
    if record.by_controller and record.after.leader != record.before.leader:
        return record.restate(leader_epoch=record.before.leader_epoch, raw=True)


@kind()
def leader_epoch_goes_back(record: Record):
    """A partition state has a smaller leader epoch than the one before."""
    if record.before and record.before.leader_epoch:
        return record.restate(leader_epoch=record.before.leader_epoch - 1, raw=True)


@kind()
def leader_epoch_jumps(record: Record):
    """A controller raises the leader epoch by two."""
    if record.by_controller:
        return record.restate(leader_epoch=record.before.leader_epoch + 2, raw=True)


@kind()
def leader_raises_the_epoch(record: Record):
    """A leader lets a replica in and raises the leader epoch."""
    if record.by_leader and set(record.after.isr) > set(record.before.isr):
        return record.restate(leader_epoch=record.before.leader_epoch + 1, raw=True)


@kind()
def leaderless_with_the_dead_in_the_isr(record: Record):
    """The leader goes offline, leader -1 is written, and it stays in an ISR that has others."""
    gone = record.by_controller and record.after.leader == NOBODY and record.before.leader != NOBODY
    if gone and len(record.before.isr) > 1:
        return record.restate(isr=list(record.before.isr))


@kind()
def leaderless_with_a_live_one_lost(record: Record):
    """The leader goes offline, and a replica that is there leaves the ISR with it."""
    if record.by_controller and record.after.leader == NOBODY and record.before.leader != NOBODY:
        rest = [b for b in record.after.isr if b != record.before.leader]
        if len(rest) > 1:
            return record.restate(isr=rest[1:])


@kind()
def leaderless_while_it_lives(record: Record):
    """Leader -1 is written while the leader is there and stays there."""
    if (
        record.by_controller
        and record.after.leader == record.before.leader
        and quiet(record)
        and record.before.leader in staying(record, record.registered)
    ):
        rest = [b for b in record.before.isr if b != record.before.leader]
        return record.restate(leader=NOBODY, isr=rest or list(record.before.isr))


@kind(
    unseen="of what a controller has read of /brokers/ids replay keeps the oldest that fits each write by itself: "
    "one that was away earlier in the term may still be away to it"
)
def leaderless_after_it_was_away(record: Record):
    """Leader -1 is written while the leader is there, which was away earlier in the term and has come back."""
    leader = record.before.leader if record.by_controller else None
    if (
        leader in record.registered
        and record.after.leader == leader
        and quiet(record)
        and record.stays(leader)
        and record.was_away(leader)
    ):
        rest = [b for b in record.before.isr if b != leader]
        return record.restate(leader=NOBODY, isr=rest or list(record.before.isr))


@kind()
def removal_of_one_that_lives(record: Record):
    """A controller takes a replica out of an ISR that is there and stays there."""
    if (
        record.by_controller
        and record.after.leader == record.before.leader
        and quiet(record)
        and set(record.after.isr) < set(record.before.isr)
    ):
        others = [b for b in staying(record, record.after.isr) if b != record.after.leader]
        if others:
            return record.restate(isr=[b for b in record.before.isr if b != others[0]])


@kind()
def two_removed_at_once(record: Record):
    """A controller takes two replicas out of an ISR in one write, and the leader stays."""
    if (
        record.by_controller
        and record.after.leader == record.before.leader != NOBODY
        and len(set(record.before.isr) - set(record.after.isr)) == 1
    ):
        others = [b for b in record.after.isr if b != record.after.leader]
        if others and quiet(record) and record.before.leader in staying(record, record.registered):
            return record.restate(isr=[b for b in record.after.isr if b != others[0]])


@kind()
def preferred_outside_the_isr(record: Record):
    """The preferred replica is elected, though it is not in the ISR, and the ISR stays."""
    if record.by_controller and record.replicas[:1] and record.replicas[0] not in record.before.isr:
        return record.restate(leader=record.replicas[0], isr=list(record.before.isr))


@kind()
def leader_moved_for_nothing(record: Record):
    """Another member of the ISR, not the preferred replica, is made leader while the leader is there and stays."""
    if not record.by_controller or not quiet(record) or record.before.leader not in staying(record, record.registered):
        return None
    others = [b for b in record.before.isr if b not in (record.before.leader, *record.replicas[:1])]
    if others and others[0] in record.registered:
        return record.restate(leader=others[0], isr=list(record.before.isr))


@kind()
def election_past_a_live_replica(record: Record):
    """A partition without a leader gets one that is not the first live replica in the ISR, and all of the ISR stay."""
    if record.by_controller and record.before.leader == NOBODY and record.after.leader != NOBODY and quiet(record):
        live = [b for b in record.replicas if b in record.after.isr and b in staying(record, record.registered)]
        if len(live) > 1 and live[0] == record.after.leader:
            return record.restate(leader=live[1])


@kind()
def state_written_again(record: Record):
    """A controller raises the leader epoch and changes nothing else; the leader was never away, nobody reassigns anything."""
    if (
        record.by_controller
        and record.scene.guarded
        and quiet(record)
        and record.next_of()
        and record.before.leader in (staying(record, record.registered))
    ):
        following = record.scene.log[record.next_of() - 1]
        if not any(
            "/brokers/topics" in getattr(o, "path", "") and "/partitions" not in o.path for o in following.operations
        ):
            return record.restate(leader=record.before.leader, isr=list(record.before.isr))
