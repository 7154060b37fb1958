"""Traffic of groups of real clusters with one thing changed."""

from collections.abc import Callable, Iterator

from tampered import Recorded, Tampering, changed, error, raised, swapped, without_one

from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.groups.judge import judge_groups
from kafkaproof.traces.wire.reading import Wire
from kafkaproof.traces.wire.traffic import Traffic
from kafkaproof.traces.wire.verdicts import Judged

NAMES = "3.9.1-groups-wire", "2.8.2-groups-wire", "1.1.1-groups-wire"
JOIN, SYNC, HEARTBEAT, LEAVE = "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup"
COMMIT, FETCH, FIND = "OffsetCommit", "OffsetFetch", "FindCoordinator"
GROUPS = JOIN, SYNC, HEARTBEAT, LEAVE, COMMIT, FETCH, FIND
READ = (*GROUPS, "LeaderAndIsr")
"""The messages that judges of groups go by."""
STRANGER = "a member that never was"


def where(name: str, apart: bool, change: Callable) -> Callable:
    """A change only of what has an error, or has none; `apart`: of what has one."""

    def apply(said):
        return change(said) if (said[name].name != "none") == apart else False

    return apply


def without_error(change: Callable) -> Callable:
    return where("error_code", False, change)


def of_first(name: str, change: Callable) -> Callable:
    """A change of the first of a list."""

    def apply(said):
        return change(said[name][0]) if said.get(name) else False

    return apply


def of_offset(change: Callable) -> Callable:
    """A change of what is said of the first partition, in any version."""

    def apply(said):
        own = said["groups"][0] if "groups" in said else said
        topics = own.get("topics") or ()
        return change(topics[0]["partitions"][0]) if topics and topics[0]["partitions"] else False

    return apply


def refused(name: str) -> Callable:
    """What was answered without an error is answered with one."""
    return without_error(error(name))


def swapped_assignments(said: dict) -> bool:
    """Two members get what the other should."""
    own = said["assignments"]
    if len(own) < 2 or own[0]["assignment"] == own[1]["assignment"]:
        return False
    own[0]["assignment"], own[1]["assignment"] = own[1]["assignment"], own[0]["assignment"]
    return True


def assigned_otherwise(said: dict) -> bool:
    """An assignment has another last byte."""
    if not said.get("assignment"):
        return False
    said["assignment"] = said["assignment"][:-1] + bytes([said["assignment"][-1] ^ 1])
    return True


def described_otherwise(said: dict) -> bool:
    """The metadata of a member have another last byte."""
    said["metadata"] = said["metadata"][:-1] + bytes([said["metadata"][-1] ^ 1])
    return True


def offers_otherwise(said: dict) -> bool:
    """A member offers nothing that others offer."""
    said["protocols"] = tuple({**each, "name": "none of theirs"} for each in said["protocols"])
    return True


def of_leaver(change: Callable) -> Callable:
    """A change of who leaves, in any version."""

    def apply(said):
        return change(said["members"][0] if "members" in said else said)

    return apply


def of_coordinator(change: Callable) -> Callable:
    """A change of the coordinator that is named, in any version."""

    def apply(said):
        own = said["coordinators"][0] if "coordinators" in said else said
        return change(own) if own["node_id"] >= 0 else False

    return apply


def told_to_a_follower(said: dict) -> bool:
    """A follower gets a list of members."""
    if said["members"]:
        return False
    said["members"] = ({"member_id": said["member_id"], "group_instance_id": None, "metadata": b""},)
    return True


MEMBER = swapped("member_id", STRANGER)
ASKED = {
    (JOIN, "member id, of nobody"): lambda said: bool(said["member_id"]) and MEMBER(said),
    (JOIN, "protocols, that nobody else offers"): offers_otherwise,
    (SYNC, "generation"): raised("generation_id"),
    (SYNC, "member id, of nobody"): MEMBER,
    (SYNC, "assignments swapped"): swapped_assignments,
    (SYNC, "an assignment left out"): without_one("assignments"),
    (HEARTBEAT, "generation"): raised("generation_id"),
    (HEARTBEAT, "member id, of nobody"): MEMBER,
    (LEAVE, "member id, of nobody"): of_leaver(MEMBER),
    (COMMIT, "generation"): raised("generation_id_or_member_epoch"),
    (COMMIT, "member id, of nobody"): MEMBER,
    (COMMIT, "offset"): of_offset(raised("committed_offset", 1000)),
}
TOLD = {
    (JOIN, "generation in the answer"): without_error(raised("generation_id")),
    (JOIN, "generation in the answer, the one before"): without_error(raised("generation_id", -1)),
    (JOIN, "leader in the answer"): without_error(swapped("leader", STRANGER)),
    (JOIN, "protocol in the answer"): without_error(swapped("protocol_name", "none of theirs")),
    (JOIN, "member id in the answer"): without_error(MEMBER),
    (JOIN, "a member left out of the leader's list"): without_error(without_one("members")),
    (JOIN, "metadata in the leader's list"): without_error(of_first("members", described_otherwise)),
    (JOIN, "a list of members for a follower"): without_error(told_to_a_follower),
    (JOIN, "answer UNKNOWN_MEMBER_ID"): refused("unknown_member_id"),
    (JOIN, "answer NOT_COORDINATOR"): refused("not_coordinator"),
    (JOIN, "answer INCONSISTENT_GROUP_PROTOCOL"): refused("inconsistent_group_protocol"),
    (SYNC, "assignment in the answer"): assigned_otherwise,
    (SYNC, "answer REBALANCE_IN_PROGRESS"): refused("rebalance_in_progress"),
    (SYNC, "answer ILLEGAL_GENERATION"): refused("illegal_generation"),
    (SYNC, "answer UNKNOWN_MEMBER_ID"): refused("unknown_member_id"),
    (HEARTBEAT, "an error left out of the answer"): where("error_code", True, error("none")),
    (HEARTBEAT, "answer REBALANCE_IN_PROGRESS"): refused("rebalance_in_progress"),
    (HEARTBEAT, "answer ILLEGAL_GENERATION"): refused("illegal_generation"),
    (HEARTBEAT, "answer UNKNOWN_MEMBER_ID"): refused("unknown_member_id"),
    (HEARTBEAT, "answer NOT_COORDINATOR"): refused("not_coordinator"),
    (HEARTBEAT, "answer FENCED_INSTANCE_ID"): refused("fenced_instance_id"),
    (LEAVE, "answer UNKNOWN_MEMBER_ID"): of_leaver(refused("unknown_member_id")),
    (COMMIT, "answer ILLEGAL_GENERATION"): of_offset(refused("illegal_generation")),
    (COMMIT, "answer UNKNOWN_MEMBER_ID"): of_offset(refused("unknown_member_id")),
    (COMMIT, "answer REBALANCE_IN_PROGRESS"): of_offset(refused("rebalance_in_progress")),
    (COMMIT, "answer COORDINATOR_LOAD_IN_PROGRESS"): of_offset(refused("coordinator_load_in_progress")),
    (FETCH, "offset in the answer"): of_offset(raised("committed_offset")),
    (FETCH, "no offset in the answer"): of_offset(
        lambda said: said["committed_offset"] >= 0 and swapped("committed_offset", -1)(said)
    ),
    (FETCH, "metadata in the answer"): of_offset(swapped("metadata", "other")),
    (FIND, "coordinator in the answer"): of_coordinator(raised("node_id", 50)),
    (FIND, "error in the answer"): of_coordinator(error("coordinator_not_available")),
}
ELSEWHERE, AGAIN, LOST, EARLY, ANOTHER = MOVED = (
    "sent to another",
    "sent again 2 s later",
    "lost",
    "answered at once",
    "answered as another one",
)
METADATA = "metadata"
KINDS = [
    (JOIN, METADATA),
    *ASKED,
    *TOLD,
    *((api, ELSEWHERE) for api in (JOIN, SYNC, HEARTBEAT, LEAVE, COMMIT, FETCH)),
    *((api, what) for what in (AGAIN, LOST) for api in (JOIN, SYNC, LEAVE)),
    (JOIN, EARLY),
    (SYNC, EARLY),
    *((api, ANOTHER) for api in (JOIN, SYNC, FETCH)),
]


def group_tamperings(of: Recorded) -> Iterator[Tampering]:
    """All single changes of the traffic of groups."""
    for each in of.exchanges:
        if each.api not in GROUPS or each.told is None:
            continue
        for (api, what), change in ASKED.items():
            if api == each.api and (found := changed(each, asked=change)):
                yield Tampering(api, what, each, found)
        if each.api == JOIN and (found := changed(each, asked=of_first("protocols", described_otherwise))):
            if each.told["error_code"].name == "none":
                yield Tampering(JOIN, METADATA, each, found)
        for (api, what), change in TOLD.items():
            if api == each.api and (found := changed(each, told=change)):
                yield Tampering(api, what, each, found)
        yield from _moved(of, each)


def _moved(of: Recorded, each: Exchange) -> Iterator[Tampering]:
    """A message elsewhere, at another time, or with the answer to another."""
    if (each.api, ELSEWHERE) in KINDS:
        found = changed(each, broker=next(b for b in (0, 1, 2) if b != each.broker))
        yield Tampering(each.api, ELSEWHERE, each, found)
    if (each.api, LOST) in KINDS:
        again = changed(each, time=each.time + 2000, answered=each.answered + 2000)
        again.place = each.place._replace(number=-1)
        yield Tampering(each.api, AGAIN, each, again, beside=True)
        yield Tampering(each.api, LOST, each, None)
    if (each.api, EARLY) in KINDS and each.answered - each.time > 50:
        found = changed(each, answered=each.time + 1)
        yield Tampering(each.api, EARLY, each, found)
    if (each.api, ANOTHER) in KINDS:
        for other in of.exchanges:
            if other.key == each.key and other.told and other.told != each.told and other.connection != each.connection:
                found = changed(each)
                found.__dict__["told"] = other.told
                yield Tampering(each.api, ANOTHER, each, found)
                break


def judged_groups(of: Recorded, exchanges: list[Exchange]) -> Judged:
    """What is said of the traffic of groups."""
    judged = Judged(Wire())
    in_order = sorted(exchanges, key=lambda each: (each.time, each.place))
    judge_groups(Traffic(in_order, of.history, of.features), judged)
    return judged


def found_of_groups(of: Recorded, tampering: Tampering) -> tuple[bool, bool]:
    """Whether a divergence is found, and whether at the message that was changed; one that is lost is found at another."""
    found = judged_groups(of, tampering.within(of.exchanges)).divergences
    at = tampering.at
    return bool(found), at is not None and any(each.place == at.place for each in found)
