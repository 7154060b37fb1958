"""The controllers' terms of office, and what each may still believe."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from traces.controllers import Controller

Partition = tuple[str, int]


@dataclass
class Reign:
    """A controller's term of office: from which zxid to which, and the oldest view that it can still have.

    A view is a version of /brokers/ids; it only moves forward, so `view` rises as changes are explained, and
    `views` has each zxid at which it rose. `elected` is the oldest view by which the leader of each partition may have
    been elected in this reign, `last` the zxid of the controller's last write of each partition's state, `elections`
    its last election: zxid, strategy and trigger.
    `again`: the broker has ruled before. `unknown`: it began before the log.
    """

    epoch: int
    session: int
    start: int
    end: float
    view: int
    again: bool = False
    unknown: bool = False
    elected: dict[Partition, int] = field(default_factory=dict)
    last: dict[Partition, int] = field(default_factory=dict)
    elections: dict[Partition, tuple[int, str, str]] = field(default_factory=dict)
    views: list[tuple[int, int]] = field(default_factory=list)

    def see(self, zxid: int, view: int) -> None:
        """Note that a write of that zxid shows a view, unless it shows an older one."""
        if view > self.view:
            self.view = view
            self.views.append((zxid, view))

    def view_at(self, zxid: int) -> int:
        """The oldest view that the controller can have before the record of that zxid."""
        return max((view for at, view in self.views if at < zxid), default=self.start)


class Reigns:
    """All reigns of a log; those before it are known by their sessions alone."""

    def __init__(self, controllers: Iterable[Controller], begins: int, sessions: Iterable[int]):
        """`begins`: the last zxid before the log, `sessions`: those of brokers that were open then."""
        elected = [controller for controller in controllers if controller.epoch is not None]
        self._first_epoch = min((controller.epoch for controller in elected), default=0)
        ends = [controller.epoch_zxid for controller in elected[1:]] + [inf]
        self._all: dict[tuple[int, int], Reign] = {}
        for controller, end in zip(elected, ends):
            start, before = controller.epoch_zxid, {c.broker for c in elected if c.epoch_zxid < controller.epoch_zxid}
            again = controller.broker in before or begins > 0
            key = controller.epoch, controller.session
            self._all[key] = Reign(*key, start, end, start, again, start <= begins)
        self._earlier = {session: _earlier(0, session) for session in sessions if begins}

    def claimed(self, epoch: int, session: int) -> Reign | None:
        """The reign that a partition state claims to be written in, None if its writer has not won it."""
        if 0 < epoch < self._first_epoch:
            self._all.setdefault((epoch, session), _earlier(epoch, session))
        return self._all.get((epoch, session))

    def of_session(self, session: int, zxid: int) -> Reign | None:
        """The newest reign of a session that had begun before a record, None if it has won none."""
        found = [reign for (_, s), reign in self._all.items() if s == session and reign.start < zxid]
        return max(found, key=lambda reign: reign.start, default=self._earlier.get(session))


def _earlier(epoch: int, session: int) -> Reign:
    """A reign that began, and may have ended, before the log."""
    return Reign(epoch, session, 0, inf, 0, True, True)
