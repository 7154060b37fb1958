"""ZooKeeper as the election system asks for it: sessions, registrations, /controller and its epoch, live.

Each method is the seam of its name in `kafkaproof.spec.kafka.zookeeper` or
`kafkaproof.spec.election.history.requests`, and answers with the same codes.
Whether a request whose answer was lost has been applied (`delivery`) is not known here.
"""

from __future__ import annotations

from kazoo.protocol.serialization import CheckVersion, Delete, SetData
from kazoo.protocol.states import EventType

from kafkaproof.impl.seams.zookeeper.requests import CONTROLLER_EPOCH, EPHEMERAL, NotAnswered, Requests, create
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.impl.seams.zookeeper.znodes import ISR_CHANGES, LOG_DIR_EVENTS, BrokerId, Controller, ControllerEpoch
from kafkaproof.spec.kafka.zookeeper import (
    CHANGED,
    DELETED,
    EXPIRED,
    FENCED,
    LOST,
    MINE,
    NODEEXISTS,
    NONODE,
    NOTHING,
    OK,
)

WAIT = 10.0


class ElectionZooKeeper:
    """The seams of one broker; `address` is where it listens, `registration` the czxid of its /brokers/ids/b."""

    def __init__(self, requests: Requests, address: BrokerId, guarded: bool):
        self.requests, self.address, self.guarded = requests, address, guarded
        self.registration = 0
        self.faults = 0
        self._genuine: int | None = None

    def session_open(self, b):
        """Whether the client has not heard that its session is over."""
        return not self.requests.session.expired

    def open_session(self, b):
        """createSession on a new client: OK."""
        if not self.requests.open(WAIT):
            raise NotAnswered
        self._genuine = None
        return OK

    def end_session(self, b):
        """closeSession: OK."""
        self.requests.session.close()
        return OK

    def waiting(self, b):
        """What the watch on /controller has said and nobody has handled."""
        fired = self.requests.session.fired.get(Controller.path, ())
        if not fired:
            return NOTHING
        return DELETED if EventType.DELETED in fired else CHANGED

    def take_event(self, b):
        """The event is handled."""
        del self.requests.session.fired[Controller.path]
        return OK

    def create_broker(self, b):
        """create /brokers/ids/b (guarded: multi[create, setData]); one that is there and ours was a lost answer."""
        path, data = BrokerId.path_of(b), self.address.encode()
        if self.guarded:
            answer, _ = self.requests.write_all(create(path, b"", EPHEMERAL), SetData(path, data, 0))
        else:
            answer = self.requests.write(create(path, data, EPHEMERAL))
        if answer == LOST:
            raise NotAnswered
        if answer == OK:
            self.registration = self.requests.zxids[-1]
        return self._own(path) if answer == NODEEXISTS else answer

    def _own(self, path):
        """OK where the znode belongs to this session, NODEEXISTS where it does not, EXPIRED."""
        try:
            stat = self.requests.at_once(lambda: self.requests.session.exists(path))[0].result
        except Expired:
            return EXPIRED
        if stat is None or stat.ephemeralOwner != self.requests.session.id:
            return NODEEXISTS
        self.registration = stat.czxid
        self.requests.zxids.append(stat.czxid)
        self.requests.at = stat.czxid, True
        return OK

    def read_controller(self, b):
        """exists and getData of /controller, watch armed: MINE, OK (another's), NONODE or EXPIRED."""
        session = self.requests.session
        if self._genuine is None:
            self._genuine = len(session.fired.get(Controller.path, ())) + session.armed(Controller.path)
        try:
            _, found = self.requests.at_once(
                lambda: session.exists(Controller.path, watch=True), lambda: session.get(Controller.path)
            )
        except Expired:
            return EXPIRED
        self._drop_events()
        if found.error:
            return NONODE
        return MINE if Controller.decode(found.result[0]).broker == b else OK

    def _drop_events(self):
        """Forget events of watches that attempts to read have armed, even one whose answers were lost in part: the
        attempt that succeeded saw the change. Those of a watch that a former step armed are kept.
        """
        fired, kept = self.requests.session.fired, self._genuine
        self._genuine = None
        if events := fired.pop(Controller.path, [])[:kept]:
            fired[Controller.path] = events

    def read_owner(self, b):
        """getData of /controller for its owner: MINE (this session), OK, NONODE or EXPIRED."""
        try:
            found = self.requests.at_once(lambda: self.requests.session.get(Controller.path))[0]
        except Expired:
            return EXPIRED
        if found.error:
            return NONODE
        return MINE if found.result[1].ephemeralOwner == self.requests.session.id else OK

    def get_epoch(self, b, reader):
        """getData of /controller_epoch into `reader`: OK, NONODE or EXPIRED."""
        try:
            found = self.requests.at_once(lambda: self.requests.session.get(ControllerEpoch.path))[0]
        except Expired:
            return EXPIRED
        if found.error:
            return NONODE
        data, stat = found.result
        reader.read_epoch, reader.read_version = ControllerEpoch.decode(data).epoch, stat.version
        return OK

    def create_epoch(self, b, value, delivery):
        """create /controller_epoch: OK, NODEEXISTS, EXPIRED or LOST."""
        return self.requests.write(create(ControllerEpoch.path, ControllerEpoch(value).encode()))

    def set_epoch(self, b, value, version, delivery):
        """setData /controller_epoch if it has `version`: OK, BADVERSION, NONODE, EXPIRED or LOST."""
        return self.requests.write(SetData(ControllerEpoch.path, ControllerEpoch(value).encode(), version))

    def create_controller(self, b, delivery):
        """create /controller, ephemeral: OK, NODEEXISTS, EXPIRED or LOST."""
        return self.requests.write(create(Controller.path, Controller(b).encode(self.guarded), EPHEMERAL))

    def create_controller_and_set_epoch(self, b, value, version, delivery):
        """multi[create /controller, setData /controller_epoch]: OK, NODEEXISTS, BADVERSION, EXPIRED or LOST."""
        return self.requests.write_all(
            create(Controller.path, Controller(b).encode(self.guarded), EPHEMERAL),
            SetData(ControllerEpoch.path, ControllerEpoch(value).encode(), version),
        )[0]

    def delete_controller(self, b, epoch, delivery):
        """delete /controller, whosever it is: OK, NONODE, EXPIRED or LOST."""
        return self.requests.write(Delete(Controller.path, -1))

    def unchecked_delete_notification(self, b, epoch, version, delivery):
        """Delete all notifications, of failed log directories and of ISRs: OK, EXPIRED or LOST."""
        return self._delete_all(lambda path: self.requests.write(Delete(path, -1)))

    def checked_delete_notification(self, b, epoch, version, delivery):
        """The same, each checked against the epoch's version: or FENCED; where there is none, by a read."""

        return self._delete_all(lambda path: self._checked_delete(path, version), version)

    def checked_delete_controller(self, b, epoch, version, delivery):
        """delete /controller, checked against the epoch's version: OK, FENCED, NONODE, EXPIRED or LOST."""
        return self._checked_delete(Controller.path, version)

    def _checked_delete(self, path, version):
        answer, place = self.requests.write_all(CheckVersion(CONTROLLER_EPOCH, version), Delete(path, -1))
        return FENCED if (answer, place) not in ((OK, 0), (EXPIRED, 0), (LOST, 0)) and place == 0 else answer

    def _delete_all(self, delete, version=None):
        """Delete the notifications that there are; with none of them, compare the epoch's version instead."""
        session, folders = self.requests.session, (LOG_DIR_EVENTS, ISR_CHANGES)
        try:
            replies = self.requests.at_once(
                *(lambda folder=folder: session.children(folder) for folder in folders),
                lambda: session.exists(CONTROLLER_EPOCH),
            )
        except Expired:
            return EXPIRED
        paths = [
            f"{folder}/{name}" for folder, reply in zip(folders, replies) if not reply.error for name in reply.result[0]
        ]
        for path in paths:
            answer = delete(path)
            if answer not in (OK, NONODE):
                return answer
        stands = paths or version is None or replies[-1].result.version == version
        return OK if stands else FENCED
