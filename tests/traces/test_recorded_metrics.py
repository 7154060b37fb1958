"""The metrics of recordings equal a recomputation from an independent decode, and what the READMEs tell."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

from kafkaproof.checker.commands.main import OK
from kafkaproof.traces.metrics.observer import COUNTERS, GAUGES
from kafkaproof.traces.metrics.series import Series
from kafkaproof.traces.reading.cluster import find_root
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.report.log import refused_by_epoch
from kafkaproof.traces.report.metrics import metrics_as_json, rows_of
from kafkaproof.traces.zookeeper.snapshot import Snapshot, Znode
from tests.traces.partition_log import PARENTS, Log
from tests.traces.readmes import records, section
from tests.traces.replaying import BUNDLED, LEGACY, metrics_of, read, whole

EVERY = 7
"""Gauges of a long log are recomputed at every so many records, and at the last."""


@cache
def series_of(directory: Path) -> Series:
    recording = read(directory)
    root = find_root(recording, None)
    return metrics_of(recording, root)


class Naive:
    """ZooKeeper's tree as nested plain values, and every metric computed from scratch, by nobody's rules but the tests'."""

    def __init__(self):
        self.data, self.owner, self.counts = {}, {}, Counter({name: 0 for name in COUNTERS})

    def add(self, record: dict, brokers: set[str]) -> None:
        operations = record.get("ops", [record])
        failed = [operation for operation in operations if operation["type"] == "error"]
        if failed:
            if record["sid"] in brokers and operations[0].get("err") == "badversion":
                self.counts["fenced_writes" if "ops" in record else "failed_isr_updates"] += 1
            return
        for operation in operations:
            if operation["type"] in ("create", "setData"):
                self.write(operation["path"], operation["data"])
                if operation.get("ephemeral"):
                    self.owner[operation["path"]] = record["sid"]
            elif operation["type"] == "delete":
                del self.data[operation["path"]]
            elif operation["type"] == "closeSession":
                owned = [path for path, owner in self.owner.items() if owner == record["sid"] and path in self.data]
                registered = any(path.startswith("/brokers/ids/") for path in owned)
                self.counts["session_expiries"] += registered and record["cxid"] == 0
                for path in owned:
                    del self.data[path], self.owner[path]

    def write(self, path, data):
        if path == "/controller_epoch":
            self.counts["controller_elections"] += int(data) > int(self.data.get(path, 0))
        if path.endswith("/state"):
            self.count_state(self.data.get(path), data)
        self.data[path] = data

    def count_state(self, old, new):
        if old is None:
            self.counts["leader_elections"] += new["leader"] != -1
            return
        elected = new["leader"] not in (-1, old["leader"])
        self.counts["leader_elections"] += elected
        self.counts["unclean_elections"] += elected and new["leader"] not in old["isr"]
        if old["leader_epoch"] == new["leader_epoch"]:
            self.counts["isr_shrinks"] += bool(set(old["isr"]) - set(new["isr"]))
            self.counts["isr_expands"] += bool(set(new["isr"]) - set(old["isr"]))

    def gauges(self) -> dict[str, int]:
        live = {int(path.rpartition("/")[2]) for path in self.data if path.startswith("/brokers/ids/")}
        marked = {path.rpartition("/")[2] for path in self.data if path.startswith("/admin/delete_topics/")}
        topics = {
            path.split("/")[3]: data for path, data in self.data.items() if re.fullmatch(r"/brokers/topics/[^/]+", path)
        }
        found = Counter({name: 0 for name in GAUGES})
        found.update(
            {
                "active_controllers": int("/controller" in self.data),
                "controller_epoch": int(self.data.get("/controller_epoch", 0)),
                "brokers": len(live),
                "topics": len(topics),
                "topics_to_delete": len(marked),
            }
        )
        waiting = set()
        for topic, data in topics.items():
            for number, replicas in data["partitions"].items():
                found.update(self.partition(topic, data, number, replicas, live, topic in marked))
                moved = any(data.get(name, {}).get(number) for name in ("adding_replicas", "removing_replicas"))
                if topic in marked and (moved or set(replicas) - live or self.listed(topic, number)):
                    waiting.add(topic)
        return {**found, "topics_ineligible": len(waiting)}

    def listed(self, topic, number):
        listed = (self.data.get("/admin/reassign_partitions") or {}).get("partitions", [])
        return any((entry["topic"], str(entry["partition"])) == (topic, number) for entry in listed)

    def partition(self, topic, data, number, replicas, live, marked):
        adding = data.get("adding_replicas", {}).get(number, [])
        removing = data.get("removing_replicas", {}).get(number, [])
        found = Counter(partitions=1, reassigning=int(bool(adding or removing or self.listed(topic, number))))
        state = self.data.get(f"/brokers/topics/{topic}/partitions/{number}/state")
        if state is None:
            return found
        isr, led = state["isr"], state["leader"] in live
        config = (self.data.get(f"/config/topics/{topic}") or {}).get("config", {})
        least = config.get("min.insync.replicas")
        preferred = replicas[0]
        balanced = preferred not in isr if preferred in adding else state["leader"] == preferred
        found["offline_partitions"] = int(not led and not marked)
        found["under_replicated"] = int(led and len(isr) < len([r for r in replicas if r not in adding]))
        found["under_min_isr"] = int(led and least is not None and len(isr) < int(least))
        found["at_min_isr"] = int(led and least is not None and len(isr) == int(least))
        found["preferred_imbalance"] = int(not balanced and not marked)
        return found


def test_every_metric_equals_a_recomputation_from_an_independent_decode(recording_directory):
    lines, series = records(recording_directory), series_of(recording_directory)
    brokers = {
        line["sid"]
        for line in lines
        for op in line.get("ops", [line])
        if op["type"] == "create"
        and op["path"].startswith("/brokers/ids/")
        and "error" not in map(lambda each: each["type"], line.get("ops", []))
    }
    samples = {sample.zxid: sample.values for sample in series.samples}
    naive, ours = Naive(), series.initial
    step = 1 if len(lines) < 1_000 else EVERY
    for number, line in enumerate(lines):
        naive.add(line, brokers)
        ours = samples.get(int(line["zxid"], 16), ours)
        assert {name: ours[name] for name in COUNTERS} == naive.counts, line["zxid"]
        if number % step == 0 or number == len(lines) - 1:
            assert {name: ours[name] for name in GAUGES} == naive.gauges(), line["zxid"]


def test_unclean_elections_are_those_of_the_section(recording_directory):
    told = section(recording_directory, "Unclean elections")
    rows = re.findall(r"^\| (0x\w+) \|.*?\| broker \d+ \|$", told, re.MULTILINE)
    series = series_of(recording_directory)
    assert int(re.search(r"stored\): (\d+)", told)[1]) == len(rows) == last(series)["unclean_elections"]
    assert grown(series, "unclean_elections") == rows
    assert series.unclean_by_epoch.total() == len(rows)


def last(series: Series) -> dict[str, int]:
    return series.samples[-1].values


def grown(series: Series, name: str) -> list[str]:
    """The zxids at which a metric rose."""
    values = [series.initial, *(sample.values for sample in series.samples)]
    return [hex(s.zxid) for s, before in zip(series.samples, values) if s.values[name] > before[name]]


def test_controllers_expiries_and_isr_changes_are_those_of_the_section(recording_directory):
    series = series_of(recording_directory)
    rows = re.findall(
        r"^\| \d+ \| \d+ \| 0x\w+ \| 0x\w+ \| [\d:.]+ \| (0x\w+) \|",
        section(recording_directory, "Controllers"),
        re.MULTILINE,
    )
    assert grown(series, "controller_elections") == rows
    registrations = section(recording_directory, "Broker registrations")
    assert grown(series, "brokers") == sorted(
        re.findall(r"^\| \d+ \| (0x\w+) \|", registrations, re.MULTILINE), key=lambda zxid: int(zxid, 16)
    )
    assert sorted(grown(series, "session_expiries")) == sorted(re.findall(r"expired (0x\w+)", registrations))
    told = re.search(
        r"ISR change at the same leader epoch: (\d+)", section(recording_directory, "Partition state writes")
    )
    assert len({*grown(series, "isr_shrinks"), *grown(series, "isr_expands")}) == int(told[1] if told else 0)


def test_deletions_take_as_long_as_the_readme_tells(recording_directory):
    cells = [
        line.split("|")[3:6:2] for line in section(recording_directory, "Topics").splitlines() if line.count("|") == 6
    ]
    rows = [[cell.split()[0] for cell in pair] for pair in cells if all("0x" in cell for cell in pair)]
    series = series_of(recording_directory)
    values = [series.initial, *(sample.values for sample in series.samples)]
    fallen = [
        hex(s.zxid)
        for s, before in zip(series.samples, values)
        if s.values["topics_to_delete"] < before["topics_to_delete"]
    ]
    assert sorted(grown(series, "topics_to_delete")) == sorted(begun for begun, _ in rows)
    assert sorted(fallen) == sorted(ended for _, ended in rows)


def test_refused_writes_are_those_that_replay_explains(recording_directory):
    assert last(series_of(recording_directory))["fenced_writes"] == len(refused_by_epoch(whole(recording_directory)))


def test_the_storm_of_stale_versions_in_a_split_brain():
    """2,429 lines "Cached zkVersion" in the brokers' logs, as many refusals in ZooKeeper's (KAFKA-2729)."""
    row = next(row for row in rows_of(series_of(LEGACY)) if row.metric.name == "failed_isr_updates")
    assert (row.most, hex(row.first.zxid), row.seconds) == (2_429, "0x7da", None)


def test_a_sample_of_json_has_what_its_record_changed():
    for directory in sorted(BUNDLED.glob("*/version-2")):
        series = series_of(directory.parent)
        data = metrics_as_json(series)
        values = dict(data["initial"])
        for sample in data["series"]:
            assert all(values[name] != value for name, value in sample["values"].items())
            values |= sample["values"]
        assert values == last(series)


def of_log(log: Log, snapshot: Snapshot | None = None) -> Series:
    recording = Recording(Path("log"), snapshot or begun(), log.transactions, [])
    return metrics_of(recording, "")


def begun(**znodes) -> Snapshot:
    nodes = {path: Znode(b"") for path in PARENTS} | {
        path: Znode(json.dumps(data).encode()) for path, data in znodes.items()
    }
    return Snapshot(0, 0, {}, nodes)


def test_a_log_that_begins_with_a_snapshot_counts_from_there():
    state = {"version": 1, "leader": 1, "leader_epoch": 0, "controller_epoch": 1, "isr": [1]}
    snapshot = begun(
        **{"/brokers/topics/t": {"partitions": {"0": [1, 2]}}, "/brokers/topics/t/partitions/0/state": state}
    )
    log = Log(1)
    series = of_log(log, snapshot)
    assert (series.initial["offline_partitions"], series.initial["leader_elections"]) == (1, 0)
    assert last(series)["offline_partitions"] == 0 and last(series)["under_replicated"] == 1
    row = next(row for row in rows_of(series) if row.metric.name == "offline_partitions")
    assert (row.most, row.first.zxid, row.last.zxid, row.lasts) == (1, 0, log.transactions[-1].zxid, False)


def test_min_insync_replicas_counts_only_where_the_log_says_it():
    log = Log(1, 2)
    log.topic(1, 2)
    log.state(1, 1, [1], 0, 1)
    assert last(of_log(log))["under_min_isr"] == 0
    log.znode("/config/brokers/<default>", {"config": {"min.insync.replicas": "2"}})
    assert last(of_log(log))["under_min_isr"] == 1
    log.znode("/config/topics/t", {"config": {"min.insync.replicas": "1"}})
    assert (last(of_log(log))["under_min_isr"], last(of_log(log))["at_min_isr"]) == (0, 1)


def test_replay_prints_the_metrics_and_gives_them_as_json(kafkaproof):
    answer = kafkaproof("replay", BUNDLED / "3.9.1-controller-failover")
    assert answer.code == OK and "controller_elections" in answer.out
    data = kafkaproof("replay", BUNDLED / "3.9.1-controller-failover", "--json").json["metrics"]
    assert data.keys() == {"summary", "unclean_by_epoch", "initial", "series"}
    elections = next(row for row in data["summary"] if row["metric"] == "controller_elections")
    assert elections["most"] == 8 and elections["kafka"].startswith("kafka.controller:")


def test_a_superscript_is_no_number():
    log = Log(1)
    log.znode("/brokers/topics/t", {"partitions": {"0": [1], "\u00b2": [1]}})
    log.znode("/brokers/ids/\u00b2", {})
    log.znode("/config/topics/t", {"config": {"min.insync.replicas": "\u00b2"}})
    log.state(1, 1, [1], 0, 1)
    found = last(of_log(log))
    assert (found["partitions"], found["brokers"], found["under_min_isr"]) == (1, 1, 0)
