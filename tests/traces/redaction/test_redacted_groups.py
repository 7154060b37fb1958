"""`--redact` beside segments: groups are followed as without it, and no name of theirs is told."""

import json
import struct

from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.checker.commands.main import main
from kafkaproof.spec.kafka.offset_values import GroupValue, MemberValue, OffsetValue
from kafkaproof.traces.groups.numbers import partitions_of, topics_of
from kafkaproof.traces.groups.redacted import redacted_value
from kafkaproof.traces.redaction import Redactor
from tests.spec.test_offset_values import NAME, groups, offsets
from tests.traces.groups.segment_writer import altered
from tests.traces.groups.test_group_alterations import GROUP_3, SEGMENTS, put
from tests.traces.page.pages import data_in
from tests.traces.replaying import BUNDLED, run_json

WHOLE = BUNDLED / "3.9.1-groups"
NAMED = ("group", "members")


def without_names(found):
    """What is told of groups, but names, whatever their order."""
    kept = [json.dumps({key: value for key, value in each.items() if key not in NAMED}) for each in found["groups"]]
    return {key: value for key, value in found.items() if key != "groups"}, sorted(kept)


def test_groups_are_followed_as_without_it_and_have_no_name(capsys):
    (_, plain), (code, found) = run_json(capsys, WHOLE), run_json(capsys, WHOLE, "--redact")
    assert code == 0 and without_names(found["groups"]) == without_names(plain["groups"])
    assert {each["group"] for each in found["groups"]["groups"]} == {f"group-{number}" for number in range(1, 6)}
    names = [name for each in plain["groups"]["groups"] for name in (each["group"], *each["members"])]
    assert len(names) > 10 and not [name for name in names if f'"{name}"' in json.dumps(found)]


def test_segments_alone_and_what_diverges_in_them(capsys, tmp_path):
    copy = altered(SEGMENTS, tmp_path / "copy", 2, put(GROUP_3, leader="nobody"))
    code, found = run_json(capsys, copy, "--redact")
    first = found["first_divergence"]
    assert (code, first["offset"], first["group"]) == (1, GROUP_3, "group-1")
    assert first["reason"].startswith("its leader, member-") and "nobody" not in first["reason"]


def test_the_page_has_them_without_their_names(tmp_path, capsys):
    file = tmp_path / "report.html"
    assert main(["replay", str(WHOLE), "--redact", "--html", str(file)]) == 0
    lanes = [lane for section, lane, *_ in data_in(file.read_text())["lanes"] if section == "Groups"]
    assert sorted(lanes) == [f"group-{number}" for number in range(1, 6)]


@given(groups() | offsets(), groups() | offsets())
def test_values_that_differ_still_do(one, other):
    redactor = Redactor()
    same = redacted_value(redactor, one) == redacted_value(redactor, other)
    assert same == (one == other) and redacted_value(redactor, one) == redacted_value(redactor, one)


TOPICS = st.lists(NAME, max_size=4, unique=True)
USER_DATA = st.binary(max_size=9)


def text(name):
    return struct.pack("!h", len(name.encode())) + name.encode()


@given(groups(), TOPICS, st.integers(0, 3), USER_DATA)
def test_members_subscribe_to_the_same_topics_and_have_the_same_partitions(value, topics, version, data):
    redactor = Redactor()
    rest = struct.pack("!i", len(data)) + data
    subscription = struct.pack("!hi", version, len(topics)) + b"".join(map(text, topics)) + rest
    assignment = (
        struct.pack("!hi", version, len(topics))
        + b"".join(text(topic) + struct.pack("!iii", 2, 1, 7) for topic in topics)
        + rest
    )
    members = tuple(m._replace(subscription=subscription, assignment=assignment) for m in value.members)
    found = redacted_value(redactor, replaced(value, members))
    expected = {topic: redactor.name("topic", topic) for topic in topics}
    for member in found.members:
        assert topics_of(member.subscription) == set(expected.values())
        assert partitions_of(member.assignment) == {(name, n) for name in expected.values() for n in (1, 7)}


def replaced(value, members):
    """A group of consumers with these members."""
    return type(value)(value.version, "consumer", value.generation, value.protocol, value.leader, value.time, members)


def test_what_is_committed_beside_an_offset_is_data():
    assert redacted_value(Redactor(), OffsetValue(3, 5, -1, "of ours", 9)).metadata == "data-1"


def test_what_others_than_consumers_say_of_themselves_is_data():
    member = MemberValue("m", None, "c", "h", 1, 1, b"http://ours", b"tasks of ours")
    found = redacted_value(Redactor(), GroupValue(3, "connect", 1, "sessioned", "m", 5, (member,)))
    assert found.protocol_type == "connect" and "ours" not in str(found) and found.leader == found.members[0].id
