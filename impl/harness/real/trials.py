"""What exploration found in the migration of 3.9, tried on a real cluster: each trial brings one finding about.

    python -m kafkaproof.impl.harness.real.trials TRIAL DIRECTORY

Controllers reach ZooKeeper through links, which hold or lose single requests. A trial returns whether the finding came
true; what was seen is in its transcript.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable

from kafkaproof.impl.harness.real.migrating import FIRST, begin, enter_migration, go_back, leave_migration, record_one
from kafkaproof.impl.harness.real.quorum import BROKERS, CONTROLLERS, MIGRATION_MODE, wait_for
from kafkaproof.impl.harness.real.tried import STATE, TriedCluster

UNWANTED = "KRaft controller indicates an active migration, but the ZK state does not"
REFUSED = "Conditional update on KRaft Migration ZNode failed"
WRONG_ID = "does not match the topic ID for partition"
LOW_EPOCH = "since its associated leader epoch 0 is smaller than the current leader epoch"
AGAIN = "Encountered ZooKeeper error during event SyncKRaftMetadataEvent"
TOPIC_ALREADY_EXISTS = 36
CAME_TRUE = "it came true"
ELECTIONS = 6
"""How often the quorum elects another leader before brokers enter migration mode."""
QUIET = 8
"""How long nothing may happen in seconds, before it is told that nothing does."""
TOPIC = "other-0"
"""The topic that is deleted, and created again."""
COPIED = r'.*"kraft_metadata_offset":[1-9].*'
"""What /migration says when all was copied."""


def begin_dual_write(cluster: TriedCluster) -> int:
    """A cluster in migration mode whose quorum writes to both stores; the active controller."""
    begin(cluster)
    enter_migration(cluster)
    cluster.await_driving("DUAL_WRITE")
    return cluster.active("DUAL_WRITE")


def fail_over(cluster: TriedCluster) -> None:
    """The active controller is killed while both stores are written, and another one writes to both."""
    before = frozenset(cluster.driving())
    cluster.kill(cluster.active("DUAL_WRITE"))
    cluster.await_driving("DUAL_WRITE", before)


def down_while_deleted(cluster: TriedCluster) -> bool:
    """A broker is down while a topic is deleted, which is then created again: it keeps the log, and refuses the topic.

    It is down for a while: what a controller was about to send to one that comes back at once reaches it.
    """
    begin_dual_write(cluster)
    cluster.stop(BROKERS[-1])
    time.sleep(QUIET)
    cluster.delete(TOPIC)
    wait_for(lambda: TOPIC not in cluster.topics(), "the topic stays")
    time.sleep(QUIET)
    cluster.start_broker(BROKERS[-1], MIGRATION_MODE)
    time.sleep(QUIET)
    kept = bool(cluster.logs_of(TOPIC)[-1])
    cluster.create(TOPIC, 1)
    time.sleep(QUIET)
    refused = cluster.logs_of(TOPIC)[-1] != cluster.id_of(TOPIC) and cluster.said(WRONG_ID) > 0
    fail_over(cluster)
    time.sleep(QUIET)
    cluster.logs_of(TOPIC)
    return kept and refused


def deleted_and_created(cluster: TriedCluster) -> bool:
    """Topics are deleted by one client, and created again at once by another: nobody has a replica of the new ones.

    A log in leader epoch 0 is deleted; one in a later epoch stays, and is of the former topic.
    """
    active = begin_dual_write(cluster)
    cluster.create("both", 1)
    time.sleep(QUIET)
    without = []
    for topic in "both", TOPIC:
        deletion = threading.Thread(target=cluster.delete_at, args=(active, topic))
        deletion.start()
        while cluster.create_at(active, topic) == TOPIC_ALREADY_EXISTS:
            pass
        deletion.join()
        cluster.note(f"{topic} is deleted and created again at controller {active}")
        time.sleep(QUIET)
        without.append(cluster.id_of(topic) not in cluster.logs_of(topic))
    cluster.said(WRONG_ID)
    cluster.said(LOW_EPOCH)
    fail_over(cluster)
    time.sleep(QUIET)
    cluster.logs_of("both")
    cluster.logs_of(TOPIC)
    return all(without)


def behind_the_copy(cluster: TriedCluster) -> bool:
    """The active controller is killed between the end of the copy and the write of /migration: nobody goes on."""
    begin(cluster)
    rules = cluster.hold(operation="setData", path="/migration", data=COPIED)
    enter_migration(cluster)
    node, frame = cluster.await_held(rules, "the end of the copy")
    cluster.kill(node)
    frame.drop()
    wait_for(lambda: any(cluster.says(each, UNWANTED) for each in CONTROLLERS), "the migration goes on")
    cluster.start_controller(node)
    for each in CONTROLLERS:
        cluster.create_at(each, "both")
    time.sleep(QUIET)
    return cluster.said(UNWANTED) > 0 and cluster.progress() < 0 and not cluster.id_of("both")


def lost_answer(cluster: TriedCluster) -> bool:
    """The answer to one write of /migration is lost, while both stores are written: all later writes are refused."""
    active = begin_dual_write(cluster)
    cluster.links[active].lose(True, "/migration")
    cluster.create("both", 1)
    time.sleep(QUIET)
    cluster.create("brief", 1)
    time.sleep(QUIET)
    stopped = cluster.said(REFUSED) > 0 and not cluster.id_of("brief")
    fail_over(cluster)
    cluster.await_topics([*FIRST, "both", "brief"])
    return stopped


def late_first_write(cluster: TriedCluster) -> bool:
    """A controller pauses before its first write of /migration, which comes when another one rules: that is refused from
    then on, and the next one does not go on.
    """
    begin(cluster)
    rules = cluster.hold(operation="setData", path="/migration")
    enter_migration(cluster)
    node, frame = cluster.await_held(rules, "its first write of /migration")
    cluster.pause(node)
    cluster.await_driving("DUAL_WRITE")
    cluster.progress()
    frame.let_go()
    cluster.pause(node, False)
    time.sleep(QUIET)
    cluster.create("both", 1)
    time.sleep(QUIET)
    stopped = cluster.said(REFUSED) > 0 and cluster.progress() < 0 and not cluster.id_of("both")
    cluster.kill(node)
    cluster.start_controller(node)
    cluster.kill(cluster.active("DUAL_WRITE"))
    wait_for(lambda: any(cluster.says(each, UNWANTED) for each in CONTROLLERS), "the next one goes on")
    cluster.said(UNWANTED)
    return stopped


def created_anew(cluster: TriedCluster) -> bool:
    """A topic waits for its deletion when the quorum claims the rule, and is created again behind the copy: it goes from
    ZooKeeper, and stays in the quorum's log.
    """
    begin(cluster)
    claims = cluster.hold(operation="multi", path="/controller_epoch")
    enter_migration(cluster)
    _, claim = cluster.await_held(claims, "its claim")
    ruler = json.loads(cluster.operator.get("/controller")[0])["brokerid"]
    other = next(each for each in BROKERS if each != ruler)
    cluster.pause(other)
    cluster.operator.create(f"/admin/delete_topics/{TOPIC}")
    cluster.note(f"the deletion of {TOPIC} is asked for; broker {ruler} is the controller")
    time.sleep(1)
    copies = cluster.hold(operation="setData", path="/migration", data=COPIED)
    claim.let_go()
    node, copied = cluster.await_held(copies, "the end of the copy")
    cluster.pause(other, False)
    cluster.id_of(TOPIC)
    cluster.note(f"{TOPIC} is created again at controller {node}: error {cluster.create_at(node, TOPIC)}")
    time.sleep(1)
    copied.let_go()
    cluster.await_driving("DUAL_WRITE")
    time.sleep(QUIET)
    return not cluster.id_of(TOPIC) and cluster.create_at(node, TOPIC) == TOPIC_ALREADY_EXISTS


def half_created(cluster: TriedCluster) -> bool:
    """The active controller is killed between a new topic and the state of its partition: the next one is refused for ever,
    until somebody creates that state by hand.
    """
    begin_dual_write(cluster)
    rules = cluster.hold(operation="multi", path=f"/brokers/topics/both{STATE}")
    for each in CONTROLLERS:
        threading.Thread(target=cluster.create_at, args=(each, "both"), daemon=True).start()
    node, frame = cluster.await_held(rules, "the state of both")
    before = frozenset(cluster.driving())
    cluster.kill(node)
    frame.drop()
    cluster.await_driving("SYNC_KRAFT_TO_ZK", before)
    time.sleep(2 * QUIET)
    stuck = cluster.said(AGAIN) > 1 and not cluster.id_of("both")
    stuck = stuck and all(state != "DUAL_WRITE" for _, _, state in set(cluster.driving()) - before)
    state = {"controller_epoch": 1, "leader": 0, "version": 1, "leader_epoch": 0, "isr": [0]}
    cluster.operator.create(f"/brokers/topics/both{STATE}", json.dumps(state).encode(), makepath=True)
    cluster.note(f"/brokers/topics/both{STATE} is created by hand")
    cluster.await_driving("DUAL_WRITE", before)
    cluster.id_of("both")
    return stuck


def higher_epoch(cluster: TriedCluster) -> bool:
    """The quorum had more elections than ZooKeeper: after the way back no leader is elected for a partition that loses its
    own, until /controller_epoch is as high.
    """
    begin(cluster)
    cluster.provision()
    before: frozenset = frozenset()
    for _ in range(ELECTIONS):
        active = cluster.await_driving("WAIT_FOR_BROKERS", before)
        before = frozenset(cluster.driving())
        cluster.kill(active)
        cluster.start_controller(active)
    for broker in BROKERS:
        cluster.restart_broker(broker, MIGRATION_MODE)
    cluster.await_driving("DUAL_WRITE")
    cluster.create("both", 1)
    cluster.await_topics([*FIRST, "both"])
    go_back(cluster)
    cluster.remove("/migration")
    leave_migration(cluster)
    leader = cluster.state_of("both")["leader"]
    cluster.stop(leader)
    time.sleep(QUIET)
    left_alone = cluster.state_of("both")["leader"] == leader
    while cluster.controller_epoch() < cluster.state_of("both")["controller_epoch"]:
        cluster.remove("/controller")
        cluster.await_controller()
        time.sleep(2)
    wait_for(lambda: cluster.state_of("both")["leader"] not in (leader, -1), "no leader is elected")
    return left_alone


TRIALS: dict[str, Callable[[TriedCluster], bool]] = {
    "down-while-deleted": down_while_deleted,
    "deleted-and-created": deleted_and_created,
    "behind-the-copy": behind_the_copy,
    "lost-answer": lost_answer,
    "late-first-write": late_first_write,
    "created-anew": created_anew,
    "half-created": half_created,
    "higher-epoch": higher_epoch,
}


def noted(trial: Callable[[TriedCluster], bool]) -> Callable[[TriedCluster], None]:
    """A trial as a story, in whose transcript stands whether the finding came true."""

    def story(cluster: TriedCluster) -> None:
        cluster.note(CAME_TRUE if trial(cluster) else "it did not come true")

    return story


def main(arguments: list[str] | None = None) -> int:
    """Record the trial that is named."""
    stories = {name: noted(trial) for name, trial in TRIALS.items()}
    return record_one(arguments, str(__doc__), stories, TriedCluster)


if __name__ == "__main__":
    sys.exit(main())
