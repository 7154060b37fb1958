"""Properties of partitions: of states and replicas (P1 to P9), of elections (P10 to P12, C15), of controllers."""

from dataclasses import replace

from spec.language.rebind import rebind
from spec.partition.zookeeper import as_they_are, known_as_they_are
from spec.properties.partition_controllers import CONTROLLERS, WITH_BROKER_EPOCHS
from spec.properties.partition_elections import ADMIN_ELECTIONS, ELECTIONS
from spec.properties.partition_events import EVENTS
from spec.properties.partition_memory import MEMORY
from spec.properties.partition_sessions import SESSIONS
from spec.properties.partition_states import STATES
from spec.properties.partition_writes import WRITES

COMMON = STATES + CONTROLLERS + ELECTIONS
SAFETY = COMMON + WITH_BROKER_EPOCHS + ADMIN_ELECTIONS
STEP_BY_STEP = MEMORY + SESSIONS + EVENTS + WRITES
"""What each step of a controller does, from 2.7 on."""
WITHOUT_BROKER_EPOCHS = tuple(
    replace(p, predicate=rebind(p.predicate, {known_as_they_are: as_they_are})) for p in COMMON
)
