"""How a record of a log is accounted for: by a step of the specification, or by the kind of records that it is of."""

from typing import NamedTuple

TOOLS = "tools: "
"""Before the kind of a record whose session is no broker's."""

KINDS = {
    "access control and tokens": "no system has them",
    "blocks of producer ids": "no system has them",
    "configuration": "no system has it but for unclean elections, which replay reads from it",
    "feature levels, written unguarded": "written by a new controller, and read by no transition",
    "generated broker ids": "a broker that has no id counts up a version",
    "listeners of a broker, changed while it runs": "no transition reads them",
    "lists of reassignments, written once more": "a controller of 2.0 to 2.3 writes what it remembers of the list whenever it "
    "has looked at it",
    "old consumers": "parents of their znodes, what other clients write, and offsets by version 0 of OffsetCommit",
    "old notifications of configuration, purged by any broker": "no system has them",
    "other znodes": "no Kafka writes them; nor does one send a multi without operations",
    "persistent znodes at start": "each broker that starts creates those that are missing",
    "refused: BADVERSION": "the path is not logged; of a broker: a partition state, /controller_epoch, a block of "
    "producer ids",
    "refused: NODEEXISTS": "the path is not logged; of a broker: a persistent znode at start, /controller, its "
    "registration, the znodes of a partition, a topic, a request to delete",
    "refused: NONODE": "the path is not logged; of a broker: a znode without its parent, a configuration, "
    "/controller_epoch, a state",
    "refused: another code": "the path is not logged",
    "registrations deleted by hand": "an operator's work, which frees the id",
    "registrations that no broker made": "not ephemeral; a controller takes it for a broker all the same",
    "requests in a session that is over": "they change nothing",
    "requests withdrawn by hand": "an operator deletes what asks for a deletion, a reassignment or an election",
    "sessions that never were a broker's": "of tools, and of brokers that never registered",
    "sessions that own nothing any more": "of a broker that has opened another, or was never registered in it",
    "requests to delete, where deletion is disabled": "delete.topic.enable is true in every model",
    "topic ids, written by a new controller": "no transition reads them (2.8 and later)",
    "topic znodes, written once more": "the answer was lost, and the same request asks for no version: it changes nothing",
    "topics and partitions with an explicit assignment": "an administrator chose it, or it follows the racks; well formed, on "
    "brokers that were there",
    "znodes of partitions, before their first states": "in a model these are part of the step that creates the state",
    "written while the snapshot was taken": "the snapshot may hold them already",
}
"""The kinds of records that no transition makes, and why; those that begin with TOOLS are of the same kinds."""


class Account(NamedTuple):
    """What a record is: the step `name` of a `system` of the specification, or (None) of the kind `name`."""

    system: str | None
    name: str


def is_listed(kind: str) -> bool:
    """Whether a kind is one of those that a record may be of without being a step."""
    return kind.removeprefix(TOOLS) in KINDS
