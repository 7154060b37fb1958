"""Directions for the way back that lose something."""

from kafkaproof.spec.migration.state import LEAVING, WITHOUT_CONTROLLER


def leave_znode(s):
    """The operator leaves /migration where it is, as the directions up to 3.8 said, and for brokers in KRaft mode all did.

    Guards:  /controller was deleted.
    Effects: none but that brokers are restarted next.
    """
    if s.stage != WITHOUT_CONTROLLER:
        return False

    s.stage = LEAVING
    return True


def take_away_at_once(s):
    """The operator takes the quorum away, whatever it has not written to ZooKeeper: no directions say to look."""
    return True
