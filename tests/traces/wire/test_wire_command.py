"""`replay --wire` says of the wire what is found, as text, as JSON and on the page, and refuses what does not go together."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.spec.protocol.passed import read_passed

REAL = Path(__file__).parents[3] / "traces" / "recordings" / "2.8.2-wire"


def copied(directory, change):
    """The recording, with bytes of its first LeaderAndIsr to broker 1 changed in their place."""
    shutil.copytree(REAL, directory)
    file = directory / "links" / "kafka-1.gz"
    frame = next(each.data for each in read_passed(file) if each.data[4:6] == b"\0\4")
    changed = bytearray(frame)
    change(changed)
    whole = gzip.decompress(file.read_bytes())
    file.write_bytes(gzip.compress(whole.replace(frame, bytes(changed), 1)))
    return directory


def raise_leader_epoch(frame):
    place = frame.index(b"\0\0\0\0\0\0", frame.index(b"events") + 22)
    frame[place + 3] ^= 0x20


def raise_version(frame):
    frame[7] = 99


def test_real_traffic_conforms_and_is_counted(capsys, tmp_path):
    assert main(["replay", str(REAL), "--wire", str(REAL), "--json"]) == 0
    wire = json.loads(capsys.readouterr().out)["wire"]
    assert wire["verdict"] == "conforms" and wire["first_divergence"] is None
    apis = {each["api"]: each for each in wire["apis"]}
    assert apis["LeaderAndIsr"]["step"] == apis["LeaderAndIsr"]["count"] == 37
    assert apis["Fetch"]["step"] == apis["Fetch"]["count"] > 200
    assert apis["Metadata"]["listed"] == apis["Metadata"]["count"]
    page = tmp_path / "page.html"
    assert main(["replay", str(REAL), "--wire", str(REAL / "links" / "kafka-1.gz"), "--html", str(page)]) == 0
    assert "conforms: " in capsys.readouterr().out and "The wire, " in page.read_text()


def test_a_message_that_no_step_sends_is_told_with_why_not(capsys, tmp_path):
    tampered = copied(tmp_path / "real", raise_leader_epoch)
    assert main(["replay", str(tampered), "--wire", str(tampered)]) == 1
    assert "LeaderAndIsr at kafka-1.gz:" in capsys.readouterr().out


def test_a_version_that_is_not_known_is_told(capsys, tmp_path):
    main(["replay", str(REAL), "--wire", str(copied(tmp_path / "real", raise_version))])
    out = capsys.readouterr().out
    assert "problem: 1 message of LeaderAndIsr, version 99: not readable by Kafka's schemas" in out


@pytest.mark.parametrize(
    "more, told",
    [
        (["--redact"], "--wire: not with --redact"),
        (["--follow"], "--wire: not with --follow"),
        (["--at", "0x20"], "--wire"),
    ],
)
def test_what_does_not_go_together_is_refused(capsys, more, told):
    assert main(["replay", str(REAL), "--wire", str(REAL), *more]) == 2
    assert told in capsys.readouterr().err


def test_bad_input_is_one_line(capsys, tmp_path):
    (tmp_path / "a.pcap").write_bytes(b"\xd4\xc3\xb2\xa1")
    assert main(["replay", str(REAL), "--wire", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_replay_without_traffic_loads_nothing_that_reads_it():
    code = f"import sys\nfrom kafkaproof.checker.commands.main import main\nmain(['replay', {str(REAL)!r}])\nprint(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "conforms to " in out and not {"dpkt", "kio"} & set(out.splitlines()[-1].split())
