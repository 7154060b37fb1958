"""Brokers' own logs are held to ZooKeeper's: what they tell is confirmed or contradicted, with file and line."""

import gzip
from datetime import UTC, datetime

import pytest

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.commands.main import main
from kafkaproof.traces.broker_logs.checking import check_logs
from kafkaproof.traces.broker_logs.claims import Elected, Obeyed, ShutdownAsked, State, StateReceived
from kafkaproof.traces.broker_logs.reading import read_logs
from kafkaproof.traces.explain.facts.remarks import DEAD
from tests.traces.replaying import FENCED, LEGACY, all_of, read, run_json

HOUR = 3_600_000


def stamp(time: int) -> str:
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S,") + f"{time % 1000:03d}"


def elections(directory, hours: int = 0) -> list[str]:
    """What the controllers of a recording log, on clocks that are some hours ahead."""
    times = {t.zxid: t.time for t in read(directory).transactions}
    return [
        f"[{stamp(times[c.epoch_zxid] + 5 + hours * HOUR)}] INFO [Controller id={c.broker}] {c.broker} successfully elected as "
        f"the controller. Epoch incremented to {c.epoch} and epoch zk version is now {c.epoch} (kafka.controller.KafkaController)"
        for c in all_of(directory).result.controllers.all
    ]


def changes(directory) -> list:
    return [each.change for each in all_of(directory).streams.partitions]


def received(change, controller: int, late: int = 3, **other) -> str:
    """How a broker of 3.9 logs that it was told of a state."""
    said = change.after._asdict() | other
    return (
        f"[{stamp(change.time + late)}] TRACE [Broker id=1] Received LeaderAndIsr request LeaderAndIsrPartitionState("
        f"topicName='{change.topic}', partitionIndex={change.number}, controllerEpoch={said['controller_epoch']}, "
        f"leader={said['leader']}, leaderEpoch={said['leader_epoch']}, isr=[1], partitionEpoch=0, replicas=[1], "
        f"addingReplicas=[], removingReplicas=[], isNew=true, leaderRecoveryState=0) correlation id 1 from controller "
        f"{controller} epoch {said['controller_epoch']} (state.change.logger)"
    )


def check(directory, logs):
    told = all_of(directory)
    return check_logs(read_logs(logs), told.gathered, read(directory), told.streams)


def write(path, lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def owner(change) -> int:
    return next(c.broker for c in all_of(FENCED).result.controllers.all if c.epoch == change.after.controller_epoch)


def test_what_is_true_is_confirmed_whatever_the_time_zone_and_the_file(tmp_path):
    write(tmp_path / "controller.log.2026-11-21-03", elections(FENCED, hours=-5))
    checked = check(FENCED, tmp_path)
    assert (checked.offset, dict(checked.counts[Elected.what])) == (-5 * HOUR, {"confirmed": 8})
    write(tmp_path / "controller.log.2026-11-21-03", elections(FENCED))
    (tmp_path / "broker-1").mkdir()
    write(tmp_path / "broker-1" / "state-change-1.log.gz", [received(c, owner(c)) for c in changes(FENCED)])
    checked = check(FENCED, tmp_path)
    assert (checked.contradictions, checked.read.unreadable) == ([], 0)
    assert checked.counts[State.what]["confirmed"] == len(changes(FENCED)) == 217


@pytest.mark.parametrize(
    "other, why",
    [
        ({"leader": 9}, "leader 9 in leader epoch 0 of f1-0 was never written"),
        ({"leader_epoch": 77}, "in leader epoch 77 of f1-0 was never written"),
        ({"controller_epoch": 99}, "nobody ever wrote controller epoch 99"),
        ({"controller_epoch": 2}, "controller epoch 2 is broker"),
        ({"late": -12_000}, "was written only 12 s later"),
    ],
)
def test_what_is_not_so_is_a_contradiction_with_file_and_line(tmp_path, other, why):
    first = next(c for c in changes(FENCED) if c.partition == ("f1", 0))
    write(tmp_path / "state-change.log", ["\tat some.stack.Trace", received(first, owner(first), **other)])
    ((claim, said),) = check(FENCED, tmp_path).contradictions
    assert (claim.file.name, claim.line, why in said) == ("state-change.log", 2, True), said


def test_lines_of_1_1_1_are_read(tmp_path):
    at = "[2018-04-01 12:00:00,123]"
    write(
        tmp_path / "state-change.log",
        [
            f"{at} TRACE [Broker id=2] Received LeaderAndIsr request PartitionState(controllerEpoch=4, leader=-1, leaderEpoch=5, "
            "isr=1,2, zkVersion=7, replicas=1,2,3, isNew=false) correlation id 1 from controller 3 epoch 4 for partition "
            "my-topic-12 (state.change.logger)",
            f"{at} TRACE [Controller id=3 epoch=4] Changed partition f1-0 from OfflinePartition to OnlinePartition with state "
            "LeaderAndIsr(leader=2, leaderEpoch=6, isr=List(2), zkVersion=7) (state.change.logger)",
            f"{at} TRACE [Broker id=2] Completed LeaderAndIsr request correlationId 3 from controller 3 epoch 4 for the "
            "become-leader transition for partition f1-0 (state.change.logger)",
            f"{at} TRACE [Broker id=2] Received LeaderAndIsr request in a form of a later version",
        ],
    )
    write(
        tmp_path / "controller.log",
        [
            f"{at} INFO [Controller id=3] Epoch incremented to 4 (kafka.controller.KafkaController)",
            f"{at} INFO [Controller id=3] Initialized controller epoch to 3 and zk version 2 (kafka.controller.KafkaController)",
            f"{at} INFO [Controller id=3] Shutting down broker 2 (kafka.controller.KafkaController)",
        ],
    )
    found = read_logs(tmp_path)
    said = [(type(claim), {**vars(claim)}) for claim in found.claims]
    for _, fields in said:
        del fields["file"], fields["line"], fields["time"]
    request = {"broker": 3, "epoch": 4}
    one = {"partition": ("my-topic", 12), "leader": -1, "leader_epoch": 5} | request
    other = {"partition": ("f1", 0)} | request
    assert said == [
        (Elected, request),
        (ShutdownAsked, {"leaving": 2}),
        (StateReceived, one | {"teller": 2}),
        (State, other | {"leader": 2, "leader_epoch": 6}),
        (Obeyed, other | {"teller": 2}),
    ]
    assert (found.lines, found.unreadable, found.claims[0].time) == (7, 1, 1_522_584_000_123)


def test_what_is_of_another_time_is_not_judged(tmp_path):
    first = changes(FENCED)[0]
    write(tmp_path / "state-change.log", [received(first, owner(first), late=24 * HOUR, leader=9)])
    checked = check(FENCED, tmp_path)
    assert (checked.contradictions, checked.counts[State.what].total()) == ([], 1)


def test_the_command_tells_of_it_and_fails(capsys, tmp_path):
    first = changes(FENCED)[0]
    write(tmp_path / "controller.log", elections(FENCED))
    code, found = run_json(capsys, FENCED, "--logs", tmp_path)
    assert (code, found["verdict"], found["logs"]["contradictions"]) == (0, "conforms", [])
    assert found["logs"]["claims"] == [{"what": Elected.what, "confirmed": 8, "count": 8}]
    write(tmp_path / "state-change.log", [received(first, owner(first), leader=9)])
    assert main(["replay", str(FENCED), "--logs", str(tmp_path)]) == 1
    text = capsys.readouterr().out
    assert "contradicts ZooKeeper" in text and "leader 9 in leader epoch 0" in text and "conforms to fenced" in text


def test_topics_that_brokers_log_have_pseudonyms(capsys, tmp_path):
    first = changes(FENCED)[0]
    write(tmp_path / "controller.log", elections(FENCED))
    write(tmp_path / "state-change.log", [received(change, owner(change)) for change in changes(FENCED)[:3]])
    code, found = run_json(capsys, FENCED, "--logs", tmp_path, "--redact")
    told = {each["what"]: each for each in found["logs"]["claims"]}
    assert code == 0 and told[State.what]["confirmed"] == 3 == told[State.what]["count"]
    write(tmp_path / "state-change.log", [received(first, owner(first), leader=9)])
    code, found = run_json(capsys, FENCED, "--logs", tmp_path, "--redact")
    (why,) = [each["text"] for each in found["logs"]["contradictions"]]
    assert code == 1 and first.topic not in why and "of topic-" in why


def test_wrong_use_is_one_line(capsys, tmp_path):
    assert main(["replay", str(FENCED), "--logs", str(tmp_path)]) == 2
    assert "no server*.log" in capsys.readouterr().err
    (tmp_path / "server.log.gz").write_bytes(b"no gzip")
    assert main(["replay", str(FENCED), "--logs", str(tmp_path)]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert main(["replay", str(FENCED), str(LEGACY), "--logs", str(tmp_path)]) == 2


def test_the_logs_of_real_brokers_contradict_nothing(recording_directory):
    told = all_of(recording_directory)
    checked = check_logs(read_logs(recording_directory), told.gathered, read(recording_directory), told.streams)
    assert (checked.contradictions, checked.read.unreadable) == ([], 0)
    elected = len(told.result.controllers.all)
    assert checked.counts[Elected.what]["confirmed"] >= elected
    assert checked.counts[State.what]["confirmed"] > 50


@pytest.mark.parametrize(
    "content, why",
    [
        (bytes(30 << 20), "a line of 16 MiB or more"),
        (b"\n" * (1 << 20), "more than 200 times of its"),
        (b"[2021-01-01 00:00:00,000] INFO x\n" * (1 << 16), "more than 200 times of its"),
    ],
)
def test_a_gzipped_log_that_unpacks_without_end_is_told(monkeypatch, tmp_path, content, why):
    monkeypatch.setattr("kafkaproof.traces.broker_logs.reading._LEAST", 1 << 18)
    (tmp_path / "server.log.gz").write_bytes(gzip.compress(content))
    with pytest.raises(UserError, match=f"--logs: {tmp_path}/server.log.gz: {why}"):
        read_logs(tmp_path)


def test_a_sparse_log_is_told(tmp_path):
    with (tmp_path / "server.log").open("wb") as file:
        file.truncate(10 << 30)
    with pytest.raises(UserError, match="a line of 16 MiB or more"):
        read_logs(tmp_path)


def test_a_controller_that_keeps_requests_of_a_term_before_is_told_once_a_term(tmp_path):
    last = all_of(FENCED).result.controllers.all[-1]
    time = {t.zxid: t.time for t in read(FENCED).transactions}[last.epoch_zxid] + 100
    error = (
        "ERROR [ReplicaStateMachine controllerId={}] Error while moving some replicas to OfflineReplica state (kafka.c)"
    )
    thrown = (
        "java.lang.IllegalStateException: Controller to broker state change requests batch is not empty while "
        "creating a new one. Some StopReplica state changes Map() might be lost"
    )
    lines = [f"[{stamp(time + ms)}] {error.format(last.broker)}" for ms in (0, 7)]
    write(
        tmp_path / "controller.log", [*elections(FENCED), lines[0], thrown, "\tat kafka.controller", lines[1], thrown]
    )
    (remark,) = check(FENCED, tmp_path).remarks
    assert (remark.what, remark.partition, remark.name) == (DEAD, None, "cluster") and "gave up 2 times" in remark.text
    assert f"controller {last.broker} of epoch {last.epoch}" in remark.text and remark.as_json()["topic"] is None
    write(tmp_path / "controller.log", [*elections(FENCED), *lines])
    assert check(FENCED, tmp_path).remarks == []
