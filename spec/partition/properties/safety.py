"""Properties of partitions: of states and replicas (P1 to P9), of elections (P10 to P12, C15), of controllers."""

from dataclasses import replace

from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.partition.properties.controllers import CONTROLLERS, WITH_BROKER_EPOCHS
from kafkaproof.spec.partition.properties.elections import ADMIN_ELECTIONS, ELECTIONS
from kafkaproof.spec.partition.properties.events import EVENTS
from kafkaproof.spec.partition.properties.failovers import FAILOVERS
from kafkaproof.spec.partition.properties.memory import MEMORY
from kafkaproof.spec.partition.properties.rounds import BATCHES, ROUNDS
from kafkaproof.spec.partition.properties.sessions import SESSIONS
from kafkaproof.spec.partition.properties.states import STATES
from kafkaproof.spec.partition.properties.writes import WRITES
from kafkaproof.spec.partition.zookeeper import as_they_are, known_as_they_are

COMMON = STATES + CONTROLLERS + ELECTIONS + ROUNDS
SAFETY = COMMON + WITH_BROKER_EPOCHS + ADMIN_ELECTIONS
STEP_BY_STEP = MEMORY + SESSIONS + EVENTS + FAILOVERS + WRITES + BATCHES
"""Properties of each step of a controller, from 2.7 on."""
WITHOUT_BROKER_EPOCHS = tuple(
    replace(p, predicate=rebind(p.predicate, {known_as_they_are: as_they_are})) for p in COMMON
)
