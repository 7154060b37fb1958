"""Example histories of a realistic size."""

import copy


class Recorder:
    """Builds a history step by step, each step mutating a copy of the last state."""

    def __init__(self, lanes, initial, **head):
        self.history = {"format": 1, **head, "lanes": lanes, "initial": copy.deepcopy(initial), "steps": []}
        self.state = copy.deepcopy(initial)

    def step(self, lane, text, words, arrows=(), change=None, **extra):
        if change:
            change(self.state)
        names = ("from", "to", "label", "kind")
        self.history["steps"].append(
            {
                "text": text,
                "lane": lane,
                "words": words,
                "state": copy.deepcopy(self.state),
                "arrows": [dict(zip(names, arrow)) for arrow in arrows],
                **extra,
            }
        )


def replication():
    """12 steps: a record acknowledged to its producer is lost to truncation at the high watermark."""
    replica = {"role": "offline", "epoch": -1, "log": [], "hw": 0}
    initial = {
        "partition": {"leader": None, "epoch": 0, "isr": [0, 1, 2]},
        "replicas": [{**replica, "log": []} for _ in range(3)],
        "acknowledged": [],
    }
    made = Recorder(
        ["controller", "broker 0", "broker 1", "broker 2", "ZooKeeper"],
        initial,
        title="A record acknowledged and lost: replication before KIP-101",
        system="replication",
        variant="kip94",
        scope={"brokers": 3, "records": 2, "restarts": 1},
        property={
            "name": "strong_isr",
            "text": "Every record acknowledged to a producer is in the log of "
            "every member of the in-sync set, so that whichever of them leads next still has it.",
        },
        story="Broker 1 has fetched the record, but has not yet heard that it is committed. It restarts, cuts its "
        "log at the high watermark it knows, and is elected before it can fetch the record again.",
    )

    def elect(leader, epoch, isr):
        return lambda s: s["partition"].update(leader=leader, epoch=epoch, isr=isr)

    def role(broker, name, epoch):
        return lambda s: s["replicas"][broker].update(role=name, epoch=epoch)

    def fetch(broker):
        return lambda s: s["replicas"][broker]["log"].append("m1@0")

    def commit(s):
        s["replicas"][0]["hw"] = 1
        s["acknowledged"].append("m1@0")

    made.step(
        0,
        "controller.elect(leader=0)",
        "The controller picks broker 0 and writes its choice.",
        [(0, 4, "setData …/partitions/0/state", "request"), (4, 0, "version 1", "answer")],
        elect(0, 0, [0, 1, 2]),
    )
    made.step(
        1,
        "replication.become_leader(broker=0, request=0)",
        "Broker 0 takes the lead in epoch 0.",
        [(0, 1, "LeaderAndIsr epoch 0", "request")],
        role(0, "leader", 0),
    )
    made.step(
        2,
        "replication.become_follower(broker=1, request=0)",
        "Broker 1 follows broker 0.",
        [(0, 2, "LeaderAndIsr epoch 0", "request")],
        role(1, "follower", 0),
    )
    made.step(
        3,
        "replication.become_follower(broker=2, request=0)",
        "Broker 2 follows broker 0.",
        [(0, 3, "LeaderAndIsr epoch 0", "request")],
        role(2, "follower", 0),
    )
    made.step(
        1,
        "replication.produce(broker=0, record=m1)",
        "A producer with acks=all appends m1 to the leader's log.",
        (),
        fetch(0),
    )
    made.step(
        2,
        "replication.fetch(broker=1, offset=0)",
        "Broker 1 fetches m1; the answer still says high watermark 0.",
        [(2, 1, "Fetch from 0", "message"), (1, 2, "m1, hw 0", "answer")],
        fetch(1),
    )
    made.step(
        3,
        "replication.fetch(broker=2, offset=0)",
        "Broker 2 fetches m1.",
        [(3, 1, "Fetch from 0", "message"), (1, 3, "m1, hw 0", "answer")],
        fetch(2),
    )
    made.step(
        1,
        "replication.commit(broker=0)",
        "All three logs hold m1: the leader moves its high watermark and acknowledges m1.",
        (),
        commit,
    )
    made.step(
        2,
        "replication.restart(broker=1)",
        "Broker 1 restarts and cuts its log at its own high watermark, 0: m1 is gone.",
        (),
        lambda s: s["replicas"][1].update(role="offline", epoch=-1, log=[]),
    )
    made.step(
        4,
        "zookeeper.expire(session of broker=0)",
        "Broker 0 dies; its session expires and the controller is told.",
        [(4, 0, "/brokers/ids/0 deleted", "event")],
        lambda s: s["replicas"][0].update(role="offline"),
    )
    made.step(
        0,
        "controller.elect(leader=1)",
        "Broker 1 is alive and in the in-sync set, so it is picked.",
        [
            (0, 4, "setData …/partitions/0/state", "request"),
            (4, 0, "version 2", "answer"),
            (0, 2, "LeaderAndIsr epoch 1", "request"),
            (0, 3, "LeaderAndIsr epoch 1", "request"),
        ],
        elect(1, 1, [1, 2]),
    )
    made.step(
        2,
        "replication.become_leader(broker=1, request=1)",
        "Broker 1 leads with an empty log: m1 was acknowledged and is lost.",
        [(2, 3, "epoch 1 starts at 0", "message")],
        role(1, "leader", 1),
        violates=["strong_isr"],
    )
    return made.history


def fixed_replication():
    """The first eight steps of replication(), then a restart that keeps the record."""
    history = copy.deepcopy(replication())
    history.update(title="The same with leader epochs: KIP-101", variant="kip101")
    history["steps"] = history["steps"][:8]
    made = Recorder.__new__(Recorder)
    made.history, made.state = history, copy.deepcopy(history["steps"][-1]["state"])
    made.step(
        2,
        "replication.restart_keeping_log(broker=1)",
        "Broker 1 restarts and keeps its log until it can ask the leader.",
        (),
        lambda s: s["replicas"][1].update(role="offline"),
    )
    made.step(
        2,
        "replication.epoch_request(broker=1, epoch=0)",
        "It asks where epoch 0 ends: at 1, so nothing is cut.",
        [(2, 1, "OffsetsForLeaderEpoch 0", "request"), (1, 2, "ends at 1", "answer")],
        lambda s: s["replicas"][1].update(role="follower"),
    )
    return history


def election():
    """15 steps: two controllers at once, with a ZooKeeper lane, zxids and times."""
    broker = {"believes": "follower", "epoch": 0, "session": None, "paused": False}
    initial = {
        "znodes": {"/controller": None, "/controller_epoch": {"value": 0, "version": 0}, "/brokers/ids": [0, 1, 2]},
        "brokers": [dict(broker, session=f"0x10{i}") for i in range(3)],
        "requests_accepted": [],
    }
    made = Recorder(
        ["operator", "broker 0", "broker 1", "broker 2", "ZooKeeper"],
        initial,
        title="Two controllers at once: a pause longer than the session",
        system="election",
        variant="recorded, Kafka 2.3",
        scope={"brokers": 3, "session_timeout_ms": 6000},
        property={
            "name": "C4",
            "text": "A broker never acts on a request of a controller whose epoch is older than one "
            "that some broker has already been elected with.",
        },
        story="Recorded from a cluster of three brokers. The first controller sleeps through the end of its session and "
        "finishes what it had begun when it wakes.",
    )
    zxid, clock = 0x9B, 24 * 60 + 44.356

    def step(*parts, wait=0.21, seen=True, **extra):
        nonlocal zxid, clock
        clock += wait
        minutes, seconds = divmod(clock, 60)
        extra["time"] = f"03:{int(minutes):02}:{seconds:06.3f}"
        if seen:
            zxid += 1
            extra["zxid"] = hex(zxid)
        made.step(*parts, **extra)

    def lead(broker, epoch):
        return lambda s: s["brokers"][broker].update(believes="controller", epoch=epoch)

    def znode(name, value):
        return lambda s: s["znodes"].update({name: value})

    step(
        1,
        "election.create_controller(broker=0)",
        "Broker 0 creates the ephemeral node and wins.",
        [(1, 4, "create /controller", "request"), (4, 1, "ok", "answer")],
        znode("/controller", {"brokerid": 0, "session": "0x100"}),
    )
    step(
        2,
        "election.create_controller(broker=1)",
        "Broker 1 is too late and sets a watch.",
        [(2, 4, "create /controller", "request"), (4, 2, "NodeExists", "answer")],
    )
    step(
        3,
        "election.create_controller(broker=2)",
        "Broker 2 is too late and sets a watch.",
        [(3, 4, "create /controller", "request"), (4, 3, "NodeExists", "answer")],
    )
    step(
        1,
        "election.bump_epoch(broker=0)",
        "The winner raises the controller epoch to 1.",
        [(1, 4, "setData /controller_epoch, version 0", "request"), (4, 1, "version 1", "answer")],
        znode("/controller_epoch", {"value": 1, "version": 1}),
    )
    step(
        1,
        "election.become_controller(broker=0)",
        "Broker 0 now believes it is the controller.",
        (),
        lead(0, 1),
        seen=False,
    )
    step(
        1,
        "controller.update_metadata(broker=0, epoch=1)",
        "It tells the others.",
        [(1, 2, "UpdateMetadata epoch 1", "request"), (1, 3, "UpdateMetadata epoch 1", "request")],
        lambda s: [s["brokers"][i].update(epoch=1) for i in (1, 2)],
        seen=False,
    )
    step(
        0,
        "operator.pause(broker=0)",
        "The process of broker 0 is stopped: a long garbage collection.",
        [(0, 1, "SIGSTOP", "event")],
        lambda s: s["brokers"][0].update(paused=True),
        seen=False,
        wait=3,
    )

    def expire(s):
        s["znodes"].update({"/controller": None, "/brokers/ids": [1, 2]})
        s["brokers"][0]["session"] = None

    step(
        4,
        "zookeeper.expire(session=0x100)",
        "The session ends, its nodes vanish, and the watches fire.",
        [(4, 2, "/controller deleted", "event"), (4, 3, "/controller deleted", "event")],
        expire,
        wait=6.002,
    )
    step(
        2,
        "election.create_controller(broker=1)",
        "Broker 1 is the first to react and wins.",
        [(2, 4, "create /controller", "request"), (4, 2, "ok", "answer")],
        znode("/controller", {"brokerid": 1, "session": "0x101"}),
    )
    step(
        2,
        "election.bump_epoch(broker=1)",
        "It raises the controller epoch to 2.",
        [(2, 4, "setData /controller_epoch, version 1", "request"), (4, 2, "version 2", "answer")],
        znode("/controller_epoch", {"value": 2, "version": 2}),
    )
    step(
        2,
        "election.become_controller(broker=1)",
        "Broker 1 is the controller; broker 0 still believes it is, too.",
        (),
        lead(1, 2),
        seen=False,
    )
    step(
        0,
        "operator.resume(broker=0)",
        "Broker 0 wakes up and does not know how long it slept.",
        [(0, 1, "SIGCONT", "event")],
        lambda s: s["brokers"][0].update(paused=False),
        seen=False,
        wait=1.5,
    )
    step(
        1,
        "controller.leader_and_isr(broker=0, epoch=1)",
        "It sends what it had queued; broker 2 has not heard of epoch 2 and obeys.",
        [(1, 3, "LeaderAndIsr, controller epoch 1", "request"), (3, 1, "accepted", "answer")],
        lambda s: s["requests_accepted"].append({"by": 2, "from": 0, "epoch": 1}),
        seen=False,
        violates=["C4"],
    )
    step(
        2,
        "controller.update_metadata(broker=1, epoch=2)",
        "The new controller reaches broker 2.",
        [(2, 3, "UpdateMetadata epoch 2", "request")],
        lambda s: s["brokers"][2].update(epoch=2),
        seen=False,
    )
    step(
        4,
        "zookeeper.notify_expired(broker=0)",
        "Broker 0 learns that its session is over, and resigns.",
        [(4, 1, "Expired", "event")],
        lambda s: s["brokers"][0].update(believes="follower"),
        seen=False,
    )
    return made.history


def recording(length=600):
    """A long recording: rounds of fetching in groups, with elections and a violation between."""
    topics = {f"topic-{t}": [{"leader": p % 3, "isr": [0, 1, 2], "version": 0} for p in range(4)] for t in range(12)}
    initial = {"topics": topics, "hw": [0, 0, 0], "session": 0x1000_2345_6789_ABCD}
    made = Recorder(
        ["controller", "broker 0", "broker 1", "broker 2", "ZooKeeper"],
        initial,
        title=f"A recording of {length} steps",
        system="cluster",
        variant="recorded",
        scope={"brokers": 3, "topics": 12},
        property=None,
    )
    for number in range(1, length + 1):
        broker = number % 3
        if number % 40 == 0:
            topic = f"topic-{number // 40 % 12}"

            def shrink(state, topic=topic, broker=broker, number=number):
                state["topics"][topic][broker].update(isr=[broker], version=number // 40)

            made.step(
                1 + broker,
                f"broker.shrink_isr(broker={broker}, topic={topic})",
                "The leader drops a slow follower.",
                [(1 + broker, 4, "setData state", "request"), (4, 0, "state changed", "event")],
                shrink,
                time=f"03:{number // 60:02}:{number % 60:02}.000",
                **({"violates": ["single_leader"]} if number % 240 == 0 else {}),
            )
        else:

            def advance(state, broker=broker):
                state["hw"][broker] += 1

            made.step(
                1 + broker,
                f"broker.fetch(broker={broker})",
                "A follower fetches and the high watermark moves.",
                [(1 + broker, 1 + (broker + 1) % 3, "Fetch", "message")],
                advance,
                group="fetch rounds",
                time=f"03:{number // 60:02}:{number % 60:02}.000",
            )
    return made.history
