"""ZooKeeper as the partner of a step sees it: the request was made by the other part, and this is its answer."""

from __future__ import annotations


class Told:
    """Answers every request with the same code.

    `epoch` is what was won, if anything; `open` says whether the session was open before the step.
    """

    def __init__(self, answer: int | None, epoch: int, open: bool):
        self.answer, self.epoch, self.open = answer, epoch, open
        self.faults = 0

    def session_open(self, b):
        """Whether the session was open."""
        return self.open

    def vacant(self):
        """There was no /controller: the broker was elected."""
        return True

    def moved(self, b):
        """Where a term ends, /controller is not the broker's."""
        return True

    def create_controller(self, b, reader):
        """The epoch that was won, into `reader`."""
        reader.epoch = self.epoch
        return self.answer

    def read_controller(self, b):
        """/controller was read."""
        return self.answer

    def register(self, b):
        """/brokers/ids/b was created."""
        return self.answer

    def end_session(self, b):
        """The session was closed."""
        return self.answer

    def read_state(self, b, epoch):
        """A partition state was read."""
        return self.answer

    def unchecked_delete_notification(self, b, epoch, version, delivery):
        """Something was written."""
        return self.answer

    def checked_delete_notification(self, b, epoch, version, delivery):
        """Something was written, with the check of the epoch."""
        return self.answer
