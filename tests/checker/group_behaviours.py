"""Behaviours of groups, a step a line, and what each breaks at the sizes of the proofs."""

import re

DELETED_WHILE_COMMITTING = [
    "offsets.reset_offset(b=0) -> STORED",
    "deletion.delete_group(b=0) -> NONE",
    "offsets.offset_stored(b=0, i=0)",
]
STABLE = [
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> PARKED",
    "join.join_timeout(b=0, leader=0, protocol=0, topic=0)",
    "member.joined(m=0)",
    "sync.sync(b=0, m=0, late=0, owner=0) -> STORED",
    "sync.group_stored(b=0, i=0)",
    "member.synced(m=0)",
]
THERE_AND_BACK = STABLE + [
    "faults.fail_over(to=1, committed=1, kept=1)",
    "loading.take_over(b=1)",
    "loading.read(b=1)",
    "loading.load(b=1)",
    "membership.expire(b=1, id=0, heir=-1)",
    "join.complete_join(b=1, leader=-1, protocol=0, topic=0)",
    "faults.fail_over(to=0, committed=1, kept=2)",
    "offsets.commit(b=0, m=0, late=0) -> STORED",
]
ASSIGNED_BY_THE_LOG = [
    "faults.fail_over(to=1, committed=1, kept=2)",
    "loading.take_over(b=1)",
    "loading.read(b=1)",
    "loading.read(b=1)",
    "loading.load(b=1)",
    "sync.sync(b=1, m=1, late=0, owner=-1) -> NONE",
    "member.synced(m=1)",
]
TWO_ASSIGNMENTS = [
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "join.first_join(b=0, m=1, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> PARKED",
    "member.take_id(m=1)",
    "join.join(b=0, m=1, late=0, first=0, second=0, changed=0) -> PARKED",
    "join.join_timeout(b=0, leader=0, protocol=0, topic=0)",
    "member.joined(m=0)",
    "member.joined(m=1)",
    "faults.give_up(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> NONE",
    "member.joined(m=0)",
    "sync.sync(b=0, m=0, late=1, owner=0) -> STORED",
    "sync.sync(b=0, m=0, late=0, owner=1) -> STORED",
    "sync.group_stored(b=0, i=0)",
    "member.synced(m=0)",
    *ASSIGNED_BY_THE_LOG,
]
JOINED = [
    "join.first_join(b={b}, m={m}, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m={m})",
    "join.join(b={b}, m={m}, late=0, first=0, second=0, changed=0) -> PARKED",
]
COMPLETED = ["join.join_timeout(b={b}, leader={m}, protocol=0, topic=0)", "member.joined(m={m})"]
MOVED = ["faults.fail_over(to=1, committed=0, kept=0)", "loading.take_over(b=1)", "loading.load(b=1)"]
SYNCED = ["sync.sync(b={b}, m={m}, late=0, owner={m}) -> STORED", "sync.group_stored(b={b}, i=0)"]


def by(b, m, texts):
    """Steps of client `m` at broker `b`."""
    return [text.format(b=b, m=m) for text in texts]


REISSUED = by(0, 0, JOINED + COMPLETED) + MOVED + by(1, 1, JOINED + COMPLETED)
ZOMBIE = by(0, 0, JOINED) + MOVED + by(1, 1, JOINED + COMPLETED + SYNCED) + by(0, 0, COMPLETED)[:1]
CALLBACKS_IN_THE_WRONG_ORDER = [
    "offsets.reset_offset(b=0) -> STORED",
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> PARKED",
    "join.complete_join(b=0, leader=0, protocol=0, topic=0)",
    "member.joined(m=0)",
    "sync.sync(b=0, m=0, late=0, owner=0) -> STORED",
    "sync.group_stored(b=0, i=1)",
    "member.synced(m=0)",
    "offsets.commit(b=0, m=0, late=0) -> STORED",
    "offsets.offset_stored(b=0, i=1)",
    "offsets.offset_stored(b=0, i=0)",
]
JOINED_BY_BOTH = [*TWO_ASSIGNMENTS[:3], TWO_ASSIGNMENTS[4], TWO_ASSIGNMENTS[3], *TWO_ASSIGNMENTS[5:9]]
LOADED_AND_LOST = [
    *JOINED_BY_BOTH,
    "sync.sync(b=0, m=0, late=0, owner=0) -> STORED",
    "faults.fail_over(to=1, committed=0, kept=1)",
    "loading.take_over(b=1)",
    "loading.read(b=1)",
    "loading.load(b=1)",
    "sync.sync(b=1, m=1, late=0, owner=-1) -> NONE",
    "member.synced(m=1)",
]
GENERATION_ONE_AGAIN = [
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "join.first_join(b=0, m=1, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m=0)",
    "member.take_id(m=1)",
    "join.join(b=0, m=1, late=0, first=0, second=0, changed=0) -> PARKED",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> PARKED",
    "join.join_timeout(b=0, leader=1, protocol=0, topic=0)",
    "member.joined(m=0)",
    "member.joined(m=1)",
    "sync.sync(b=0, m=1, late=0, owner=0) -> STORED",
    "faults.fail_over(to=1, committed=0, kept=1)",
    "loading.take_over(b=1)",
    "loading.read(b=1)",
    "loading.load(b=1)",
    "sync.sync(b=1, m=0, late=0, owner=-1) -> NONE",
    "member.synced(m=0)",
    "membership.expire(b=1, id=1, heir=0)",
    "loading.unload(b=0)",
    "faults.fail_over(to=0, committed=0, kept=0)",
    "member.rejoin(m=1)",
    "join.join(b=1, m=1, late=0, first=0, second=0, changed=0) -> UNKNOWN_MEMBER_ID",
    "member.start_over(m=1)",
    "deletion.remove_dead(b=0)",
    "loading.take_over(b=0)",
    "loading.load(b=0)",
    *by(0, 1, JOINED + COMPLETED + SYNCED),
    "member.synced(m=1)",
]
LOST_AT_THE_THIRD = [*LOADED_AND_LOST, "faults.fail_over(to=2, committed=0, kept=0)"]
LOST_AT_THE_FIRST = [*LOADED_AND_LOST, "faults.fail_over(to=0, committed=0, kept=0)"]
GENERATION_TWO = [
    *STABLE,
    "join.first_join(b=0, m=1, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m=1)",
    "join.join(b=0, m=1, late=0, first=0, second=0, changed=0) -> PARKED",
    "membership.heartbeat(b=0, m=0) -> REBALANCE_IN_PROGRESS",
    "member.rejoin(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> PARKED",
    "join.complete_join(b=0, leader=0, protocol=0, topic=0)",
    "member.joined(m=0)",
    "member.joined(m=1)",
]
TOLD_AGAIN = [
    "faults.give_up(m=0)",
    "sync.sync(b=0, m=0, late=1, owner=1) -> STORED",
    "faults.give_up(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> NONE",
    "member.joined(m=0)",
]
GENERATION_TWO_AGAIN = [
    "loading.take_over(b={b})",
    "loading.read(b={b})",
    "loading.load(b={b})",
    "join.join(b={b}, m=0, late=1, first=0, second=0, changed=0) -> PARKED",
    "join.complete_join(b={b}, leader=0, protocol=0, topic=0)",
    "sync.sync(b={b}, m=0, late=0, owner=0) -> STORED",
    "sync.group_stored(b={b}, i=0)",
    "member.synced(m=0)",
]
TWICE_IN_GENERATION_TWO = [
    *GENERATION_TWO,
    *TOLD_AGAIN,
    *ASSIGNED_BY_THE_LOG,
    "faults.fail_over(to=0, committed=1, kept=1)",
    "loading.unload(b=0)",
    "deletion.remove_dead(b=0)",
    *by(0, 0, GENERATION_TWO_AGAIN),
]
EMPTY_IN_GENERATION_TWO = [
    *by(0, 0, JOINED + COMPLETED),
    "membership.expire(b=0, id=0, heir=-1)",
    "join.complete_join(b=0, leader=-1, protocol=0, topic=0)",
]
LOADED_NOTHING = [
    *by(0, 0, JOINED + COMPLETED + SYNCED),
    "faults.fail_over(to=1, committed=1, kept=1)",
    "loading.take_over(b=1)",
    "loading.load_fails(b=1)",
    *by(1, 1, JOINED + COMPLETED[:1]),
]
EXPIRED_AT_ONCE = [
    *EMPTY_IN_GENERATION_TWO,
    "faults.time_passes(retention=1)",
    "offsets.reset_offset(b=0) -> STORED",
    "offsets.offset_stored(b=0, i=0)",
    "deletion.clean_up(b=0)",
]
BORN_AGAIN = [
    *EMPTY_IN_GENERATION_TWO,
    "faults.time_passes(retention=0)",
    "deletion.clean_up(b=0)",
    "deletion.remove_dead(b=0)",
    "sync.sync(b=0, m=0, late=0, owner=-1) -> UNKNOWN_MEMBER_ID",
    "member.start_over(m=0)",
    *by(0, 0, JOINED + COMPLETED + SYNCED),
    "deletion.bury(b=0)",
]
STORED_TWICE = [*JOINED_BY_BOTH[:-1], *TWO_ASSIGNMENTS[9:15], "sync.group_stored(b=0, i=0)"]
FALSE_OF_CURRENT = {
    "above_stored": LOADED_NOTHING,
    "stable_is_stored": BORN_AGAIN,
    "no_stale_commit": THERE_AND_BACK,
    "durable": DELETED_WHILE_COMMITTING,
    "assignment_is_stored": LOST_AT_THE_FIRST,
    "disjoint": TWICE_IN_GENERATION_TWO,
    "disjoint_by_number": GENERATION_ONE_AGAIN,
    "young_offset_stays": EXPIRED_AT_ONCE,
}
OFFSET_DELETED_WHILE_COMMITTING = [
    "offsets.reset_offset(b=0) -> STORED",
    "deletion.delete_offset(b=0) -> NONE",
    "offsets.offset_stored(b=0, i=0)",
]
LOST_ALONE = [
    *by(0, 0, JOINED + COMPLETED),
    "faults.give_up(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> NONE",
    "member.joined(m=0)",
    "sync.sync(b=0, m=0, late=1, owner=0) -> STORED",
    "faults.fail_over(to=1, committed=0, kept=1)",
    "loading.take_over(b=1)",
    "loading.read(b=1)",
    "loading.load(b=1)",
    "sync.sync(b=1, m=0, late=0, owner=0) -> NONE",
    "member.synced(m=0)",
    "faults.fail_over(to=0, committed=0, kept=0)",
]
TWO_ALONE = [
    *STABLE,
    "faults.fail_over(to=1, committed=1, kept=1)",
    "loading.take_over(b=1)",
    "loading.load_fails(b=1)",
    *by(1, 1, JOINED + COMPLETED + SYNCED),
    "member.synced(m=1)",
]
LOADED_BEHIND = [
    "offsets.reset_offset(b=0) -> STORED",
    "offsets.offset_stored(b=0, i=0)",
    "faults.fail_over(to=1, committed=1, kept=1)",
    "loading.take_over(b=1)",
    "loading.load(b=1)",
]
EXPIRED_WHILE_RUNNING = [
    *STABLE,
    "offsets.commit(b=0, m=0, late=0) -> STORED",
    "offsets.offset_stored(b=0, i=0)",
    "faults.time_passes(retention=1)",
    "deletion.clean_up(b=0)",
]
CACHED_BEYOND_THE_LOG = [
    "offsets.reset_offset(b=0) -> STORED",
    "offsets.offset_not_stored(b=0, i=0, error=1)",
    "offsets.reset_offset(b=0) -> STORED",
    "faults.fail_over(to=1, committed=0, kept=2)",
    "loading.take_over(b=1)",
    "loading.read(b=1)",
    "loading.read(b=1)",
    "loading.load(b=1)",
    "faults.fail_over(to=0, committed=0, kept=0)",
    "faults.fail_over(to=1, committed=0, kept=0)",
    "offsets.reset_offset(b=1) -> STORED",
    "offsets.offset_stored(b=1, i=0)",
]
APPENDED_IN_ANOTHER_ORDER = [
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> PARKED",
    "join.complete_join(b=0, leader=0, protocol=0, topic=0)",
    "member.joined(m=0)",
    "sync.sync(b=0, m=0, late=0, owner=0) -> STORED",
    "join.first_join(b=0, m=1, late=0, first=0, second=0) -> PARKED",
    "join.join_timeout(b=0, leader=1, protocol=0, topic=0)",
    "member.joined(m=1)",
    "sync.sync(b=0, m=1, late=0, owner=1) -> STORED",
    "coordinator.append(b=0, i=1)",
    "sync.group_stored(b=0, i=0)",
    "coordinator.append(b=0, i=0)",
    "sync.group_stored(b=0, i=0)",
]
COMMITTED_BEHIND_A_GENERATION = [
    *APPENDED_IN_ANOTHER_ORDER[:4],
    "coordinator.append(b=0, i=0)",
    "sync.group_stored(b=0, i=0)",
    "member.synced(m=0)",
    "offsets.commit(b=0, m=0, late=0) -> STORED",
    "membership.expire(b=0, id=0, heir=-1)",
    "join.complete_join(b=0, leader=-1, protocol=0, topic=0)",
    "coordinator.append(b=0, i=1)",
    "coordinator.append(b=0, i=0)",
]


def without_ids(texts):
    """The same steps where no member id is required: who is told to take one is let in at once."""
    found, named = [], set()
    for text in texts:
        transition, _, arguments = text.partition("(")
        client = re.search(r"\bm=(\d)", arguments)
        if transition == "member.take_id":
            named.add(client[1])
        elif transition == "join.join" and client[1] in named:
            named.remove(client[1])
            found.append("join.first_join(" + arguments.replace(", changed=0", ""))
        elif transition != "join.first_join":
            found.append(text)
    return found


def without_delay(texts):
    """The same steps where no initial delay has to pass until a generation is complete."""
    return [text.replace("join.join_timeout(", "join.complete_join(") for text in texts]


def as_appended(texts):
    """The same steps where a record that is prepared is appended in a step of its own, at once."""
    found = []
    for text in texts:
        found.append(text)
        broker = re.search(r"\bb=(\d)", text)
        if text.endswith("-> STORED") or text.startswith("join.complete_join(") and "leader=-1" in text:
            found.append(f"coordinator.append(b={broker[1]}, i=0)")
    return found


FALSE_OF_LOCKED = {
    name: without_ids(texts)
    for name, texts in {
        "above_stored": LOADED_NOTHING,
        "stable_is_stored": BORN_AGAIN,
        "no_stale_commit": THERE_AND_BACK,
        "durable": DELETED_WHILE_COMMITTING,
        "running_group_keeps_offset": EXPIRED_WHILE_RUNNING,
        "assignment_is_stored": LOST_AT_THE_FIRST,
        "disjoint": TWICE_IN_GENERATION_TWO,
        "disjoint_by_number": TWO_ALONE,
    }.items()
}
FALSE_OF_ONE = {
    "above_stored": LOADED_NOTHING,
    "stable_is_stored": BORN_AGAIN,
    "no_stale_commit": THERE_AND_BACK,
    "durable": OFFSET_DELETED_WHILE_COMMITTING,
    "assignment_is_stored": LOST_ALONE,
    "young_offset_stays": EXPIRED_AT_ONCE,
}
FALSE_OF_UNLOCKED = {name: without_delay(texts) for name, texts in FALSE_OF_LOCKED.items()} | {
    "durable": LOADED_BEHIND,
    "loaded_is_log": LOADED_BEHIND,
    "offset_never_regresses": CACHED_BEYOND_THE_LOG,
}
FALSE = {
    "unlocked": {name: as_appended(texts) for name, texts in FALSE_OF_UNLOCKED.items()}
    | {"stable_is_stored": APPENDED_IN_ANOTHER_ORDER, "no_stale_commit": COMMITTED_BEHIND_A_GENERATION},
    "locked": FALSE_OF_LOCKED,
    "gated": FALSE_OF_LOCKED,
    "current": FALSE_OF_CURRENT,
    "transactional": FALSE_OF_CURRENT,
    "static": {name: without_ids(texts) for name, texts in FALSE_OF_ONE.items()},
    "limited": FALSE_OF_ONE | {"disjoint_by_number": TWO_ALONE},
}
"""By variant and property: a behaviour at the sizes of the proof that ends with the property broken."""
