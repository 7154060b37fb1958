"""What a controller, and every broker, knows of ZooKeeper without asking: what its watches have said.

What the model reads in a guard, because a watch says so, is kept here as it was read last, and read again when its
watch has fired (`refresh`). Each other method is the seam of its name in `kafkaproof.spec.partition.zookeeper`.
"""

from __future__ import annotations

import sys
from itertools import islice

from kazoo.protocol.serialization import SetData
from kazoo.protocol.states import EventType

from kafkaproof.impl.seams.zookeeper.numbering import free_in, numbers_of, with_all
from kafkaproof.impl.seams.zookeeper.partition_numbers import NONE, Places
from kafkaproof.impl.seams.zookeeper.request_znodes import IsrChange, LogDirEvent, PreferredElection, Reassignment
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered, Requests
from kafkaproof.impl.seams.zookeeper.znodes import (
    BROKER_IDS,
    CONFIG_CHANGES,
    DELETE_TOPICS,
    ISR_CHANGES,
    LOG_DIR_EVENTS,
    TOPICS,
    Given,
    Topic,
    TopicConfig,
)
from kafkaproof.spec.kafka.assignment import target
from kafkaproof.spec.kafka.zookeeper import BADVERSION, OK
from kafkaproof.spec.language.plain import ids_in, members
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, everybody, union
from kafkaproof.spec.partition.context import clear

WATCHED = (
    TOPICS,
    PreferredElection.path,
    Reassignment.path,
    DELETE_TOPICS,
    CONFIG_CHANGES,
    LOG_DIR_EVENTS,
    ISR_CHANGES,
)


class Watched:
    """What is known of the first topic: what operators ask, notifications; and of all, the replicas that a
    controller tells (`replicas`), those of them that a reassignment adds and removes (`moving`), those that LeaderAndIsr
    has told (`told`), and the assignments of those that were created (`assignments`), each by number.

    `there`: the topics that there are, `topic_ids` their ids, `marked` those that are to be deleted, `noted` which numbers
    are not free.
    `lists_topics`: they change, so that they are listed. `size`: how many brokers there may be, and `most` how many
    replicas.
    """

    def __init__(self, requests: Requests, places: Places, size: int, most: int, lists_topics: bool = True):
        self.requests, self.places, self.topic, self.lists_topics = requests, places, places.topic, lists_topics
        self.size, self.most = size, most
        self.replicas: dict[int, tuple[int, ...]] = {}
        self.told: dict[int, tuple[int, ...]] = {}
        self.moving: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._told_of: set[str] = set()
        self._returned = 0
        self.know_nothing()

    def know_nothing(self) -> None:
        """A term begins: everything is to be read."""
        self.stale = True
        self.preferred, self.unclean = 0, 0
        self._preferred_at: tuple[int, bool] | None = None
        self.moved_to: Reassignment | None = None
        self.there, self.marked, self.leftovers = [], [], []
        self.noted, self.given_version = Given(), 0
        self.log_dir_names, self.log_dir_read, self.isr_names = {}, [], {}
        self.assignments: dict[int, tuple[int, ...]] = {}
        self.topic_ids: dict[str, str] = {}

    def refresh(self) -> None:
        """Read again what is watched, until no watch has fired since; raises Expired and NotAnswered."""
        fired = self.requests.session.fired
        topics = [Topic.path_of(name) for name in self.there]
        while any([fired.pop(path, None) for path in (*WATCHED, *topics)]) or self.stale:
            self.stale = True
            self._read_watched()
            self.stale = False

    def _read_watched(self):
        session = self.requests.session
        preferred, wanted, topics, _, config, events, changes = self.requests.at_once(
            lambda: session.exists(PreferredElection.path, watch=True),
            lambda: session.exists(Reassignment.path, watch=True),
            lambda: session.children(DELETE_TOPICS, watch=True),
            lambda: session.children(CONFIG_CHANGES, watch=True),
            lambda: session.get(TopicConfig.path_of(self.topic)),
            lambda: session.children(LOG_DIR_EVENTS, watch=True),
            lambda: session.children(ISR_CHANGES, watch=True),
        )
        self._note_preferred(preferred)
        self._note_topic(topics, config)
        asked = self.requests.at_once(lambda: session.get(Reassignment.path)) if wanted.result else [None]
        self.note_reassignment(asked[0])
        self.log_dir_names = self._named(LOG_DIR_EVENTS, events, LogDirEvent)
        self.isr_names = self._named(ISR_CHANGES, changes, IsrChange)
        if self.lists_topics:
            self.list_topics()

    def list_topics(self) -> list[str]:
        """Read at one moment which topics there are and which are marked, watches armed, and their assignments; numbers and
        ids are given first to those that have none, and are to have some.

        Raises Expired and NotAnswered.
        """
        session, known = self.requests.session, None
        while True:
            paths = [Topic.path_of(name) for name in known or ()]
            listed, marked, given, *found = self.requests.at_once(
                lambda: session.children(TOPICS, watch=True),
                lambda: session.children(DELETE_TOPICS, watch=True),
                lambda: session.get(Given.path),
                *(lambda path=path: session.get(path, watch=True) for path in paths),
            )
            names: list[str] = listed.result[0]
            if names == known:
                topics = {name: self._as_known(name, reply.result[0]) for name, reply in zip(names, found)}
                versions = {name: reply.result[1].version for name, reply in zip(names, found)}
                lacking = [name for name, reply in zip(names, found) if not Topic.decode(reply.result[0]).id]
                if not self._number(topics, given) and not self._give_ids(topics, lacking, versions):
                    break
            known = names
        self.there, self.marked = names, marked.result[0]
        self.assignments = {}
        for name, topic in topics.items():
            self.topic_ids[name] = topic.id
            numbers = self._note_places(name, topic)
            self._tell_unnumbered(name, topic, numbers)
            self.assignments.update((p, r) for p, r in zip(numbers, topic.assignments) if self.places.is_further(p))
        return names

    def _as_known(self, name: str, data: bytes) -> Topic:
        """A topic; with the id that it had when it was read last, which tools of releases before 2.8 take away."""
        topic = Topic.decode(data)
        return topic if topic.id or name not in self.there else topic._replace(id=self.topic_ids.get(name, ""))

    def look_up(self, name: str) -> None:
        """Learn which numbers a topic has, without being told: by its znode. As `list_topics`, of one topic.

        Raises Expired and NotAnswered.
        """
        session = self.requests.session
        while True:
            found, given = self.requests.at_once(
                lambda: session.get(Topic.path_of(name)), lambda: session.get(Given.path)
            )
            if found.error or given.error:
                return
            topic = Topic.decode(found.result[0])
            if not self._number({name: topic}, given):
                break
        self._note_places(name, topic)

    def _number(self, topics: dict[str, Topic], given) -> bool:
        """Note which numbers are given, as they were read; and first those of topics that have none, if they are to have
        some: then all is to be read again. A topic with replicas that there cannot be gets none. Raises NotAnswered.
        """
        self._note_given(given)
        possible = {name: topic for name, topic in topics.items() if self._is_possible(topic)}
        more = with_all(self.places, possible, self.noted)
        if more is None:
            return False
        if self.requests.write_beside(SetData(Given.path, more.encode(), self.given_version)) not in (OK, BADVERSION):
            raise NotAnswered
        return True

    def _is_possible(self, topic: Topic) -> bool:
        """Whether there can be the replicas of a topic."""
        return all(0 < len(each) <= self.most and max(each) < self.size for each in topic.assignments)

    def _give_ids(self, topics: dict[str, Topic], lacking: list[str], versions: dict[str, int]) -> bool:
        """As the controller: write ids into the znodes of topics that lack one, that which they had or a new one; whether
        all is to be read again.

        Source: kafka.controller.KafkaController.processTopicIds, 2.8 to 3.9.
        """
        given = False
        for name in lacking if self.places.further != NONE else ():
            given = self._write_id(Topic.path_of(name), topics[name].with_id(), versions[name]) or given
        return given

    def _write_id(self, path: str, topic: Topic, version: int) -> bool:
        """Write a topic with its id, as its znode was read; whether it was, or another version is there now."""
        raise NotImplementedError

    def _tell_unnumbered(self, name: str, topic: Topic, numbers: list[int]) -> None:
        """Tell the operator once, in the broker's log, that some partitions of a topic get no leader."""
        if self.places.further != NONE and len(numbers) < len(topic.assignments) and name not in self._told_of:
            self._told_of.add(name)
            print(
                f"topic {name!r}: {len(topic.assignments) - len(numbers)} of its partitions get no leader: they are on brokers "
                f"that are none of this cluster, or have more than {self.most} replicas (--replicas)",
                file=sys.stderr,
                flush=True,
            )

    def free(self, count: int) -> list[int]:
        """So many numbers that no topic has or had, and that were not returned before; there are records for them then."""
        numbers = list(islice(free_in(self.places, union(self.noted.places, self._returned)), count))
        self._returned = union(self._returned, members(numbers))
        self.places.reach(max(numbers, default=NONE))
        return numbers

    def _note_places(self, name: str, topic: Topic) -> list[int]:
        """Note which further numbers a topic has; the numbers of all its partitions."""
        numbers = self._numbers(name, topic)
        self.places.note(name, {p: i for i, p in enumerate(numbers) if self.places.is_further(p)})
        return numbers

    def id_of(self, p: int) -> str:
        """The id of the topic that a partition belongs to, "" where it is not known."""
        place = self.places.place_of(p)
        return self.topic_ids.get(place[0], "") if place else ""

    def _note_given(self, given):
        self.noted, self.given_version = Given.decode(given.result[0]), given.result[1].version

    def _numbers(self, name: str, topic: Topic) -> list[int]:
        """The numbers of the partitions that a topic has."""
        return numbers_of(self.places.initial(name), name, topic, self.noted)

    def in_other_topics(self, known):
        """The partitions of topics of which nothing is known."""
        names = self._names(known)
        return members(p for p in self.assignments if self.places.place_of(p)[0] not in names)

    in_new_topics = in_other_topics

    def added(self, known):
        """The partitions that topics have besides those that are known of them."""
        names = self._names(known)
        return members(p for p in self.assignments if self.places.place_of(p)[0] in names and not contains(known, p))

    def _names(self, partitions):
        """The topics of some partitions."""
        return {self.places.place_of(p)[0] for p in ids_in(partitions)}

    def in_use(self):
        """The partitions that topics have or had."""
        return self.noted.places

    def partitions_of_topics(self):
        """The partitions of the topics that were created; a controller knows the others when its term begins."""
        return members(self.assignments)

    def note_reassignment(self, found) -> None:
        """What /admin/reassign_partitions says, as it was read (None: it is not there)."""
        self.moved_to = None if found is None or found.error else Reassignment.asked(found.result[0])

    def _note_topic(self, topics, config):
        self.marked = [] if topics.error else topics.result[0]
        self.unclean = int(not config.error and TopicConfig.decode(config.result[0]).unclean)

    def _decoded(self, path, znode):
        found = self.requests.at_once(lambda: self.requests.session.get(path))[0]
        return None if found.error else znode.decode(found.result[0])

    def _named(self, folder, children, znode):
        names = [] if children.error else [name for name in children.result[0]]
        found = {name: self._decoded(f"{folder}/{name}", znode) for name in names}
        return {name: content for name, content in found.items() if content}

    def brokers_changed(self, b):
        """Whether the watch on /brokers/ids has fired."""
        return EventType.CHILD in self.requests.session.fired.get(BROKER_IDS, ())

    def election_wanted(self):
        """Whether an operator has asked for preferred leaders; when a term begins, this is looked up at once, unless the
        step has read it.
        """
        if self.stale and self._preferred_at != self.requests.at:
            self.preferred = int(self.requests.finds(lambda: self.requests.session.exists(PreferredElection.path)))
        return self.preferred == 1

    def _note_preferred(self, found):
        self.preferred, self._preferred_at = int(found.result is not None), self.requests.at

    def unclean_allowed(self):
        """Whether the topic allows unclean elections."""
        return self.unclean == 1

    def deletion_wanted(self):
        """The partitions of the topics that are there and queued for deletion; up to 2.0 of the one topic: all."""
        if not self.lists_topics:
            return everybody(self.places.size) if self.topic in self.marked else 0
        return members(p for name in self.marked if name in self.there for p in self.places.numbers_of(name))

    def is_left_over(self):
        """Whether there is the marker of a topic that is not there; which ones, `leftovers` tells from then on."""
        found = [name for name in self.marked if name not in self.there]
        self.leftovers = found or self.leftovers
        return bool(found)

    def topics_of(self, partitions):
        """The partitions of the topics that some partitions belong to."""
        return members(p for name in self._names(partitions) for p in self.places.numbers_of(name))

    def is_moved(self, p):
        """Whether the reassignment lists a partition, with replicas that there may be."""
        wanted = self._target(p)
        return 0 < len(wanted) <= self.most and all(0 <= r < self.size for r in wanted)

    def listed(self) -> list[int]:
        """The partitions that it lists, as far as there are such."""
        places = self.moved_to.targets if self.moved_to else ()
        return sorted(p for place in places if (p := self.places.number_of(*place)) is not None)

    def _target(self, p):
        """The replicas with which it lists a partition, each once; none where it does not."""
        found = self.moved_to.targets.get(self.places.place_of(p), ()) if self.moved_to else ()
        return tuple(dict.fromkeys(found))

    def unknown_targets(self):
        """What it lists, and there is not."""
        return [place for place in (self.moved_to.targets if self.moved_to else ()) if not self._is_there(place)]

    def _is_there(self, place):
        """Whether there is such a partition, as far as this broker has read."""
        return place[0] in self.there and self.places.number_of(*place) is not None

    def is_unknown_listed(self):
        """Whether the reassignment lists a partition that there is not."""
        return bool(self.unknown_targets())

    def is_listed(self, p, replicas):
        """Whether it lists it with exactly these replicas."""
        return self.is_moved(p) and self._target(p) == tuple(replicas.slots[: replicas.length])

    def is_aim(self, p, partition):
        """Whether it lists it with the target of the reassignment that `partition` is in."""
        wanted, assigned = self._target(p), partition.assignment
        aim = target(assigned, partition.removing)
        return aim == members(wanted) and wanted == tuple(assigned.slots[: len(wanted)])

    def wanted_target(self, p):
        """The brokers of the target of a partition."""
        return members(self._target(p))

    def copy_target(self, p, target):
        """The target of a partition, in order."""
        clear(target)
        for replica in self._target(p):
            push(target, replica)

    def log_dir_events(self):
        """The brokers that notify of a failed log directory, and were not listened to."""
        new = self.log_dir_names.keys() - set(self.log_dir_read)
        return members(self.log_dir_names[name].broker for name in new)

    def isr_changed(self, p):
        """Whether a leader has left a notification."""
        return any(change.partition == p for change in self.isr_names.values())

    def assigned(self, p):
        """The replicas of a partition, as LeaderAndIsr has told them."""
        return members(self.told.get(p) or self.replicas.get(p, ()))

    def known_as_they_are(self, b, to):
        """Requests carry the broker epoch that is known: a process that has another refuses them itself."""
        return to

    def as_they_are(self, b, to):
        """Requests name no process (up to 2.1)."""
        return to
