"""A rolling upgrade from 1.1-2.0 to 2.1: brokers of both versions at once.

Each broker takes the transitions of its own version: the old ones elect in two requests and write unchecked (see
`legacy`), the upgraded ones elect in one transaction and check every write against the epoch. What both versions do
alike (sessions, watches, control requests) every broker does. The cluster has run before, so that /controller_epoch
exists, as 1.1 to 2.0 created it: value 1, version 0.

A broker has one version throughout. To upgrade it is to stop and to start it, which leaves nothing of what its process
knew: the phases of an upgrade are explored each by itself. What is not modelled between two phases is what a former
process leaves behind: ephemerals, and control requests on their way.
"""

from dataclasses import replace

from kafkaproof.spec.election.broker_state import initial as initial_belief
from kafkaproof.spec.election.history.legacy import FIRST_EPOCH
from kafkaproof.spec.election.history.versions import OLD_BROKERS
from kafkaproof.spec.election.model import FENCED_CONTROLLER, LEGACY_CONTROLLER, SESSION, model, scope
from kafkaproof.spec.election.properties import safety as properties
from kafkaproof.spec.election.properties.rolling import UPGRADED
from kafkaproof.spec.language.domains import Bound, Number


def initial(s):
    """Nobody runs; a controller of 1.1 to 2.0 has been elected once."""
    initial_belief(s)
    s.zk.epoch = FIRST_EPOCH


def taken_by(brokers, transitions):
    """Transitions that some brokers take, those that all take left out."""
    own = [transition for transition in transitions if transition not in SHARED]
    return tuple(replace(transition, only={"b": brokers}) for transition in own)


def upgrade(old):
    """The transitions of election while the first `old` brokers are of 1.1 to 2.0, and the others of 2.1."""
    before, after = Number(0, old - 1), Number(old, Bound("brokers", -1))
    return SESSION + SHARED + taken_by(before, LEGACY_CONTROLLER) + taken_by(after, FENCED_CONTROLLER)


SHARED = tuple(transition for transition in LEGACY_CONTROLLER if transition in FENCED_CONTROLLER)
OLD_ONE_LEFT = {"owner_is_newest": 15, "idle_zombie": 16, "no_stale_write": 16, "deletes_own": 16}
ROLLING = replace(
    model(
        "rolling",
        None,
        "No release, but an upgrade: one broker of 1.1 to 2.0 is left among those of 2.1. It can still do all that the "
        "check of the epoch prevents, and the upgraded suffer it.",
        upgrade(OLD_BROKERS),
        properties.FENCED + UPGRADED,
        scope(brokers=3, epochs=3),
        {
            scope(epochs=3): OLD_ONE_LEFT,
            scope(brokers=3, epochs=3): OLD_ONE_LEFT,
            scope(epochs=4, faults=2): OLD_ONE_LEFT,
        },
    ),
    initial=initial,
    others={"quick": scope(epochs=3), "deep": scope(epochs=4, faults=2)},
    interchangeable={"brokers": (OLD_BROKERS, "receivers")},
)
MODELS = (ROLLING,)
