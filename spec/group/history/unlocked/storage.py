"""Up to 0.10.2 a coordinator prepares a record under the group's lock, and appends it after releasing the lock.

The prepared record waits in its request's thread; threads may append in any order. The callback compares the group with
what it was when the record was prepared.
"""

from kafkaproof.spec.group.cache import describe_group
from kafkaproof.spec.group.records import GROUP_RECORD, OFFSET_RECORD, copy_record, name_record, remember_append
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.group.storage import last_generation, leads, put_record
from kafkaproof.spec.language.domains import NOBODY


def prepare_group(broker, owner, silent):
    """Prepare the record of the group as it is, with this assignment."""
    prepared = broker.prepared.slots[broker.prepared.length]
    name_record(prepared.record, GROUP_RECORD, broker.group.generation)
    describe_group(prepared.record, broker.group, owner)
    prepared.silent = silent
    broker.prepared.length += 1


def store_group(storage, b, broker, owner):
    """prepareStoreGroup, with a callback that depends on the result."""
    prepare_group(broker, owner, 0)


def store_empty(storage, b, broker):
    """prepareStoreGroup for a group without members. Nobody learns if it fails."""
    prepare_group(broker, NOBODY, 1)


def store_offset(storage, b, broker, generation, clients):
    """prepareStoreOffsets: an offset, with a callback."""
    prepared = broker.prepared.slots[broker.prepared.length]
    name_record(prepared.record, OFFSET_RECORD, generation)
    prepared.waiter = clients
    broker.prepared.length += 1


def append_prepared(storage, b, broker, i):
    """store: append a prepared record, and keep its callback, if it has one."""
    prepared = broker.prepared.slots[i]
    kind = prepared.record.kind
    generation = prepared.record.generation
    if kind == OFFSET_RECORD and 0 < generation < last_generation(storage) and leads(storage, b):
        storage.ghosts.stale = 1
    storage.ghosts.gone = 0
    position = put_record(storage, b, kind, generation)
    if position != NOWHERE:
        copy_record(storage.log.slots[position], prepared.record)
    if not prepared.silent:
        broker.appends.slots[broker.appends.length].orphan = prepared.orphan
        remember_append(broker, kind, position, generation, prepared.waiter)
    for k in range(len(broker.prepared.slots) - 1):
        if k >= i:
            copy_prepared(broker.prepared.slots[k], broker.prepared.slots[k + 1])
    broker.prepared.length -= 1


def copy_prepared(to, source):
    """Copy one prepared record to another."""
    copy_record(to.record, source.record)
    to.waiter = source.waiter
    to.orphan = source.orphan
    to.silent = source.silent
