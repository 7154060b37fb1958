"""All that one pass over a log collects for the streams of partitions, topics and reassignments."""

from dataclasses import dataclass
from functools import cached_property

from spec.language.domains import NOBODY
from traces.cluster import Members
from traces.controllers import Controllers
from traces.facts.registrations import Registrations
from traces.features import Features, find_features
from traces.partitions.changes import Changes
from traces.partitions.inputs import Inputs
from traces.recording import Recording
from traces.reigns import Reigns
from traces.topics.writes import Writes
from traces.topics.world import World
from traces.transactions import CreateSession
from traces.zookeeper_tree import Tree


@dataclass(frozen=True)
class Evidence:
    """What a log shows: who ruled, what could be read, and what was written to partitions and topics.

    `world`: the topics as they were before the first record that counts, `sessions`: those that were open then;
    `timeouts`: how long each session lasts unheard, in ms.
    """

    features: Features
    controllers: Controllers
    registrations: Registrations
    reigns: Reigns
    inputs: Inputs
    changes: Changes
    writes: Writes
    world: World
    sessions: frozenset[int]
    timeouts: dict[int, int]

    @cached_property
    def brokers(self) -> set[int]:
        """The ids of all brokers in the log, as sessions, replicas, leaders or members of an ISR."""
        states = [state for change in self.changes.all for state in (change.before, change.after) if state]
        named = {broker for state in states for broker in (state.leader, *state.isr)}
        return (self.inputs.all_brokers() | named) - {NOBODY}


def gather(recording: Recording, variant: str, members: Members, root: str) -> Evidence:
    """Collect the evidence of a recording.

    What was written while the snapshot was taken is not judged: what stood before is unknown.
    """
    tree = Tree(recording.start)
    complete = recording.start.last_processed_zxid if recording.start else 0
    for transaction in recording.transactions:
        if transaction.zxid <= complete:
            tree.apply(transaction)
    controllers, inputs, timeouts = Controllers(members, root, tree.nodes), Inputs(root, tree), dict(tree.sessions)
    sessions, registrations = frozenset(timeouts), Registrations(root, tree.nodes)
    changes, writes, world = Changes(members, root, tree), Writes(members, root), World(root, tree.nodes)
    for transaction in recording.transactions:
        if transaction.zxid <= complete:
            continue
        writes.add(transaction)
        if not transaction.failed:
            tree.apply(transaction)
            controllers.add(transaction)
            registrations.add(transaction)
            inputs.add(transaction, tree)
            changes.add(transaction)
            timeouts |= {transaction.session: o.timeout for o in transaction.operations if isinstance(o, CreateSession)}
    reigns = Reigns(controllers.all, complete, sessions & members.broker_of.keys())
    features = find_features(recording, variant, root)
    return Evidence(
        features, controllers, registrations, reigns, inputs, changes, writes, world, sessions, timeouts)
