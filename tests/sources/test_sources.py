"""The lines ``Kafka:`` of docstrings are read, all of them, and compared with a small repository."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.language.sources import Place, Source, sections, sources
from tests.sources.__main__ import main
from tests.sources.clone import Clone
from tests.sources.lines import Line, all_lines, lines_of
from tests.sources.lookup import absences, line_of

SCALA = """package kafka.controller
// def inAComment
object Controller {
  case object Expire extends Event { def process() {} }
  val text = "def inAText { gauge }"
}
class Controller(config: Config, val place: Int)
  extends Base {
  newGauge("Active", { '{' })
  private def elect(): Unit = { other() }
}
abstract class Machine
class ZkMachine extends Machine { def move() {} }
case class Empty(broker: Int)
class Later { def late() }
"""
JAVA = """package org.apache.kafka.common;
public class Client {
    private final Map<String, List<Integer>> waiting = null;
    public synchronized <T> Map<String, T> poll(long time,
                                                int most) { return stop(time); }
    class Inner {
        void run() throws Exception;
    }
}
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """Three releases of a project: the class in Java is there up to the second."""
    folder = tmp_path_factory.mktemp("kafka")
    scala, java = (folder / f"{part}/src/main/{part}.{end}" for part, end in (("core", "scala"), ("clients", "java")))

    def git(*command):
        user = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
        subprocess.run(["git", "-C", folder, *user, *command], check=True, capture_output=True)

    git("init", "-q")
    for tag, text in (("0.9.0.1", JAVA), ("0.10.0.0-rc1", JAVA), ("0.10.0.0-rc2", None), ("trunk", None)):
        for file, content in ((scala, SCALA), (java, text)):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content) if content else file.unlink(missing_ok=True)
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", tag)
        git("tag", tag)
    return Clone(folder)


def test_every_line_can_be_read():
    lines = list(all_lines())
    assert len(lines) > 300
    assert all(source.places for line in lines for source in line.sources())


A, B = Place("A", "b"), Place("A", "c")


@pytest.mark.parametrize(
    "text, expected",
    [
        ("none.", {}),
        ("none (an example).", {}),
        ("A.b, 2.1.", {(A,): Releases("2.1", "2.1")}),
        ("A.b (first), c, 2.1 to 3.9 (KIP-1, KIP-2).", {(A, B): Releases("2.1", "3.9")}),
        ("A.b, 2.1; c, 2.2.", {(A,): Releases("2.1", "2.1"), (B,): Releases("2.2", "2.2")}),
        ('k.a.B.C, D."X", 1.0 to\n 1.1.', {(Place("B.C", "", "k.a"), Place("D", '"X"')): Releases("1.0", "1.1")}),
    ],
)
def test_a_line_is_places_and_releases(text, expected):
    assert sources(text) == tuple(Source(places, releases) for places, releases in expected.items())


@pytest.mark.parametrize(
    "text", ["A.b.", "A.b, 2.1", "A.b, up to 2.1.", "A.b, 2.x.", "A.b, 3.0 to 2.1.", "b, 2.1.", "2.1.", "", "A.b; 2.1."]
)
def test_another_line_is_refused(text):
    with pytest.raises(ValueError):
        sources(text)


NAMES = st.from_regex(r"[A-Z][a-z]{1,3}(\.[a-z]{1,3})?", fullmatch=True)


@given(st.lists(NAMES, min_size=1, max_size=3), st.sampled_from(["0.9", "2.8.1"]), st.sampled_from(["3.0", "3.9.0"]))
def test_places_are_written_as_they_are_read(names, first, last):
    (source,) = sources(f"{', '.join(names)}, {first} to {last}.")
    assert [str(place) for place in source.places] == names and source.releases == Releases(first, last)


def test_a_docstring_says_where_its_line_ends():
    doc = "Does.\n\n    Guards:  none.\n    Kafka:   A.b, 2.1 to\n             3.9.\n    "
    assert [" ".join(text.split()) for text in sections(doc)] == ["A.b, 2.1 to 3.9."]
    assert sections("Reads.\n\nSource: kafka.a.B, 2.1.\n") == ("kafka.a.B, 2.1.",)
    assert sections("Reads.\n\nSource: a guide.\n") == ()


def test_each_function_and_module_has_its_lines():
    text = '"""A.\n\nSource: kafka.A, 2.1.\n"""\ndef f():\n    """B.\n\n    Kafka: C.d, 2.1.\n    """\n'
    assert list(lines_of(text, "x.py")) == [Line("x.py", "kafka.A, 2.1."), Line("x.py: f", "C.d, 2.1.")]


@pytest.mark.parametrize(
    "name, line",
    [
        ("Controller.elect", 10),
        ("Controller.Expire", 4),
        ("Controller.Expire.process", 4),
        ('Controller."Active"', 9),
        ("Controller.place", 7),
        ("Machine.move", 13),
        ("Empty", 14),
        ("Client.poll", 4),
        ("Client.waiting", 3),
        ("Client.Inner.run", 7),
        ("org.apache.kafka.common.Client", 2),
    ],
)
def test_what_is_declared_is_found(clone, name, line):
    ((place,),) = (source.places for source in sources(f"{name}, 2.1."))
    found = line_of(clone, "0.9.0.1", place if not place.package else Place(place.of, place.member))
    assert found is not None and found[1] == line


@pytest.mark.parametrize(
    "name",
    [
        "Controller.inAComment",
        "Controller.inAText",
        "Controller.other",
        "Controller.move",
        "Controller.late",
        "Empty.late",
        "Client.stop",
        "Client.run2",
        'Controller."Passive"',
        "kafka.elsewhere.Controller",
        "Nobody",
    ],
)
def test_what_is_only_used_or_elsewhere_is_not_found(clone, name):
    ((place,),) = (source.places for source in sources(f"{name}, 2.1."))
    assert line_of(clone, "0.9.0.1", place) is None


def test_releases_are_the_first_and_the_last_tag(clone):
    assert (clone.first_tag("0.9"), clone.last_tag("0.9")) == ("0.9.0.1", "0.9.0.1")
    assert (clone.first_tag("0.10"), clone.last_tag("3.9")) == ("0.10.0.0-rc2", "0.10.0.0-rc2")
    with pytest.raises(ValueError, match=r"no tag of the clone is 0\.8"):
        clone.last_tag("0.8")


def test_a_place_must_be_there_in_the_first_and_the_last_release(clone):
    lines = [Line("f", "Client.poll, 0.9 to 0.10.0."), Line("g", "Controller.elect, 0.9 to 0.10.0.")]
    assert absences(clone, lines) == [("f", "Client.poll", "0.10.0.0-rc2")]
    assert (
        absences(clone, [Line("f", "Client.poll, 0.9."), Line("h", "org.I0Itec.zkclient.ZkClient.reconnect, 0.9.")])
        == []
    )


def test_what_is_no_clone_has_one_line(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2 and main([]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
