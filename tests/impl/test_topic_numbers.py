"""The numbers of a topic that is created are noted as given, whoever else notes some at that moment; and those of a topic
that none of our controllers has created, once, by whichever broker finds it first.
"""

from types import SimpleNamespace

from kazoo.protocol.serialization import SetData

from kafkaproof.impl.seams.zookeeper.numbering import numbers_of, with_all
from kafkaproof.impl.seams.zookeeper.partition_numbers import OFFSETS_TOPIC, Places
from kafkaproof.impl.seams.zookeeper.topics import TopicZooKeeper
from kafkaproof.impl.seams.zookeeper.znodes import Given, Topic
from kafkaproof.spec.kafka.zookeeper import BADVERSION, FENCED, OK

NEW, OF_ANOTHER = 0b1100, 0b10000


class Controller(TopicZooKeeper):
    """A controller that is alone with what `there` is noted in ZooKeeper, and in which version."""

    def __init__(self, there, fenced=False):
        self.there_is, self.fenced = there, fenced
        super().__init__(SimpleNamespace(write=self._write, write_all=self._write_all), Places("events", -1, 2, 8), 3)
        self.creating, self.races = "t", [OF_ANOTHER]

    def list_topics(self):
        self.noted, self.given_version = Given(self.there_is.given), self.there_is.version
        while self.races:
            self.there_is.given, self.there_is.version = (
                self.there_is.given | self.races.pop(),
                self.there_is.version + 1,
            )

    def _write(self, operation):
        assert isinstance(operation, SetData) and operation.path == Given.path
        if operation.version != self.there_is.version:
            return BADVERSION
        self.there_is.given = Given.decode(operation.data).places
        self.there_is.version += 1
        return OK

    def _write_all(self, *operations):
        return (BADVERSION, 0) if self.fenced else (OK, 0)


def test_a_controller_notes_its_numbers_though_a_deposed_one_has_noted_others_meanwhile():
    there = SimpleNamespace(given=0b1, version=7)
    controller = Controller(there)
    assert controller.checked_create_topic(1, NEW, 1, 0, 0, 0b111, 2, 0) == OK
    assert there.given == 0b1 | NEW | OF_ANOTHER


def test_a_deposed_controller_creates_no_topic():
    controller = Controller(SimpleNamespace(given=0b1, version=7), fenced=True)
    assert controller.checked_create_topic(1, NEW, 1, 0, 0, 0b111, 2, 0) == FENCED


def test_the_offsets_topic_of_another_run_has_its_number_whatever_its_id_says():
    assert Places("<none>", 0, 1, 8, takes_any=True).initial(OFFSETS_TOPIC) == [0]
    former = Topic.created(((0,),), 0b100)
    assert numbers_of([0], OFFSETS_TOPIC, former, Given(0b11110)) == [0]


ROOM = Places("events", 2, 3, 8, takes_any=True)
"""Two partitions of the first topic, the offsets partition, and five numbers that are free."""
FOREIGN = Topic(((0, 1), (1, 0)), "opguTbXnTuWgAF4_b1tylQ")


def test_a_topic_of_a_real_controller_gets_numbers_once():
    first = with_all(ROOM, {"made": FOREIGN}, Given(0b1000))
    assert first == Given(0b111000, {FOREIGN.id: (4, 5)}, (FOREIGN.id,))
    assert with_all(ROOM, {"made": FOREIGN}, first) is None, "all have numbers"
    assert numbers_of([], "made", FOREIGN, first) == [4, 5]


def test_its_further_partitions_get_more_numbers_and_those_before_keep_theirs():
    noted, larger = Given(0b111000, {FOREIGN.id: (4, 5)}, (FOREIGN.id,)), FOREIGN._replace(assignments=((0,),) * 3)
    more = with_all(ROOM, {"made": larger}, noted)
    assert more == Given(0b1111000, {FOREIGN.id: (4, 5, 6)}, (FOREIGN.id,)) and numbers_of(
        [], "made", larger, more
    ) == [4, 5, 6]


def test_a_topic_keeps_its_numbers_when_it_is_given_an_id():
    plain = FOREIGN._replace(id="")
    noted = with_all(ROOM, {"made": plain}, Given(0))
    assert noted.added == {"made": (3, 4)} and with_all(ROOM, {"made": FOREIGN}, noted) is None
    assert numbers_of([], "made", FOREIGN, noted) == [3, 4]


def test_topics_that_have_numbers_or_for_which_none_are_left_get_none():
    ours = Topic.created(((0, 1),), 0b1000)
    assert with_all(ROOM, {"own": ours, "events": FOREIGN, OFFSETS_TOPIC: ours}, Given(0b1000)) is None
    large = FOREIGN._replace(assignments=((0,),) * 6)
    assert with_all(ROOM, {"large": large}, Given(0)) is None
    assert with_all(ROOM, {"large": large, "made": FOREIGN}, Given(0)).added == {FOREIGN.id: (3, 4)}


def test_in_a_cluster_of_our_own_only_our_topics_have_numbers():
    assert with_all(Places("events", 2, 3, 8), {"made": FOREIGN}, Given(0)) is None
