"""The controllers of a log: who held /controller, in which epoch, and how each lost it."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, Delete, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.contents import broker_in, number_in


@dataclass
class Controller:
    """One holder of /controller. `epoch` is None while it has written none; `zxid` is that of /controller."""

    broker: int | None
    session: int
    zxid: int
    epoch: int | None = None
    epoch_zxid: int | None = None
    ended: str | None = None
    ended_zxid: int | None = None

    def as_json(self) -> dict:
        """The controller as an object of `replay --json`."""
        ended = None if self.ended_zxid is None else {"how": self.ended, "zxid": hex(self.ended_zxid)}
        return {
            "epoch": self.epoch,
            "broker": self.broker,
            "zxid": hex(self.zxid),
            "session": hex(self.session),
            "epoch_zxid": None if self.epoch_zxid is None else hex(self.epoch_zxid),
            "ended": ended,
        }


class Winner(NamedTuple):
    """A holder of /controller that has written an epoch, at `zxid`; `ended`: the zxid at which it lost /controller."""

    broker: int | None
    session: int
    epoch: int
    zxid: int
    ended: int | None


def winners(controllers: Iterable[Controller]) -> list[Winner]:
    """Those of some controllers that have written an epoch, in the same order."""
    return [
        Winner(each.broker, each.session, each.epoch, each.epoch_zxid, each.ended_zxid)
        for each in controllers
        if each.epoch is not None and each.epoch_zxid is not None
    ]


class Controllers:
    """Collects the controllers from transactions that changed /controller and /controller_epoch."""

    def __init__(self, members: Members, root: str, nodes: dict):
        self.all: list[Controller] = []
        self._taken: list[int] = []
        self._members = members
        self._epochs: list[tuple[int, int | None]] = []
        self._controller, self._epoch = f"{root}/controller", f"{root}/controller_epoch"
        self._followed = self._controller, self._epoch, None
        node, epoch = nodes.get(self._controller), nodes.get(self._epoch)
        if node:
            won = epoch if epoch is not None and epoch.mzxid >= node.czxid else None
            known = (number_in(won.data), won.mzxid) if won else (None, None)
            self._take(Controller(broker_in(node.data), node.ephemeral_owner, node.czxid, *known))
        if epoch:
            self._epochs.append((epoch.mzxid, number_in(epoch.data)))

    def add(self, transaction: Transaction) -> None:
        """Note what a transaction that succeeded did."""
        for operation in transaction.operations:
            if getattr(operation, "path", None) not in self._followed:
                continue
            match operation:
                case Create(path, data) if path == self._controller:
                    self._take(Controller(broker_in(data), transaction.session, transaction.zxid))
                case Create(path, data) | SetData(path, data) if path == self._epoch:
                    self._note_epoch(transaction, number_in(data))
                case Delete(path) if path == self._controller:
                    writer = self._members.broker_of.get(transaction.session)
                    self._end(f"deleted by {'an operator' if writer is None else f'broker {writer}'}", transaction)
                case CloseSession() if (holder := self._holder()) and holder.session == transaction.session:
                    self._end("session closed by the broker" if transaction.cxid else "session expired", transaction)

    def broker_of(self, session: int) -> int | None:
        """The broker whose session it is, None for a tool's."""
        return self._members.broker_of.get(session)

    def at(self, epoch: int) -> Controller | None:
        """The controller of an epoch."""
        return next((controller for controller in self.all if controller.epoch == epoch), None)

    def epoch_at(self, zxid: int) -> int | None:
        """What /controller_epoch said before the record of that zxid, None where there was none."""
        place = bisect_left(self._epochs, (zxid,))
        return self._epochs[place - 1][1] if place else None

    def holder_at(self, zxid: int) -> Controller | None:
        """Who had /controller before the record of that zxid, None for nobody."""
        place = bisect_left(self._taken, zxid)
        last = self.all[place - 1] if place else None
        return None if last is None or last.ended_zxid is not None and last.ended_zxid < zxid else last

    def moments(self) -> np.ndarray:
        """The zxids behind each of which /controller and /controller_epoch are not what they were before."""
        ends = [controller.ended_zxid for controller in self.all if controller.ended_zxid is not None]
        return np.unique(np.array([*self._taken, *ends, *(zxid for zxid, _ in self._epochs)], np.int64))

    def _holder(self) -> Controller | None:
        return self.all[-1] if self.all and not self.all[-1].ended else None

    def _take(self, controller: Controller) -> None:
        self.all.append(controller)
        self._taken.append(controller.zxid)

    def _end(self, how: str, transaction: Transaction) -> None:
        if holder := self._holder():
            holder.ended, holder.ended_zxid = how, transaction.zxid

    def _note_epoch(self, transaction: Transaction, epoch: int | None) -> None:
        self._epochs.append((transaction.zxid, epoch))
        for controller in reversed(self.all):
            if controller.session == transaction.session and controller.epoch is None:
                controller.epoch, controller.epoch_zxid = epoch, transaction.zxid
                return
