"""What a group coordinator keeps in its log, and that no step of a group reaches what is not live."""

import dis
from itertools import pairwise
from types import CodeType, FunctionType, ModuleType

from hypothesis import given
from hypothesis import strategies as st
from kafka.record import MemoryRecordsBuilder

from kafkaproof.impl.groups import appends, coordinator, offset_deletions, timers
from kafkaproof.impl.groups.group import MODEL, GroupNetwork, GroupStorage, bound
from kafkaproof.impl.protocol.offset_records import Committed, Entry, GroupValue, Member, batch_of, entries_of
from kafkaproof.spec.group import network, storage
from kafkaproof.spec.language.rebind import globals_used
from kafkaproof.spec.running.coordinators import STEPS

TEXT = st.text(max_size=8)
NUMBER = st.integers(0, 2**31 - 1)
COMMITTED = st.builds(Committed, st.integers(0, 2**63 - 1), st.integers(-1, 2**31 - 1), TEXT)


@st.composite
def groups(draw):
    protocol, metadata = draw(TEXT), st.binary(max_size=9)
    members = [
        Member(
            f"m{n}", draw(TEXT), draw(TEXT), draw(NUMBER), draw(NUMBER), [(protocol, draw(metadata))], draw(metadata)
        )
        for n in range(draw(st.integers(0, 3)))
    ]
    leader = members[0].id if members else None
    return GroupValue("consumer", draw(NUMBER), protocol if members else None, leader, members)


ENTRIES = st.one_of(
    st.builds(Entry, TEXT, st.none(), st.one_of(st.none(), groups())),
    st.builds(Entry, TEXT, st.tuples(TEXT, NUMBER), st.one_of(st.none(), COMMITTED)),
)


@given(st.lists(ENTRIES, min_size=1, max_size=4))
def test_records_are_read_as_they_were_written(entries):
    assert entries_of(batch_of(entries)) == entries


KAFKAS = {
    "00010001670002743200000000": "0003000000000000005cffffffff0000000001a1fc11df6a",
    "000200026778": "00030008636f6e73756d657200000001000572616e6765002778312d37383065363337352d356530342d343635372d623831"
    "632d663836313236396634336164000001a1fc1cf14500000001002778312d37383065363337352d356530342d343635372d"
    "623831632d663836313236396634336164ffff00027831000a2f3132372e302e302e31000075300000177000000018000300"
    "000001000267320000000000000000ffffffff00000000001e00000000000100026732000000030000000000000001000000"
    "0200000000",
}
"""Keys and values that brokers of 3.9.1 have written: an offset, and a group of one member."""


def test_records_of_kafka_are_read_and_written_again():
    for key, value in KAFKAS.items():
        key, value = bytes.fromhex(key), bytes.fromhex(value)
        builder = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=10_000)
        builder.append(0, key, value)
        builder.close()
        (entry,) = entries_of(bytes(builder.buffer()))
        written, stamp = batch_of([entry]), value.index(bytes.fromhex("000001a1fc1"[:10]))
        assert key in written and value[:stamp] in written and value[stamp + 8 :] in written
        assert entry.value == Committed(92, -1, "") if entry.place else entry.value.members[0].session == 6000


def test_a_record_of_a_group_is_kafkas():
    member = Member("m", "c", "/h", 7, 9, [("range", b"S")], b"A")
    data = batch_of([Entry("g", None, GroupValue("consumer", 5, "range", "m", [member]))])
    text = "0003 0008 636f6e73756d6572 00000005 0005 72616e6765 0001 6d"
    assert b"\x00\x02\x00\x01g" in data and bytes.fromhex(text) in data
    rest = "00000001 0001 6d ffff 0001 63 0002 2f68 00000009 00000007 00000001 53 00000001 41"
    assert bytes.fromhex(rest) in data


def test_the_steps_of_a_coordinator_are_those_that_it_takes():
    assert bound().keys() == set(STEPS)
    callbacks = {function for both in appends.CALLBACKS.values() for function in both}
    asked = named(coordinator, coordinator.Coordinator) | named(offset_deletions, offset_deletions.OffsetDeletions)
    assert asked | named(timers, timers.Timers) | callbacks == set(STEPS)


def named(module, kind):
    """The transitions that the methods of a class name."""
    transitions = {transition.function for transition in MODEL.transitions}
    return {
        found
        for method in vars(kind).values()
        if isinstance(method, FunctionType)
        for code in codes(method.__code__)
        for load, attribute in pairwise(dis.get_instructions(code))
        if load.opname == "LOAD_GLOBAL"
        and isinstance(vars(module).get(load.argval), ModuleType)
        and (found := getattr(vars(module)[load.argval], attribute.argval, None)) in transitions
    }


def codes(code):
    """The code of a function, and of those inside it."""
    return [code, *(inner for each in code.co_consts if isinstance(each, CodeType) for inner in codes(each))]


def test_no_step_reads_what_only_a_model_has():
    """A seam without a live method is made of others: it reads nothing of the network's or the log's own."""
    for transition in MODEL.transitions:
        name, function = transition.name, transition.function
        waiting, seen = [function] if function in STEPS else [], set()
        while waiting:
            for callee in globals_used(waiting.pop()).values():
                live = GroupNetwork if getattr(callee, "__module__", "") == network.__name__ else GroupStorage
                if not hasattr(callee, "__code__") or callee in seen or hasattr(live, callee.__name__):
                    continue
                seen.add(callee)
                waiting.append(callee)
                if callee.__module__ in (network.__name__, storage.__name__):
                    assert fields_of_the_first(callee) <= {"log", "ghosts"}, (name, callee.__name__)


def fields_of_the_first(function):
    """The attributes of its first argument that a function reads."""
    first, code = function.__code__.co_varnames[0], list(dis.get_instructions(function))
    if first not in ("network", "storage"):
        return set()
    return {
        after.argval
        for load, after in zip(code, code[1:])
        if load.opname == "LOAD_FAST" and load.argval == first and after.opname == "LOAD_ATTR"
    }
