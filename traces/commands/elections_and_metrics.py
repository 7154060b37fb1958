"""What a log is followed for beside its streams, which need nothing of it: elections, and metrics."""

from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.election.replay import Follower
from kafkaproof.traces.explain.election.result import Result
from kafkaproof.traces.metrics.series import Metrics, Series
from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.reading.sweep import sweep


class Beside:
    """Follows the elections of a log that is swept, and its metrics, by its `listeners`."""

    def __init__(self, recording: Recording, features: Features, members: Members, root: str):
        self.listeners = Follower(recording, features.variant, members, root), Metrics(members, root)

    @property
    def found(self) -> tuple[Result, Series | None]:
        """What was found, once the sweep is over."""
        follower, metrics = self.listeners
        return follower.result, metrics.series


def followed_beside(recording: Recording, features: Features, root: str) -> tuple[Result, Series | None]:
    """What is found in a sweep for these alone."""
    beside = Beside(recording, features, Members(recording, root), root)
    sweep(recording, root, *beside.listeners)
    return beside.found
