"""Recordings of running clusters are behaviours of the specification; altered ones are not."""

import json
import re
from dataclasses import replace

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.language.digest import link
from kafkaproof.spec.language.steps import parse_step
from kafkaproof.traces.processes.recorded.order import in_order
from kafkaproof.traces.processes.recorded.reading import read_cluster
from kafkaproof.traces.processes.replay import Follower, replay
from kafkaproof.traces.processes.state.result import Divergence
from kafkaproof.traces.zookeeper.transactions import Failure, Transaction
from tests.traces.processes.recordings import FAILOVER, GROUP, LOST_ANSWERS, SPLIT_BRAIN, Copy, replayed, steps

STEPS = steps(FAILOVER)
CHANGING = [each for each in STEPS if each[1]["changed"]]
EVERY = 9


def str_of(value):
    return value if isinstance(value, str) else value["step"]


@pytest.fixture
def copy(tmp_path):
    """A copy of the recording of a failover."""
    return Copy(FAILOVER, tmp_path / "copy")


def test_every_step_of_a_failover_is_one_of_the_specification():
    result = replayed(FAILOVER)
    assert result.divergence is None and not result.violations
    assert result.steps == len(STEPS) > 80


@pytest.mark.parametrize("directory", [FAILOVER, GROUP, LOST_ANSWERS, SPLIT_BRAIN], ids=lambda each: each.name)
def test_a_step_is_known_by_its_transition_whatever_module_that_is_in(directory, tmp_path):
    """A recording is read as before once a module of the specification has another name."""
    copy = Copy(directory, tmp_path / "copy")
    for file in sorted((copy.directory / "recording").glob("broker-*.jsonl")):
        renamed = re.sub(r"\b\w+\.(?=\w+\()", "renamed.", file.read_text())
        assert renamed != file.read_text()
        file.write_text(renamed)
    found, known = replayed(copy.directory), replayed(directory)
    assert (found.divergence, found.steps, found.hidden) == (known.divergence, known.steps, known.hidden)
    assert {each: v.count for each, v in found.violations.items()} == {
        each: v.count for each, v in known.violations.items()
    }


@pytest.mark.parametrize("changed", ["clean(b=1)", "load(b=2)", "load(b=1) -> EXPIRED"])
def test_a_partner_is_compared_by_its_name_its_arguments_and_its_answer(copy, changed):
    process, step = next((p, s) for p, s in STEPS if [w.partition(".")[2] for w in s["with"]] == ["load(b=1) -> OK"])
    copy.change(process, step["n"], **{"with": [f"election term.{changed}"]})
    where, reason = replayed(copy.directory).divergence
    assert where.startswith(f"broker {process}, step {step['n']},") and f"term.{changed}" in reason


def test_a_run_whose_answers_were_lost_is_one_too():
    result = replayed(LOST_ANSWERS)
    assert result.divergence is None and not result.violations
    lost = [each for each in steps(LOST_ANSWERS) if each[1]["step"].endswith("-> LOST")]
    assert result.steps > len(steps(LOST_ANSWERS)) - 1 and len(lost) >= 3


def test_a_step_whose_answer_was_lost_may_take_its_message_once_more(tmp_path):
    copy = Copy(LOST_ANSWERS, tmp_path / "copy")
    taken = [(process, row) for process, row in steps(LOST_ANSWERS) if "alter_partition(b=0, p=1," in row["step"]]
    (_, lost), (process, again) = taken[-2:]
    assert lost["step"].endswith("LOST") and not again["step"].endswith("LOST") and lost["took"] != again["took"]
    copy.change(process, again["n"], took=lost["took"])
    assert replayed(copy.directory).divergence is None


def test_a_leader_that_is_refused_its_own_write_asks_no_more():
    """Two are, each once: one by itself, who is the controller, and one by another broker, who tells it."""
    taken = [row for _, row in steps(LOST_ANSWERS) if row["step"].endswith("-> BADVERSION")]
    refused = [(row["step"], len(row["sent"])) for row in taken]
    assert refused == [
        ("control.alter_partition(b=0, p=1, sender=0, isr=3) -> BADVERSION", 0),
        ("control.alter_partition(b=1, p=0, sender=0, isr=3) -> BADVERSION", 1),
    ]


def test_every_record_after_every_step_is_what_replay_computes():
    """Field by field: what the processes recorded as changed, against the states of the specification."""
    cluster = read_cluster(FAILOVER)
    follower, compared = Follower(cluster, "fenced"), 0
    own = {lines[0].process: dict(follower.world.fields(lines[0].broker)) for lines in cluster.processes}
    for occurrence in in_order(cluster):
        follower.follow(occurrence)
        line = occurrence.line
        if line and line.step and not line.asks:
            for p, found in enumerate(line.found or ()):
                own[line.process] |= {f"replicas[{p}].log": found["log"], f"replicas[{p}].hw": found["hw"]}
            own[line.process].update(line.changed)
            assert own[line.process] == follower.world.fields(line.broker), line.step
            compared += 1
    assert compared == len(STEPS)


def test_the_order_keeps_that_of_processes_messages_and_transactions():
    order = in_order(read_cluster(FAILOVER))
    lines = [occurrence.line for occurrence in order if occurrence.line]
    for process in {line.process for line in lines}:
        numbers = [line.n for line in lines if line.process == process and line.step]
        assert numbers == sorted(numbers)
    sent = set()
    for line in lines:
        assert line.took is None or line.took in sent
        sent |= {*line.sent, line.sends}
    written = [zxid for line in lines for zxid in line.zxids]
    assert written == sorted(written)


def stale_write():
    """The step by which broker 1, who slept while another was elected, writes a leader."""
    return next((p, s) for p, s in steps(SPLIT_BRAIN) if p == "1.1" and "write_leader" in s["step"])


def test_the_split_brain_is_a_behaviour_of_its_version_and_violates_what_one_would_wish():
    result = replayed(SPLIT_BRAIN)
    assert result.divergence is None
    process, step = stale_write()
    assert {"C4", "C5", "C8"} <= set(result.violations)
    assert result.violations["C4"].first == f"broker {process}, step {step['n']}, {step['step']}"


def test_the_check_of_the_epoch_alone_refuses_the_stale_write():
    where, reason = replayed(SPLIT_BRAIN, "legacy-checked").divergence
    process, step = stale_write()
    assert where == f"broker {process}, step {step['n']}, {step['step']}"
    assert "the answer was OK" in reason and "FENCED" in reason


def test_another_variant_diverges_where_it_is_another():
    assert "look_for_controller" in replayed(SPLIT_BRAIN, "fenced").divergence[0]
    with pytest.raises(LookupError, match="legacy has no logs"):
        replayed(FAILOVER, "legacy")


def diverges_at(copy, process, step):
    result = replayed(copy.directory)
    assert result.divergence, (process, step["step"])
    return f"broker {process}, step {step['n']}," in result.divergence[0]


@pytest.mark.parametrize("process, step", STEPS[::EVERY], ids=str_of)
def test_another_hash_diverges_right_there(copy, process, step):
    copy.change(process, step["n"], state="0" * 16)
    assert diverges_at(copy, process, step)


@pytest.mark.parametrize("process, step", [each for each in STEPS if "->" in each[1]["step"]][4::EVERY], ids=str_of)
def test_another_answer_diverges_right_there(copy, process, step):
    text, answer = step["step"].split(" -> ")
    copy.change(process, step["n"], step=f"{text} -> {'NONODE' if answer == 'OK' else 'OK'}")
    assert diverges_at(copy, process, step)


@pytest.mark.parametrize("process, step", CHANGING[2::EVERY], ids=str_of)
def test_another_effect_diverges_right_there(copy, process, step):
    name, value = next(iter(step["changed"].items()))
    other = value + 1 if isinstance(value, int) else "f" * 16
    copy.change(process, step["n"], changed=step["changed"] | {name: other})
    assert diverges_at(copy, process, step)


@pytest.mark.parametrize("process, step", CHANGING[6 :: 2 * EVERY], ids=str_of)
def test_a_step_that_is_left_out_is_missed(copy, process, step):
    copy.write(process, [row for row in copy.rows(process) if row.get("n") != step["n"]])
    with pytest.raises(UserError, match=f"step {step['n']} is missing"):
        replayed(copy.directory)


def test_a_message_that_nobody_sent_is_missed(copy):
    process, step = next((p, s) for p, s in STEPS if s["took"])
    sender = step["took"].split("-")[0]
    rows = copy.rows(sender)
    for row in rows:
        row.update({"sent": [m for m in row["sent"] if m != step["took"]]} if "sent" in row else {})
    copy.write(sender, rows)
    with pytest.raises(UserError, match="messages that nobody has sent before"):
        replayed(copy.directory)


def test_a_message_that_is_delivered_twice_is_noticed(copy):
    process, step = next((p, s) for p, s in STEPS if s["took"])
    rows = copy.rows(process)
    place = next(i for i, row in enumerate(rows) if row.get("n") == step["n"])
    rows.insert(place + 1, dict(rows[place]) | {"changed": {}})
    for number, row in enumerate((row for row in rows if "step" in row), 1):
        row["n"] = number
    copy.write(process, rows)
    assert "which is not on its way" in replayed(copy.directory).divergence[1]


def test_a_transaction_that_no_step_made_is_noticed(copy):
    process, step = [(p, s) for p, s in STEPS if len(s["zxids"]) == 1 and "write" in s["step"]][0]
    copy.change(process, step["n"], zxids=[], at=None)
    divergence = replayed(copy.directory).divergence
    assert divergence and ("no step that broker" in divergence[1] or str(step["n"]) in divergence[0])


def test_a_process_that_died_before_it_recorded_an_answer(copy):
    """Its last write was applied: replay takes it, and the rest of the recording still fits."""
    file = copy.directory / "recording" / "faults.jsonl"
    killed = next(json.loads(line)["broker"] for line in file.read_text().splitlines() if '"kill"' in line)
    rows = copy.rows(f"{killed}.1")
    last = max(i for i, row in enumerate(rows) if row.get("zxids") and "step" in row)
    asked = max(i for i in range(last) if "asks" in rows[i])
    assert rows[asked]["n"] == rows[last]["n"]
    taken = {message for row in rows[last:] for message in row.get("sent", ()) if "sent" in row}
    others = {row["took"] for p, row in STEPS if p != f"{killed}.1" and row["took"]}
    copy.write(f"{killed}.1", rows[: asked + 1])
    if taken & others:
        with pytest.raises(UserError, match="messages that nobody has sent before"):
            replayed(copy.directory)
    else:
        assert replayed(copy.directory).divergence is None


def land_an_append(copy):
    """Process 1.1 of the copy dies before it records its last append, which 1.2 then finds in its log."""
    rows, following, record = copy.rows("1.1"), copy.rows("1.2"), 77
    last, found = next(row for row in reversed(rows) if "step" in row and "n" in row), following[0]["found"][0]
    copy.write(
        "1.1",
        rows
        + [
            {
                "n": last["n"] + 1,
                "asks": "partition data_plane.produce(b=1, p=0, acks=1)",
                "session": last["session"],
                "zxid": last["zxid"],
                "clock": last["clock"] + 1,
                "took": None,
                "record": record,
            }
        ],
    )
    epoch = last["changed"].get("replicas[0].leader_epoch", 0)
    found |= {"length": found["length"] + 1, "log": link(found["log"], epoch, record)}
    copy.write("1.2", following)
    while wrong := first_wrong(copy):
        copy.change("1.2", wrong[0], state=wrong[1])


def first_wrong(copy):
    """The first step of 1.2 whose recorded hash is not that of the specification's record, and that hash."""
    cluster = read_cluster(copy.directory)
    follower = Follower(cluster, "fenced")
    for occurrence in in_order(cluster):
        try:
            follower.follow(occurrence)
        except Divergence as divergence:
            assert "another hash" in str(divergence) and occurrence.line.process == "1.2", divergence
            return occurrence.line.n, follower.world.digest(1)
    return None


def test_what_landed_is_found_by_the_next_process_that_lives_to_record_anything(tmp_path):
    """Processes between them may have been killed before their first step."""
    copy = Copy(GROUP, tmp_path / "copy")
    land_an_append(copy)
    assert replayed(copy.directory).divergence is None
    copy.write("1.3", copy.rows("1.2"))
    copy.write("1.2", [])
    assert replayed(copy.directory).divergence is None


def asked_again(copy, attempts, errors, late=0):
    """The copied recording as if broker 1 had asked `attempts` times to be registered, and was refused in between: the
    first landed, its answer and the others were lost; `late`: so many refusals came after its step. zxids are ten times
    what they were, to make room.
    """
    process, step = next((p, s) for p, s in steps(FAILOVER) if p == "1.1" and "register_broker" in s["step"])
    cluster = read_cluster(copy.directory)
    session, zxid = int(step["session"], 16), 10 * step["zxids"][0]
    spread = [replace(each, zxid=10 * each.zxid) for each in cluster.zookeeper.transactions]
    refused = [
        Transaction(zxid + 1 + n, session, 0, 0, tuple(map(Failure, codes)), True) for n, codes in enumerate(errors)
    ]
    registered = {"asked": zxid - 5, "attempts": attempts, "zxid": zxid + len(refused) - late}
    processes = []
    for lines in cluster.processes:
        lines = [
            replace(
                line,
                zxid=10 * line.zxid,
                zxids=tuple(10 * each for each in line.zxids),
                at=line.at and (10 * line.at[0], line.at[1]),
            )
            for line in lines
        ]
        processes.append(
            [replace(line, **registered) if (line.process, line.n) == (process, step["n"]) else line for line in lines]
        )
    log = replace(cluster.zookeeper, transactions=sorted(spread + refused, key=lambda each: each.zxid))
    return replay(replace(cluster, processes=processes, zookeeper=log))


NODEEXISTS, ROLLED_BACK, BADVERSION = -110, -2, -103


def test_what_refused_a_request_that_was_asked_again_belongs_to_it(copy):
    assert asked_again(copy, 2, [(NODEEXISTS, ROLLED_BACK)]).divergence is None
    assert asked_again(copy, 3, [(NODEEXISTS, ROLLED_BACK)] * 2).divergence is None


@pytest.mark.parametrize(
    "attempts, errors, late",
    [
        (1, [(NODEEXISTS, ROLLED_BACK)], 0),
        (2, [(NODEEXISTS, ROLLED_BACK)] * 2, 0),
        (2, [(BADVERSION, ROLLED_BACK)], 0),
        (2, [(NODEEXISTS, BADVERSION)], 0),
        (2, [(NODEEXISTS, ROLLED_BACK)], 1),
    ],
    ids=["asked once", "refused too often", "another refusal", "another form", "too late"],
)
def test_what_refused_another_request_is_noticed(copy, attempts, errors, late):
    assert "no step that broker 1 recorded" in asked_again(copy, attempts, errors, late).divergence[1]


def test_an_append_that_failed_does_not_excuse_transactions(copy):
    """It was asked of a log: whatever its process writes to ZooKeeper afterwards must still be some step's."""
    process, step = next((p, s) for p, s in reversed(STEPS) if len(s["zxids"]) == 1 and "write" in s["step"])
    rows = copy.rows(process)
    place = next(i for i, row in enumerate(rows) if "asks" in row and ".produce(" in row["asks"])
    copy.write(process, rows[:place] + [rows[place] | {"n": 0, "record": 1}] + rows[place:])
    assert replayed(copy.directory).divergence is None
    copy.change(process, step["n"], zxids=[], at=None)
    assert replayed(copy.directory).divergence


def lost_partners(line):
    """The partners of a step, their answers lost as well."""
    return [(part, replace(step, answer="LOST")) for part, step in line.partners]


@pytest.mark.parametrize("landed", [True, False])
def test_the_refusal_of_a_deposed_controller_may_be_lost_but_not_its_write(landed):
    """A lost answer is LOST whatever it was, and nothing is sent then; what ZooKeeper logged was not refused."""
    cluster, (process, step) = read_cluster(SPLIT_BRAIN), stale_write()
    text, zxid = step["step"].replace("-> OK", "-> LOST"), step["zxids"][0]
    processes = [
        [
            replace(line, step=parse_step(text), partners=lost_partners(line), zxids=(), at=None, zxid=zxid - 1)
            if (line.process, line.n, line.asks) == (process, step["n"], False)
            else line
            for line in lines
        ]
        for lines in cluster.processes
    ]
    logged = [each for each in cluster.zookeeper.transactions if landed or each.zxid != zxid]
    log = replace(cluster.zookeeper, transactions=logged)
    where, reason = replay(replace(cluster, processes=processes, zookeeper=log), "legacy-checked").divergence
    assert where == f"broker {process}, step {step['n']}, {text}"
    assert ("answers FENCED" in reason) == landed and ("it sent 3 messages" in reason) == (not landed)


def test_a_request_for_a_former_registration_is_not_obeyed():
    cluster = read_cluster(FAILOVER)
    follower = Follower(cluster, "fenced")
    for occurrence in in_order(cluster):
        if occurrence.line and occurrence.line.step and occurrence.line.name == "leader_and_isr":
            break
        follower.follow(occurrence)
    follower.world.known.registrations[occurrence.line.broker] += 1
    with pytest.raises(Divergence, match="which was for its former registration"):
        follower.follow(occurrence)


@pytest.mark.parametrize(
    "text",
    [
        "control.alter_partition(b=2, p=7, sender=1, isr=7)",
        "control.alter_partition(b=2, p=0, sender=1)",
        "control.alter_partition(b=2, p=0, sender=1, isr=64)",
        "control.alter_partition(b=2, p=0, sender=1, isr=7, x=1)",
    ],
)
def test_a_step_with_an_argument_out_of_its_range_is_none(copy, text):
    process, step = next((p, s) for p, s in STEPS if "alter_partition" in s["step"])
    copy.change(process, step["n"], step=f"{text} -> OK")
    where, reason = replayed(copy.directory).divergence
    assert text in where and "is never taken with" in reason


def test_a_state_of_a_partition_that_there_is_not_is_none(copy):
    """The description names another topic than the one that ZooKeeper's log has states of."""
    file = copy.directory / "recording" / "cluster.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"topic": "another"}))
    with pytest.raises(UserError, match="wrote /brokers/topics/events in ZooKeeper .*, which no model .* has"):
        replayed(copy.directory)


@pytest.mark.parametrize("content", [{}, {"p": 1.5}, {"p": 7}, {"p": "x"}], ids=str)
def test_a_message_of_a_form_that_nobody_sends_is_noticed(copy, content):
    process, place = next((p, i) for p in ("0.1", "1.1", "2.1") for i, row in enumerate(copy.rows(p)) if "sends" in row)
    rows = copy.rows(process)
    copy.write(
        process, rows[:place] + [rows[place] | {"content": content, "kind": "AlterPartition"}] + rows[place + 1 :]
    )
    assert "may not send it" in replayed(copy.directory).divergence[1]


def test_a_tool_may_send_a_multi_without_operations():
    cluster = read_cluster(FAILOVER)
    log = cluster.zookeeper
    empty = Transaction(log.transactions[-1].zxid + 1, 7, 1, log.transactions[-1].time, (), multi=True)
    replaced = replace(cluster, zookeeper=replace(log, transactions=[*log.transactions, empty]))
    assert replay(replaced).divergence is None


@pytest.mark.parametrize("left", [3, 10, 25, 40])
def test_a_run_that_goes_on_is_followed_as_far_as_all_is_recorded(copy, left):
    faults = copy.directory / "recording" / "faults.jsonl"
    faults.write_text("".join(line + "\n" for line in faults.read_text().splitlines() if '"stop"' not in line))
    process = max({process for process, _ in STEPS}, key=lambda process: len(copy.rows(process)))
    copy.write(process, copy.rows(process)[:-left])
    result = replayed(copy.directory)
    assert result.divergence is None and result.unfollowed > 0 and 0 < result.steps < len(STEPS)
    assert main(["replay", str(copy.directory)]) == 3


def test_of_a_run_that_has_ended_every_message_was_sent(copy):
    process = max({process for process, _ in STEPS}, key=lambda process: len(copy.rows(process)))
    copy.write(process, copy.rows(process)[:-40])
    with pytest.raises(UserError, match="messages that nobody has sent before"):
        replayed(copy.directory)
