"""The partition system with brokers that tell clients what UpdateMetadata says, and what is known of it."""

from collections.abc import Callable
from dataclasses import replace

from kafkaproof.spec.kafka.declarations import acting
from kafkaproof.spec.language.domains import Array
from kafkaproof.spec.language.model import Model, among
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import context, failover, faults, isr, network, replica, triggers
from kafkaproof.spec.partition.deletion.model import DELETING
from kafkaproof.spec.partition.metadata import cache, halting
from kafkaproof.spec.partition.metadata import network as updates
from kafkaproof.spec.partition.metadata.memory import MEMORY
from kafkaproof.spec.partition.metadata.properties import GOALS, SAFETY
from kafkaproof.spec.partition.metadata.properties import WITH_DELETIONS as OF_DELETIONS
from kafkaproof.spec.partition.model import ADMIN_ELECTIONS, FENCED, LOG_DIRS, REQUESTS_AND_REBALANCE, scope

WITH_UPDATES = {
    network.put_alive: updates.put_alive,
    network.put_update: updates.put_update,
    network.put_halt: updates.put_halt,
    context.start_process: cache.start_process,
    replica.knows_as_alive: cache.knows_as_alive,
}


def with_updates(model: Model, halt_replica: Callable = halting.halt_replica) -> Model:
    """The model with brokers that keep what UpdateMetadata tells them, also when an ISR is not written, and are told to
    fetch no more.
    """
    fields = model.state.fields
    broker = fields["brokers"].domain.of.extended(metadata=(cache.METADATA, "what it tells clients"))
    sent = fields["network"].domain.extended(**updates.UPDATES)
    state = model.state.changed(
        brokers=(Array(broker, "brokers"), "what each broker knows"), network=(sent, "requests on their way")
    )
    proposes = any(t.function.__name__ == isr.alter_partition.__name__ for t in model.transitions)
    refused = acting(isr.refuse_change) if proposes else ()
    transitions = model.transitions + acting(cache.update_metadata, halt_replica) + refused
    keeps = dict(model.replaced).get(network.drop_requests) is network.keep_requests
    dropped = {} if keeps else {network.drop_requests: updates.drop_requests}
    return replace(model, state=state, transitions=transitions).rebound(WITH_UPDATES | dropped)


IN_ORDER = {replica.is_early: cache.is_early}
"""Requests of one controller to one broker arrive in the order in which they were sent, as they do where brokers run."""


OFF = (
    {each.function for each in LOG_DIRS + ADMIN_ELECTIONS}
    | REQUESTS_AND_REBALANCE
    | {
        faults.ask_for_preferred,
        triggers.preferred_election,
        triggers.pending_election,
        failover.move_controller,
        faults.allow_unclean,
        triggers.unclean_enabled,
    }
)
"""What has nothing to do with brokers, or tells of elections that are like the others, is explored in `fenced` alone."""
OFF_WITH_DELETIONS = {each.__name__ for each in OFF} - {"topic_deletion"} | {"drop_reassignment"}

TRANSITIONS = tuple(each for each in FENCED.transitions if each.function not in OFF)
FEW_ELECTIONS = scope(epochs=1, leader_epochs=2)
UPDATING = replace(
    with_updates(replace(FENCED, transitions=TRANSITIONS)).rebound(IN_ORDER),
    variant="updating",
    releases=Releases("3.4", "3.9"),
    story="Brokers tell clients what controllers have told them: an answer may be old, but when a controller has told all "
    "and all has arrived, every broker tells what the controller knows. They follow only leaders that they were told are "
    "alive.",
    properties=among(SAFETY, TRANSITIONS) + MEMORY + GOALS,
    scope=scope(),
    expected=dict.fromkeys([FEW_ELECTIONS, scope(), scope(brokers=3)], {}),
    others={"quick": FEW_ELECTIONS, "deep": scope(brokers=3)},
)
WITH_DELETIONS = tuple(each for each in DELETING.transitions if each.function.__name__ not in OFF_WITH_DELETIONS)
ONE_REPLICA, DELETED = scope(replicas=1, epochs=1, leader_epochs=1), scope(epochs=1, leader_epochs=2)
FORGETTING = replace(
    with_updates(replace(DELETING, transitions=WITH_DELETIONS)).rebound(IN_ORDER),
    variant="forgetting",
    story="The same, and topics are deleted: brokers are told to forget them. One whose session has expired meanwhile is "
    "not told, and tells clients of a topic that is gone for as long as it runs.",
    properties=among(OF_DELETIONS, WITH_DELETIONS) + MEMORY + GOALS,
    scope=ONE_REPLICA,
    expected={
        ONE_REPLICA: {"deleted_is_forgotten": 18},
        scope(brokers=3, replicas=1, epochs=1, leader_epochs=1): {"deleted_is_forgotten": 18},
        DELETED: {"deleted_is_forgotten": 24},
    },
    others={"quick": ONE_REPLICA, "deep": DELETED},
)
MODELS = (UPDATING, FORGETTING)
