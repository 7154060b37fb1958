"""The numbers of a topic that is created are noted as given, whoever else notes some at that moment; and those of a topic
that none of our controllers has created, once, by whichever broker finds it first.
"""

from types import SimpleNamespace

from kazoo.protocol.serialization import SetData

from kafkaproof.impl.seams.zookeeper.numbering import numbers_of, with_all, without_deleted
from kafkaproof.impl.seams.zookeeper.partition_numbers import OFFSETS_TOPIC, Places
from kafkaproof.impl.seams.zookeeper.topics import TopicZooKeeper
from kafkaproof.impl.seams.zookeeper.znodes import Given, Topic
from kafkaproof.spec.kafka.zookeeper import BADVERSION, FENCED, OK

NEW, OF_ANOTHER = 0b1100, 0b10000


class Controller(TopicZooKeeper):
    """A controller that is alone with what `there` is noted in ZooKeeper, and in which version."""

    def __init__(self, there, fenced=False):
        self.there_is, self.fenced = there, fenced
        super().__init__(SimpleNamespace(write=self._write, write_all=self._write_all), Places("events", -1, 2, 2), 3)
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


def test_the_offsets_topic_of_another_run_has_its_number_whatever_is_noted():
    assert Places("<none>", 0, 1, 1).initial(OFFSETS_TOPIC) == [0]
    former = Topic.created(((0,),))
    assert numbers_of([0], OFFSETS_TOPIC, former, Given(0b11110, {former.id: (4,)})) == [0]


PLACES = Places("events", 2, 3, 3)
"""Two partitions of the first topic, the offsets partition, and all numbers behind them are free."""
FOREIGN = Topic(((0, 1), (1, 0)), "opguTbXnTuWgAF4_b1tylQ")


def test_a_topic_of_a_real_controller_gets_numbers_once():
    first = with_all(PLACES, {"made": FOREIGN}, Given(0b1000))
    assert first == Given(0b111000, {FOREIGN.id: (4, 5)})
    assert with_all(PLACES, {"made": FOREIGN}, first) is None, "all have numbers"
    assert numbers_of([], "made", FOREIGN, first) == [4, 5]


def test_its_further_partitions_get_more_numbers_and_those_before_keep_theirs():
    noted, larger = Given(0b111000, {FOREIGN.id: (4, 5)}), FOREIGN._replace(assignments=((0,),) * 3)
    more = with_all(PLACES, {"made": larger}, noted)
    assert more == Given(0b1111000, {FOREIGN.id: (4, 5, 6)})
    assert numbers_of([], "made", larger, more) == [4, 5, 6]


def test_a_topic_keeps_its_numbers_when_it_is_given_an_id():
    plain = FOREIGN._replace(id="")
    noted = with_all(PLACES, {"made": plain}, Given(0))
    assert noted.numbers == {"made": (3, 4)} and numbers_of([], "made", FOREIGN, noted) == [3, 4]
    later = with_all(PLACES, {"made": FOREIGN}, noted)
    assert later.numbers == {FOREIGN.id: (3, 4)} and numbers_of([], "made", FOREIGN, later) == [3, 4]
    assert with_all(PLACES, {"made": FOREIGN}, later) is None, "it stays so"


def test_a_topic_of_a_former_ones_name_gets_numbers_of_its_own():
    plain, noted = FOREIGN._replace(id=""), Given(0b11000, {FOREIGN.id: (3, 4)})
    assert with_all(PLACES, {"made": plain}, noted) == Given(0b1111000, {FOREIGN.id: (3, 4), "made": (5, 6)})


def test_topics_get_as_many_numbers_as_they_need_and_the_first_one_those_behind_its_own():
    large, events = FOREIGN._replace(assignments=((0,),) * 200), FOREIGN._replace(id="x", assignments=((0,),) * 3)
    noted = with_all(PLACES, {"large": large, "events": events, OFFSETS_TOPIC: FOREIGN}, Given(0b1000))
    assert noted.numbers == {"x": (4,), FOREIGN.id: tuple(range(5, 205))}
    assert numbers_of([0, 1], "events", events, noted) == [0, 1, 4]


def test_up_to_2_0_only_the_topics_from_the_beginning_have_numbers():
    assert with_all(Places("events", 2, -1, 3), {"made": FOREIGN}, Given(0)) is None


def test_of_topics_that_are_gone_nothing_is_noted_but_their_numbers_stay_given():
    noted = Given(0b111000, {FOREIGN.id: (3,), "named": (4,), "gone": (5,)}, {"log.retention.ms": "1"})
    left = without_deleted(noted, {"made": FOREIGN.id, "named": ""})
    assert left == Given(0b111000, {FOREIGN.id: (3,), "named": (4,)}, {"log.retention.ms": "1"})
    assert Given.decode(left.encode()) == left


def test_a_number_is_returned_once_even_if_the_topic_that_was_to_get_it_was_not_created():
    controller = Controller(SimpleNamespace(given=0b100, version=7))
    reached = []
    controller.places.reach = reached.append
    controller.noted = Given(0b100)
    assert controller.free(2) == [3, 4] and controller.free(1) == [5] and reached == [4, 5]


def test_a_partition_has_one_number_though_its_topic_was_there_before():
    places, reached = Places("events", 2, 3, 3), []
    places.reach = reached.append
    places.note("made", {3: 0, 4: 1})
    places.note("made", {7: 0})
    assert places.number_of("made", 0) == 7 and places.number_of("made", 1) == 4 and places.place_of(3) is None
    assert places.numbers_of("made") == [4, 7] and reached == [4, 7]


def test_every_topic_without_an_id_gets_one_whoever_has_created_it():
    written = []
    requests = SimpleNamespace(write_checked_beside=lambda check, named: written.append(named) or (OK, None))
    controller = TopicZooKeeper(requests, Places("<none>", 0, 1, 1), 3)
    topics = {OFFSETS_TOPIC: Topic(((0,),)), "joined": Topic(((9,),))}
    assert controller._give_ids(topics, list(topics), {OFFSETS_TOPIC: 4, "joined": 0})
    assert [(each.path, each.version) for each in written] == [
        (Topic.path_of(OFFSETS_TOPIC), 4),
        (Topic.path_of("joined"), 0),
    ]
    assert [Topic.decode(each.data).assignments for each in written] == [((0,),), ((9,),)]
    assert len({Topic.decode(each.data).id for each in written}) == 2
