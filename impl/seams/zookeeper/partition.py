"""ZooKeeper as a controller and the leaders of partitions ask for it: states, registrations, what operators ask, live.

Each method is the seam of its name in `kafkaproof.spec.partition.zookeeper` or
`kafkaproof.spec.partition.history.leader_zk`, and answers with the same codes. Of versions only those are kept that a
write is compared with.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from kazoo.protocol.serialization import Delete, SetData

from kafkaproof.impl.seams.zookeeper.partition_numbers import Places
from kafkaproof.impl.seams.zookeeper.request_znodes import IsrChange, LogDirEvent, PreferredElection, Reassignment
from kafkaproof.impl.seams.zookeeper.requests import SEQUENTIAL, NotAnswered, Requests, create
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.impl.seams.zookeeper.topics import TopicZooKeeper
from kafkaproof.impl.seams.zookeeper.znodes import (
    BROKER_IDS,
    DELETE_TOPICS,
    ISR_CHANGES,
    LOG_DIR_EVENTS,
    BrokerId,
    State,
    Topic,
    TopicConfig,
)
from kafkaproof.spec.kafka.zookeeper import BADVERSION, EXPIRED, LOST, NEWER, NODEEXISTS, NONODE, OK
from kafkaproof.spec.language.plain import ids_in, members
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import difference, intersection
from kafkaproof.spec.partition.context import clear
from kafkaproof.spec.partition.znodes import PREFERRED_REQUEST, REASSIGN_REQUEST

NO_VERSION = -2
"""A version that no znode has: a write on it is answered BADVERSION."""


class Led(NamedTuple):
    """What a leader knows of its partition's state: as LeaderAndIsr has told it, or as it wrote it."""

    isr: tuple[int, ...]
    controller_epoch: int
    version: int


class PartitionZooKeeper(TopicZooKeeper):
    """The seams of one broker's controller and of its leaders.

    `brokers`: for each registered broker that was read, its address and the czxid of its registration; `addresses`: those
    of all that were read in this term, since one that is gone is told of as live until the event that says so; `states`: the
    states that the controller read or wrote last, and their versions; `led`: what the leaders know of theirs (up to
    2.6); `proposers_version`: the version that the leader knows whose proposal is at hand; `created`: the partition whose
    first state the step in progress has written.
    """

    def __init__(self, requests: Requests, places: Places, size: int, lists_topics: bool = True, most: int = 0):
        super().__init__(requests, places, size, lists_topics, most)
        self.faults = 0
        self.led: dict[int, Led] = {}
        self.partitions: dict[int, None] = defaultdict(lambda: None)
        self.proposers_version, self.created = 0, None
        self.begin_term(0, 0)

    def begin_term(self, epoch: int, version: int) -> None:
        """The broker was elected: nothing is known yet but the epoch and its version."""
        self.epoch, self.epoch_version = epoch, version
        self.brokers: dict[int, tuple[BrokerId, int]] = {}
        self.addresses: dict[int, BrokerId] = {}
        self.states: dict[int, tuple[State, int]] = {}
        self.know_nothing()

    def session_open(self, b):
        """Whether the client has not heard that its session is over."""
        return not self.requests.session.expired

    def give_up_controller(self, b):
        """The steps of *election* that follow delete /controller."""

    def disconnect(self, b):
        """The term is over: what is known is forgotten when the next one begins."""

    # Reads

    def list_brokers(self, b, reader):
        """getChildren of /brokers/ids, watch armed, and getData of each, into `reader`: OK or EXPIRED."""
        before = self.brokers
        answer = self.list_broker_ids(b, reader)
        if answer == OK:
            both = intersection(reader.live, members(self.brokers))
            again = [r for r in ids_in(both) if r not in before or before[r][1] != self.brokers[r][1]]
            reader.bounced = members(again)
        return answer

    def list_broker_ids(self, b, reader):
        """The same without broker epochs (up to 2.1)."""
        try:
            self._read_brokers()
        except Expired:
            return EXPIRED
        registered = members(self.brokers)
        reader.joined = difference(registered, reader.live)
        reader.gone = difference(reader.live, registered)
        return OK

    def _read_brokers(self):
        """Read who was registered when the children were listed: all of them, again if one has changed since. A broker whose
        number is beyond those of the cluster is none.
        """
        session = self.requests.session
        while True:
            listed = self.requests.at_once(lambda: session.children(BROKER_IDS, watch=True))[0]
            session.fired.pop(BROKER_IDS, None)
            paths = [f"{BROKER_IDS}/{name}" for name in listed.result[0]]
            found = self.requests.at_once(*(lambda path=path: session.get(path) for path in paths)) if paths else []
            if all(not reply.error and reply.result[1].mzxid <= listed.zxid for reply in found):
                break
        self.requests.at = listed.zxid, False
        self.brokers = {
            int(name): (BrokerId.decode(reply.result[0]), reply.result[1].czxid)
            for name, reply in zip(listed.result[0], found)
            if int(name) < self.size
        }
        self.addresses |= {r: address for r, (address, _) in self.brokers.items()}

    def get_state(self, b, p, reader, epoch=None):
        """getData of a state and of the topic's configuration into `reader`: OK, NONODE or EXPIRED.

        With an epoch NEWER, and nothing read, where a controller of a higher one wrote the state.
        """
        session, state = self.requests.session, State.path_of(*self.place_of(p))
        try:
            found, topics, config, preferred = self.requests.at_once(
                lambda: session.get(state),
                lambda: session.children(DELETE_TOPICS),
                lambda: session.get(TopicConfig.path_of(self.topic)),
                lambda: session.exists(PreferredElection.path),
            )
        except Expired:
            return EXPIRED
        self._note_topic(topics, config)
        self._note_preferred(preferred)
        if found.error:
            return NONODE
        written = State.decode(found.result[0])
        if epoch is not None and written.controller_epoch > epoch:
            return NEWER
        self.states[p] = written, found.result[1].version
        reader.leader, reader.isr, reader.leader_epoch = written.leader, members(written.isr), written.leader_epoch
        reader.unclean = self.unclean
        return OK

    def load_partition(self, b, p, partition, reader):
        """getData of the topic, assignment into `partition`, then as `get_state`."""
        try:
            if self.lists_topics:
                self.list_topics()
            if self.places.is_further(p) and p not in self.assignments:
                return NONODE
            topic, number = self.place_of(p)
            found = self._decoded(Topic.path_of(topic), Topic)
        except Expired:
            return EXPIRED
        if found is None:
            return NONODE
        assignment = found.assignments[number]
        self.moved = self.moving[p] = found.moves_of(number)
        answer = self.get_state(b, p, reader)
        if answer != EXPIRED:
            clear(partition.assignment)
            for replica in assignment:
                push(partition.assignment, replica)
            self.replicas[p] = assignment
        return answer

    def read_state(self, b, p, epoch, reader):
        """The same by a controller about to write: also NEWER."""
        return self.get_state(b, p, reader, epoch)

    def read_log_dir_events(self, b):
        """getChildren of /log_dir_event_notification and getData of each: OK or EXPIRED."""
        try:
            self.stale = True
            self.refresh()
        except Expired:
            return EXPIRED
        self.log_dir_read = sorted(self.log_dir_names)
        return OK

    def take_notification(self, b, p, epoch, reader):
        """getData of a state that a leader has changed, and delete of the notification: as `get_state`."""
        answer = self.get_state(b, p, reader)
        read = self.states.get(p)
        for name in [name for name, change in self.isr_names.items() if answer == OK and change.partition == p]:
            self.requests.write(Delete(f"{ISR_CHANGES}/{name}", -1))
            del self.isr_names[name]
        deleted = self.requests.at
        try:
            changed = answer == OK and self.get_state(b, p, reader) == OK and self.states[p] != read
        except NotAnswered:
            changed = False
        if not changed:
            self.requests.at = deleted
        return answer

    def version_of(self, p: int) -> int:
        """The version of a partition's state that was read or written last."""
        return self.states[p][1] if p in self.states else NO_VERSION

    def is_not_older(self, b, p):
        """Whether the version that is known is at least the one of the leader who proposes."""
        return p in self.states and self.states[p][1] >= self.proposers_version

    # Writes

    def create_state(self, b, p, epoch, leader, isr, delivery):
        """create a state, and before it the znodes above: OK, NODEEXISTS, EXPIRED or LOST."""
        return self._create(p, self._state(p, leader, isr, 0, epoch), self.requests.write)

    def checked_create_state(self, b, p, epoch, leader, isr, delivery):
        """The same, each checked against the epoch's version: or FENCED."""
        return self._create(p, self._state(p, leader, isr, 0, epoch), self._checked)

    def set_state(self, b, p, epoch, leader, isr, leader_epoch, delivery):
        """setData of a state on the version that is known: OK, BADVERSION, EXPIRED or LOST."""
        return self._set(p, self._state(p, leader, isr, leader_epoch, epoch), self.requests.write)

    def checked_set_state(self, b, p, epoch, leader, isr, leader_epoch, delivery):
        """The same, checked against the epoch's version: or FENCED."""
        return self._set(p, self._state(p, leader, isr, leader_epoch, epoch), self._checked)

    def delete_request(self, b, request, epoch, delivery):
        """delete a request of an operator, or the notifications that were read: OK, NONODE, EXPIRED or LOST."""
        return self._delete(request, self.requests.write)

    def checked_delete_request(self, b, request, epoch, delivery):
        """The same, checked against the epoch's version: or FENCED."""
        return self._delete(request, self._checked)

    def create_log_dir_event(self, b):
        """create a child of /log_dir_event_notification: OK or EXPIRED."""
        answer = self.requests.write(create(LogDirEvent.prefix, LogDirEvent(b).encode(), SEQUENTIAL))
        if answer == LOST:
            raise NotAnswered
        return answer

    def set_isr(self, b, p, leader_epoch, isr):
        """setData of the ISR by a leader on the version that it knows, and a notice: OK, BADVERSION or EXPIRED."""
        led = self.led[p]
        state = self._state(p, b, isr, leader_epoch, led.controller_epoch)
        answer = self.requests.write(SetData(State.path_of(*self.place_of(p)), state.encode(), led.version))
        if answer == LOST:
            raise NotAnswered
        if answer == OK:
            self.led[p] = Led(state.isr, led.controller_epoch, led.version + 1)
            written = self.requests.at
            self.requests.write(create(IsrChange.prefix, IsrChange(self.topic, p).encode(), SEQUENTIAL))
            self.requests.at = written
        return answer

    def _state(self, p, leader, isr, leader_epoch, epoch):
        return State(leader, tuple(ids_in(isr)), leader_epoch, epoch)

    def _create(self, p, state, write):
        for parent in State.parents_of(*self.place_of(p)):
            answer = write(create(parent))
            if answer not in (OK, NODEEXISTS):
                return answer
        answer = write(create(State.path_of(*self.place_of(p)), state.encode()))
        if answer == OK:
            self.states[p], self.created = (state, 0), p
        return answer

    def _set(self, p, state, write):
        version = self.version_of(p)
        answer = write(SetData(State.path_of(*self.place_of(p)), state.encode(), version))
        if answer == OK:
            self.states[p] = state, version + 1
        return BADVERSION if answer == NONODE else answer

    def _delete(self, request, write):
        paths = {PREFERRED_REQUEST: [PreferredElection.path], REASSIGN_REQUEST: [Reassignment.path]}.get(
            request, [f"{LOG_DIR_EVENTS}/{name}" for name in self.log_dir_read]
        )
        answer = NONODE
        for path in paths:
            answer = write(Delete(path, -1))
            if answer not in (OK, NONODE):
                return answer
        if paths and request not in (PREFERRED_REQUEST, REASSIGN_REQUEST):
            self.log_dir_read = []
        if request == REASSIGN_REQUEST:
            self.moved_to = None
        self.stale = True
        return answer
