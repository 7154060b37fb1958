"""ZooKeeper as a controller creates and deletes topics there, and reassigns partitions, live.

Each method is the seam of its name in the module `zookeeper` of `kafkaproof.spec.partition.deletion` or `reassignment`,
or in
`kafkaproof.spec.partition.creation.zookeeper`.
"""

from __future__ import annotations

from dataclasses import replace

from kazoo.protocol.serialization import CheckVersion, Delete, SetData

from kafkaproof.impl.seams.zookeeper.numbering import without_deleted
from kafkaproof.impl.seams.zookeeper.partition_numbers import Places
from kafkaproof.impl.seams.zookeeper.request_znodes import Reassignment
from kafkaproof.impl.seams.zookeeper.requests import CONTROLLER_EPOCH, Requests, create
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.impl.seams.zookeeper.watches import Watched
from kafkaproof.impl.seams.zookeeper.znodes import BROKER_IDS, DELETE_TOPICS, Given, State, Topic, TopicConfig
from kafkaproof.spec.kafka.replica_lists import assign_replicas
from kafkaproof.spec.kafka.zookeeper import BADVERSION, EXPIRED, FENCED, NONODE, OK
from kafkaproof.spec.language.plain import ids_in, members
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, union


class TopicZooKeeper(Watched):
    """The seams of one broker's controller to topics; `creating` is the name of the topic that is created."""

    def __init__(self, requests: Requests, places: Places, size: int, lists_topics: bool = True, most: int = 0):
        super().__init__(requests, places, size, most or size, lists_topics)
        self.place_of, self.creating = places.place_of, ""
        self.epoch_version, self.moved, self.settled = 0, ((), ()), True

    # Creation

    def read_topics(self, b, new, controller):
        """getChildren of /brokers/topics, watch armed, and getData of each, into `controller`: OK or EXPIRED."""
        try:
            self.list_topics()
        except Expired:
            return EXPIRED
        for p in ids_in(new):
            self.replicas[p] = self.assignments[p]
            self.moving.pop(p, None)
            for replica in self.assignments[p]:
                push(controller.partitions[p].assignment, replica)
        return OK

    def write_topic_config(self, b, delivery):
        """setData of the configuration of the topic that is being created, or create: OK, EXPIRED or LOST."""
        path, config = TopicConfig.path_of(self.creating), TopicConfig(False).encode()
        answer = self.requests.write(SetData(path, config, -1))
        return self.requests.write(create(path, config)) if answer == NONODE else answer

    def checked_create_topic(self, b, new, replicas, start, shift, live, epoch, delivery):
        """multi[check /controller_epoch, create /brokers/topics/t]: OK, NODEEXISTS, FENCED, EXPIRED or LOST.

        Before it the numbers are noted as given, on the version that was read, and read again where another controller,
        which does not know yet that it is deposed, has noted some meanwhile.
        """
        numbers = ids_in(new)
        assigned = assign_replicas(ids_in(live), len(numbers), replicas, start, shift)
        topic, answer = Topic.created(tuple(map(tuple, assigned))), BADVERSION
        while answer == BADVERSION:
            try:
                self.list_topics()
            except Expired:
                return EXPIRED
            answer = self._note_numbers(new, topic.id, numbers)
        if answer != OK:
            return answer
        return self._checked(create(Topic.path_of(self.creating), topic.encode()))

    def read_topic(self, b, p, new, start, reader):
        """getChildren of /brokers/ids, and getData of a topic: OK, NONODE or EXPIRED.

        Its assignments go into `reader`, with those of new partitions, unless one of the topic is being reassigned
        (`settled` tells whether none is), or has more replicas than there are brokers.
        """
        name, session = self.place_of(p)[0], self.requests.session
        try:
            listed, given, found = self.requests.at_once(
                lambda: session.children(BROKER_IDS),
                lambda: session.get(Given.path),
                lambda: session.get(Topic.path_of(name)),
            )
        except Expired:
            return EXPIRED
        if found.error:
            return NONODE
        self._note_given(given)
        topic, brokers = Topic.decode(found.result[0]), sorted(int(broker) for broker in listed.result[0])
        known, added = self._numbers(name, topic), ids_in(new)
        replicas = len(topic.assignments[known.index(p)])
        self.settled = not any(moved for _, moved in (*topic.adding, *topic.removing))
        if self.settled and replicas <= len(brokers):
            assigned = assign_replicas(brokers, len(added), replicas, start, start, len(known))
            for q, each in zip((*known, *added), (*topic.assignments, *assigned), strict=True):
                for replica in each:
                    push(reader.assignments[q], replica)
            reader.of, reader.new = p, new
        return OK

    def write_topic(self, b, p, reader, delivery):
        """setData of a topic with the assignments in `reader`: OK, NONODE, EXPIRED or LOST.

        Before it the numbers of the new partitions are noted, as for a new topic.
        """
        name, numbers, answer = self.place_of(p)[0], ids_in(reader.new), BADVERSION
        while answer == BADVERSION:
            try:
                self.list_topics()
                topic = self._decoded(Topic.path_of(name), Topic)
            except Expired:
                return EXPIRED
            if topic is None:
                return NONODE
            known = self._numbers(name, topic)[len(self.places.initial(name)) :]
            answer = self._note_numbers(reader.new, topic.id or name, [*known, *numbers])
        if answer != OK:
            return answer
        assigned = [tuple(each.slots[: each.length]) for each in reader.assignments if each.length > 0]
        self.stale = True
        return self.requests.write(SetData(Topic.path_of(name), Topic(tuple(assigned), topic.id).encode(), -1))

    def _note_numbers(self, new, key, numbers):
        """setData of what is noted, with new numbers as given, and the numbers of a topic by its id or name; what is noted of
        topics that are gone is not kept: OK, BADVERSION, EXPIRED or LOST.
        """
        left = without_deleted(self.noted, {name: self.topic_ids[name] for name in self.there})
        given = replace(left, places=union(left.places, new), numbers=left.numbers | {key: tuple(numbers)})
        return self.requests.write(SetData(Given.path, given.encode(), self.given_version))

    def checked_restore_topic(self, b, p, epoch, delivery):
        """multi[check /controller_epoch, setData of a topic] with the partitions that have a znode, and no others: OK,
        NONODE, FENCED, EXPIRED or LOST.
        """
        name, session = self.place_of(p)[0], self.requests.session
        path = Topic.path_of(name)
        try:
            found, there = self.requests.at_once(
                lambda: session.get(path), lambda: session.children(f"{path}/partitions")
            )
        except Expired:
            return EXPIRED
        if found.error:
            return NONODE
        left = [] if there.error else sorted(int(number) for number in there.result[0])
        self.stale = True
        return self._checked(SetData(path, Topic.decode(found.result[0]).restored(left).encode(), -1))

    # Reassignments

    def load_reassigned(self, b, p, partition, reader):
        """getData of the topic, assignment into `partition` with what is added and removed, then as `get_state`."""
        self.moved = (), ()
        answer = self.load_partition(b, p, partition, reader)
        if answer != EXPIRED:
            partition.adding, partition.removing = map(members, self.moved)
        return answer

    def checked_set_topic(self, b, p, known, epoch, delivery):
        """multi[check /controller_epoch, setData topic] with what a controller's context has of the topic of a partition.

        The topic loses partitions that are not in the context. What is asked for is read, too. OK, NONODE, FENCED,
        EXPIRED or LOST.
        """
        name = self.place_of(p)[0]
        path, session = Topic.path_of(name), self.requests.session
        try:
            found, asked = self.requests.at_once(lambda: session.get(path), lambda: session.get(Reassignment.path))
        except Expired:
            return EXPIRED
        self.note_reassignment(asked)
        if found.error:
            return NONODE
        topic = Topic.decode(found.result[0])
        there = {self.place_of(q)[1]: known.partitions[q] for q in self.places.numbers_of(name)}
        there = {number: each for number, each in there.items() if each.assignment.length > 0}
        topic = topic.restored(there)
        for number, each in there.items():
            replicas = tuple(each.assignment.slots[: each.assignment.length])
            adding, removing = (
                tuple(r for r in replicas if contains(moved, r)) for moved in (each.adding, each.removing)
            )
            topic = topic.reassigned(number, replicas, adding, removing)
        number = self.place_of(p)[1]
        self.replicas[p], self.moving[p] = topic.assignments[number], topic.moves_of(number)
        return self._checked(SetData(path, topic.encode(), -1))

    def checked_delist(self, b, partitions, epoch, delivery):
        """multi[check /controller_epoch, setData or delete /admin/reassign_partitions], without some partitions (none:
        without those that there are not): OK, NONODE, FENCED, EXPIRED or LOST.
        """
        try:
            asked = self.requests.at_once(lambda: self.requests.session.get(Reassignment.path))[0]
        except Expired:
            return EXPIRED
        self.note_reassignment(asked)
        self.stale = True
        gone = {self.place_of(p) for p in ids_in(partitions)} or set(self.unknown_targets())
        listed = self.moved_to.targets if self.moved_to else {}
        left = {place: target for place, target in listed.items() if place not in gone}
        path = Reassignment.path
        return self._checked(SetData(path, Reassignment(left).encode(), -1) if left else Delete(path, -1))

    # Deletions

    def create_marker(self, b, p, delivery):
        """create /admin/delete_topics/t: OK, NODEEXISTS, EXPIRED or LOST."""
        return self.requests.write(create(f"{DELETE_TOPICS}/{self.place_of(p)[0]}"))

    def checked_delete_state(self, b, p, epoch, delivery):
        """delete a state, and the folder that it was in: OK, FENCED, EXPIRED or LOST."""
        topic, number = self.place_of(p)
        answer = self._remove(State.path_of(topic, number))
        if answer == OK:
            deleted = self.requests.at
            self._remove(State.parents_of(topic, number)[1])
            self.requests.at = deleted
        return answer

    def checked_delete_topic(self, b, topic, epoch, delivery):
        """delete a topic znode, and before it the folders that are left: OK, FENCED, EXPIRED or LOST."""
        name = self._name_of(topic)
        folder = f"{Topic.path_of(name)}/partitions"
        try:
            left = self.requests.at_once(lambda: self.requests.session.children(folder))[0]
        except Expired:
            return EXPIRED
        folders = [] if left.error else [*(f"{folder}/{number}" for number in left.result[0]), folder]
        return self._remove_all(*folders, Topic.path_of(name))

    def checked_delete_config(self, b, topic, epoch, delivery):
        """delete the configuration of a topic: OK, FENCED, EXPIRED or LOST."""
        return self._remove(TopicConfig.path_of(self._name_of(topic)))

    def checked_delete_marker(self, b, topic, epoch, delivery):
        """delete the marker of a topic: OK, FENCED, EXPIRED or LOST."""
        self.stale = True
        return self._remove(f"{DELETE_TOPICS}/{self._name_of(topic)}")

    def checked_delete_leftovers(self, b, unknown, epoch, delivery):
        """delete configurations and markers of topics that are not there, and markers of topics that are not known: OK,
        FENCED, EXPIRED or LOST.
        """
        self.stale = True
        configured = (TopicConfig.path_of(name) for name in self.leftovers)
        marked = (f"{DELETE_TOPICS}/{name}" for name in (*self.leftovers, *self._names(unknown)))
        return self._remove_all(*configured, *marked)

    def _name_of(self, topic):
        """The name of the topic that has some partitions."""
        return self.place_of(ids_in(topic)[0])[0]

    def _remove_all(self, *paths):
        """Delete some znodes, one after another, until one cannot be deleted."""
        answer = OK
        for path in paths:
            answer = self._remove(path)
            if answer != OK:
                break
        return answer

    def _remove(self, path):
        """Delete a znode, if it is there."""
        answer = self._checked(Delete(path, -1))
        return OK if answer == NONODE else answer

    def _write_id(self, path, topic, version):
        check, named = CheckVersion(CONTROLLER_EPOCH, self.epoch_version), SetData(path, topic.encode(), version)
        answer, place = self.requests.write_checked_beside(check, named)
        return answer == OK or answer in (BADVERSION, NONODE) and place == 1

    def _checked(self, operation):
        """A write that is checked against the epoch's version."""
        check = CheckVersion(CONTROLLER_EPOCH, self.epoch_version)
        answer, place = self.requests.write_all(check, operation)
        return FENCED if answer == BADVERSION and place == 0 else answer
