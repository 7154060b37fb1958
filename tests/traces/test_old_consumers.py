"""Groups of old consumers in a log: what is a step of *consumer*, and what is told."""

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.consumer.assignment import owner, owner_thread
from kafkaproof.traces.explain.consumers.claims import claims
from kafkaproof.traces.explain.consumers.follower import OldConsumers
from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, CreateSession, Delete, SetData, Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from tests.traces.log_writer import write_log
from tests.traces.replaying import FENCED, first, run_json

A, B, C, TOOL = 0xA, 0xB, 0xC, 0x7
NAMES = {A: "g_a-1-0", B: "g_b-1-0", C: "g_c-1-0"}


class Log:
    """A log that is written and followed; `root`: the chroot of the cluster."""

    def __init__(self, root="", names_are_true=True):
        self.tree, self.follower = Tree(), OldConsumers(root, names_are_true)
        self.root, self.zxid, self.records = root, 0, []
        self.follower.begin(self.tree, None)
        if root:
            self.root = ""
            self.create(TOOL, root)
            self.root = root

    def write(self, session, *operations):
        """One record."""
        self.zxid += 1
        self.records.append(Transaction(self.zxid, session, self.zxid, self.zxid, operations, len(operations) > 1))
        self.follower.before(self.records[-1])
        self.tree.apply(self.records[-1])

    def create(self, session, path, content="", ephemeral=False):
        """One record for the znode, and one for each of its parents that is missing."""
        parent = path.rpartition("/")[0]
        if parent and self.root + parent not in self.tree.nodes:
            self.create(TOOL, parent)
        data = (content if isinstance(content, str) else json.dumps(content)).encode()
        self.write(session, Create(self.root + path, data, ephemeral, -1))

    def topic(self, partitions, name="t"):
        self.create(
            TOOL, f"/brokers/topics/{name}", {"version": 1, "partitions": {str(p): [1] for p in range(partitions)}}
        )

    def register(self, session, threads=1, pattern="static", topics=("t",)):
        content = {"version": 1, "subscription": dict.fromkeys(topics, threads), "pattern": pattern, "timestamp": "1"}
        self.create(session, f"/consumers/g/ids/{NAMES[session]}", content, ephemeral=True)

    def claim(self, session, p, thread=0, name=None):
        self.create(session, f"/consumers/g/owners/t/{p}", f"{name or NAMES[session]}-{thread}", ephemeral=True)

    def release(self, session, p):
        self.write(session, Delete(f"{self.root}/consumers/g/owners/t/{p}"))

    def commit(self, session, p, offset):
        path = f"{self.root}/consumers/g/offsets/t/{p}"
        data = str(offset).encode()
        if node := self.tree.nodes.get(path):
            self.write(session, SetData(path, data, node.version + 1))
        else:
            self.create(session, path.removeprefix(self.root), data.decode())

    def expire(self, session):
        self.write(session, CloseSession(None))

    @property
    def steps(self):
        """The step of each record that is one."""
        return [account.name for _, account in self.follower.accounts.pairs]

    @property
    def told(self):
        """What no step explains."""
        self.follower.end()
        return [problem.rpartition(": ")[2] for problem in self.follower.problems]

    @property
    def violated(self):
        """Properties of *consumer* that do not hold, with the zxid of the first record."""
        return {name: seen.first for name, seen in self.follower.found.violated.items()}


@pytest.fixture
def log():
    """Two partitions, and a member that owns both."""
    found = Log()
    found.topic(2)
    found.register(A)
    found.claim(A, 0)
    found.claim(A, 1)
    return found


RELEASE = "release or undo"


def test_a_rebalance_is_steps_of_consumer(log):
    log.commit(A, 0, 5)
    log.register(B)
    log.release(A, 0)
    log.release(A, 1)
    log.claim(A, 0)
    log.claim(B, 1)
    log.commit(B, 1, 7)
    assert log.steps == [
        "register",
        "claim",
        "claim",
        "commit",
        "register",
        RELEASE,
        RELEASE,
        "claim",
        "claim",
        "commit",
    ]
    assert log.told == [] and log.violated == {}
    assert log.follower.found.as_json()["members"] == 2


def test_a_claim_that_no_membership_explains_is_told(log):
    log.register(B)
    log.release(A, 0)
    log.claim(B, 0)
    assert log.steps[-1] == RELEASE
    assert log.told == ["no members and partitions that there were since the owner registered give it this partition"]


def test_a_member_that_has_read_less_than_there_is_now_may_claim_by_that(log):
    log.register(B)
    log.register(C)
    log.release(A, 1)
    log.claim(B, 1)
    assert log.told == []


def test_a_member_that_is_gone_leaves_its_partitions_to_others(log):
    log.expire(A)
    log.register(B)
    log.claim(B, 0)
    log.claim(B, 1)
    assert log.told == []


def test_round_robin_explains_what_range_does_not():
    log = Log()
    log.topic(4)
    log.register(A)
    log.register(B)
    log.claim(B, 1)
    assert log.told == []
    log.claim(B, 0)
    assert len(log.told) == 1


def test_the_thread_counts(log):
    log.expire(A)
    log.register(B, threads=2)
    log.claim(B, 0, thread=0)
    log.claim(B, 1, thread=0)
    assert len(log.told) == 1


@pytest.mark.parametrize(
    "subscription",
    [{"pattern": "white_list", "topics": ("t.*",)}, {"topics": ("t", "u")}],
    ids=["pattern", "two topics"],
)
def test_what_cannot_be_computed_is_not_judged(subscription):
    log = Log()
    log.topic(2)
    log.register(A, **subscription)
    log.register(B, **subscription)
    log.claim(B, 0)
    assert log.told == [] and log.steps[-1] == "claim"


def test_under_pseudonyms_ids_have_another_order():
    log = Log(names_are_true=False)
    log.topic(2)
    log.register(A)
    log.register(B)
    log.claim(B, 0)
    assert log.told == []


def test_an_owner_that_never_registered_is_told(log):
    log.release(A, 0)
    log.claim(TOOL, 0, name="g_d-1-0")
    assert log.told == ["the owner that it names has never registered"]


def test_a_claim_in_a_new_session_comes_before_the_registration_in_it(log):
    log.expire(A)
    log.claim(B, 0, name=NAMES[A])
    log.create(B, f"/consumers/g/ids/{NAMES[A]}", {"subscription": {"t": 1}, "pattern": "static"}, ephemeral=True)
    assert log.told == []


def test_a_claim_in_a_session_without_a_registration_is_told(log):
    log.expire(A)
    log.claim(B, 0, name=NAMES[A])
    assert log.told == ["the owner never registers in this session"]


def test_a_release_of_what_was_never_claimed_is_told(log):
    log.register(B)
    log.release(B, 0)
    assert log.told == [f"{NAMES[B]} has never claimed this partition"]


def test_a_release_of_the_claim_of_another_is_a_violation_that_kafka_has(log):
    log.register(B)
    log.release(A, 1)
    log.claim(B, 1)
    log.release(A, 1)
    assert log.told == [] and log.violated == {"deletes_its_own": log.zxid}


def test_an_offset_that_falls_is_a_violation_that_kafka_has(log):
    log.commit(A, 0, 5)
    log.commit(A, 0, 3)
    log.commit(A, 0, 9)
    assert log.violated == {"offset_never_falls": log.zxid - 1} and log.steps[-3:] == ["commit"] * 3


def test_offsets_by_others_are_no_step(log):
    log.commit(TOOL, 0, 5)
    assert log.steps[-1] == "claim" and log.told == []


def test_what_is_in_the_snapshot_is_known():
    before = Log()
    before.topic(2)
    before.register(A)
    before.claim(A, 0)
    log = Log()
    log.tree = before.tree
    log.zxid = before.zxid
    log.follower.begin(log.tree, None)
    log.release(A, 0)
    log.claim(A, 1)
    assert log.told == [] and log.steps == [RELEASE, "claim"]


def test_below_a_chroot_only():
    log = Log(root="/k")
    log.topic(1)
    log.register(A)
    assert log.steps == ["register"]
    log.root = ""
    log.create(TOOL, "/other")
    log.root = "/other"
    log.register(B)
    assert log.steps == ["register"]


@pytest.mark.parametrize("members, threads, partitions", list(product(range(1, 5), (1, 2), (1, 3, 8))))
def test_what_members_claim_is_the_assignment(members, threads, partitions):
    found = {(p, c): t for c in range(members) for p, t in claims("range", members, c, threads, partitions).items()}
    everybody = (1 << members) - 1
    assert found == {
        (p, owner(p, partitions, everybody, threads)): owner_thread(p, partitions, everybody, threads)
        for p in range(partitions)
    }


@given(st.integers(1, 8), st.integers(1, 4), st.integers(1, 20))
def test_round_robin_gives_each_partition_to_one(members, threads, partitions):
    found = [p for c in range(members) for p in claims("roundrobin", members, c, threads, partitions)]
    assert sorted(found) == list(range(partitions))


def test_the_command_tells_of_them(tmp_path, capsys):
    records = list(first(FENCED, 299))
    log = Log()
    log.zxid = records[-1].zxid
    session = CreateSession(6000)
    log.write(A, session)
    log.tree.nodes["/consumers"] = log.tree.nodes["/"]
    log.register(A, topics=("none",))
    log.create(A, "/consumers/g/owners/none/0", f"{NAMES[A]}-0", ephemeral=True)
    log.create(A, "/consumers/g/owners/none/1", "somebody-0", ephemeral=True)
    last = records[-1].time
    for each in log.records:
        each.time = last + each.zxid
    write_log(tmp_path / "log.1", [*records, *log.records])
    code, found = run_json(capsys, tmp_path)
    assert found["verdict"] == "conforms" and code == 0
    assert found["consumers"]["steps"] == {"claim": 1, "register": 1}
    assert [p for p in found["problems"] if "never registered" in p]
    by = {(each["system"], each["what"]): each["count"] for each in found["audit"]["by"]}
    assert (by["consumer", "register"], by["consumer", "claim"]) == (1, 1) and by[None, "tools: old consumers"] == 5
