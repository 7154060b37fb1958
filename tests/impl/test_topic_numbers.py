"""The numbers of a topic that is created are noted as given, whoever else notes some at that moment."""

from types import SimpleNamespace

from kazoo.protocol.serialization import SetData

from kafkaproof.impl.seams.zookeeper.partition_numbers import Places
from kafkaproof.impl.seams.zookeeper.topics import TopicZooKeeper
from kafkaproof.impl.seams.zookeeper.znodes import Given
from kafkaproof.spec.kafka.zookeeper import BADVERSION, FENCED, OK

NEW, OF_ANOTHER = 0b1100, 0b10000


class Controller(TopicZooKeeper):
    """A controller that is alone with what is `noted`: what ZooKeeper has noted, and in which version."""

    def __init__(self, there, fenced=False):
        self.noted, self.fenced = there, fenced
        super().__init__(SimpleNamespace(write=self._write, write_all=self._write_all), Places("events", -1, 2, 8), 3)
        self.creating, self.races = "t", [OF_ANOTHER]

    def list_topics(self):
        self.given, self.given_version = self.noted.given, self.noted.version
        while self.races:
            self.noted.given, self.noted.version = self.noted.given | self.races.pop(), self.noted.version + 1

    def _write(self, operation):
        assert isinstance(operation, SetData) and operation.path == Given.path
        if operation.version != self.noted.version:
            return BADVERSION
        self.noted.given, self.noted.version = Given.decode(operation.data).places, self.noted.version + 1
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
