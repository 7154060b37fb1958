"""`kafkaproof replay` of groups: alone, beside a log of ZooKeeper, exit codes, JSON, bad input."""

import json
import shutil
from dataclasses import replace

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.spec.group.placement import partition_for
from kafkaproof.spec.kafka.offset_values import read_key, write_key
from tests.traces.groups.segment_writer import NAME, Writer, altered, flip, group, member
from tests.traces.groups.test_group_alterations import GROUP_3, SEGMENTS, buried, of_epoch, put
from tests.traces.replaying import BUNDLED, run_json

WHOLE = BUNDLED / "3.9.1-groups"


def test_beside_a_log_of_zookeeper(capsys):
    code, found = run_json(capsys, WHOLE)
    assert (code, found["verdict"], found["first_divergence"]) == (0, "conforms", None)
    assert found["records"] == 212 and found["groups"]["records"] == 825
    assert found["groups"]["partitions"][2] == {
        "partition": 2,
        "records": 576,
        "leader_epochs": [0, 1, 2, 3],
        "replicas": {"broker-1": 576, "broker-2": 576, "broker-3": 576},
    }
    ga = next(each for each in found["groups"]["groups"] if each["group"] == "ga")
    assert (ga["rebalances"], ga["unstored_generations"], ga["deaths"], len(ga["members"])) == (8, 0, 1, 4)


def test_segments_that_are_named(capsys, tmp_path):
    code, found = run_json(capsys, BUNDLED / "3.9.1-reassign", "--offsets", str(SEGMENTS / "broker-1"))
    assert (code, found["verdict"]) == (1, "diverges")
    assert "never written" in found["first_divergence"]["reason"], "these are of another cluster"


@pytest.mark.parametrize("part", [".", "broker-2", "broker-2/__consumer_offsets-1"])
def test_segments_alone(capsys, part):
    code, found = run_json(capsys, SEGMENTS / part)
    assert (code, found["verdict"], found["format"]) == (0, "conforms", 1)
    assert found["groups"]["records"] == (15 if part.endswith("-1") else 825)


def test_among_several(capsys, tmp_path):
    copy = altered(SEGMENTS, tmp_path / "copy", 2, put(GROUP_3, leader="nobody"))
    code, found = run_json(capsys, WHOLE, str(SEGMENTS), str(copy))
    rows = found["recordings"]
    assert (code, [row["verdict"] for row in rows]) == (1, ["conforms", "conforms", "diverges"])
    assert [row["steps"] for row in rows][:2] == [212 + 825, 825]
    assert f"offset {GROUP_3} of" in rows[2]["first_divergence"]


def test_a_divergence_names_segment_and_offset(capsys, tmp_path):
    copy = altered(SEGMENTS, tmp_path / "copy", 2, put(GROUP_3, leader="nobody"))
    code, found = run_json(capsys, copy)
    first = found["first_divergence"]
    assert (code, first["partition"], first["offset"], first["group"]) == (1, 2, GROUP_3, "ga")
    assert first["segment"] == str(copy / "broker-1" / "__consumer_offsets-2" / NAME)
    assert main(["replay", str(copy)]) == 1
    assert f"diverges at offset {GROUP_3} of" in capsys.readouterr().out


def test_what_zookeeper_knows_counts(capsys, tmp_path):
    """A leader epoch that was never written, and the deletion of a topic that was not asked for."""
    shutil.copytree(WHOLE / "version-2", tmp_path / "version-2")
    altered(SEGMENTS, tmp_path / "consumer-offsets", 1, of_epoch(12, 9))
    code, found = run_json(capsys, tmp_path)
    assert (code, found["first_divergence"]["offset"]) == (1, 11)
    assert "leader epoch 9 was never written" in found["first_divergence"]["reason"]
    code, found = run_json(capsys, tmp_path / "consumer-offsets")
    assert (code, found["verdict"]) == (0, "conforms")
    alone = altered(SEGMENTS, tmp_path / "alone", 2, buried(2, 1))
    assert run_json(capsys, alone)[0] == 0, "the topic may have been deleted"
    code, found = run_json(capsys, tmp_path, "--offsets", str(alone))
    assert (code, found["first_divergence"]["offset"]) == (1, 2)
    assert "has no deletion of the topic" in found["first_divergence"]["reason"]


def test_a_group_is_in_the_partition_that_its_name_hashes_to(capsys, tmp_path):
    stranger = next(f"g{n}" for n in range(9) if partition_for(f"g{n}", 3) != 2)
    shutil.copytree(WHOLE / "version-2", tmp_path / "version-2")
    altered(SEGMENTS, tmp_path / "consumer-offsets", 2, renamed(stranger))
    assert run_json(capsys, tmp_path / "consumer-offsets")[0] == 0, "how many partitions there are is in no segment"
    for more, name in (((), stranger), (("--redact",), "group-1")):
        code, found = run_json(capsys, tmp_path, *more)
        first, *others = found["groups"]["divergences"]
        assert (code, first["partition"], first["offset"], first["group"], others) == (1, 2, 0, name, [])
        assert (
            first["reason"]
            == f"a group of this name belongs to partition {partition_for(stranger, 3)} of 3, and here is 2"
        )


def renamed(name):
    """The first group of a partition has another name."""

    def change(appends):
        first = read_key(appends[0].records[0].key).group
        return [replace(a, records=tuple(of(record, first) for record in a.records)) for a in appends]

    def of(record, first):
        key = read_key(record.key)
        return record._replace(key=write_key(key._replace(group=name))) if key.group == first else record

    return change


def test_damage_is_one_clear_line(capsys, tmp_path):
    copy = altered(SEGMENTS, tmp_path / "copy", 2, lambda appends: appends)
    flip(copy / "broker-2" / "__consumer_offsets-2" / NAME, GROUP_3)
    assert main(["replay", str(copy)]) == 2
    lines = [line for line in capsys.readouterr().out.splitlines() if "bad input" in line]
    assert len(lines) == 1 and f"offset {GROUP_3}," in lines[0] and "broker-2" in lines[0]


def test_partitions_without_a_segment_conform_to_nothing(capsys, tmp_path):
    partition = tmp_path / "broker-1" / "__consumer_offsets-0"
    partition.mkdir(parents=True)
    (partition / "renamed.log").write_bytes((SEGMENTS / "broker-1" / "__consumer_offsets-0" / NAME).read_bytes())
    assert main(["replay", str(tmp_path)]) == 2
    assert "no segment in any __consumer_offsets-N" in capsys.readouterr().err


def test_names_that_look_like_markup_are_printed_as_they_are(capsys, tmp_path):
    writer = Writer("[/b]")
    writer.group(group(1, member("a")))
    writer.commit(0, 1)
    early = writer.bury(0)
    assert main(["replay", str(writer.write(tmp_path / "[bold]"))]) == 1
    told = capsys.readouterr().out
    assert "│ [/b] " in told and f"{tmp_path}/[bold]: " in told
    assert f"diverges at offset {early} of {tmp_path}/[bold]/" in told and f"{NAME}: group [/b]\n" in told


def test_wrong_use(capsys, tmp_path):
    assert main(["replay", str(SEGMENTS), "--chroot", "/kafka"]) == 2
    assert "has no log of ZooKeeper" in capsys.readouterr().err
    assert main(["replay", str(SEGMENTS), "--logs", str(tmp_path), "--follow"]) == 2
    assert "--logs, --follow: " in capsys.readouterr().err
    assert main(["replay", str(SEGMENTS), "--expect", "C4"]) == 2
    assert "of segments replay evaluates G2" in capsys.readouterr().err
    assert main(["replay", str(WHOLE), "--offsets", str(tmp_path)]) == 2
    assert "no __consumer_offsets-N here" in capsys.readouterr().err
    assert main(["replay", str(WHOLE), "--history", str(tmp_path / "none" / "h.json")]) == 2
    assert "--history" in capsys.readouterr().err
    assert main(["replay", str(tmp_path)]) == 2
    assert json.dumps(capsys.readouterr().err).count("\\n") == 1
