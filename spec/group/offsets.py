"""OffsetCommit and OffsetFetch."""

from kafkaproof.spec.group.cache import put_offset
from kafkaproof.spec.group.join import create_if_absent
from kafkaproof.spec.group.network import (
    COMMIT,
    COORDINATOR_NOT_AVAILABLE,
    INVALID_COMMIT_OFFSET_SIZE,
    NOT_COORDINATOR,
    REQUEST_TIMED_OUT,
    STORED,
    WORK,
    answer,
    answer_operator,
    asked,
    generation_of,
    give_commit,
    give_error,
    id_of,
    instance,
    operator,
    waiter,
)
from kafkaproof.spec.group.records import OFFSET_RECORD, forget_append
from kafkaproof.spec.group.sorts import Broker, Client
from kafkaproof.spec.group.storage import (
    NOT_LEADER,
    TIMED_OUT,
    TOO_LARGE,
    Failure,
    Refusal,
    acknowledge,
    count_fault,
    fail,
    is_aged,
    may_fail,
    may_succeed,
    note_commit,
    refuse_append,
    store_offset,
    takes_appends,
)
from kafkaproof.spec.group.sync import Slot
from kafkaproof.spec.group.verdicts import commit_verdict, fetch_verdict
from kafkaproof.spec.language.domains import NOBODY, Flag


def commit(s, b: Broker, m: Client, late: Flag()):
    """Client `m` commits an offset at broker `b`.

    Guards:  it works, and waits for nothing else; or the request is late.
    Request: STORED, or an error as in `commit_verdict`.
    Effects: the offset is appended, and is pending until the callback runs.
    Kafka:   GroupCoordinator.handleCommitOffsets, 0.9 to 3.9; doCommitOffsets, 0.10.1 to 3.9;
             GroupMetadataManager.prepareStoreOffsets, 0.9 to 0.10.2; storeOffsets, 0.11 to 3.9.
    """
    broker = s.brokers[b]
    if asked(s.network, m, late) != (COMMIT if late else WORK):
        return False

    generation = generation_of(s.network, m, late)
    verdict = commit_verdict(broker, id_of(s.network, m, late), instance(s.network, m), generation)
    answer(s.network, m, late, verdict)
    if verdict == STORED:
        store_offset(s.storage, b, broker, generation, waiter(m, late))
    return True


def meaning(error):
    """The error code that a commit gets when its append has failed."""
    if error == TIMED_OUT:
        return REQUEST_TIMED_OUT
    if error == TOO_LARGE:
        return INVALID_COMMIT_OFFSET_SIZE
    return NOT_COORDINATOR if error == NOT_LEADER else COORDINATOR_NOT_AVAILABLE


def commit_refused(s, b: Broker, m: Client, error: Refusal):
    """Client `m` commits an offset at broker `b`, but the log refuses it before anything is written.

    Guards:  it works, waits for nothing else, and may commit; `b` leads the offsets partition.
    Request: the error.
    Effects: only the answer.
    Kafka:   GroupMetadataManager.prepareStoreOffsets, 0.9 to 0.10.2; storeOffsets, 0.11 to 3.9;
             GroupMetadata.failPendingOffsetWrite, 0.10.1 to 3.9.
    """
    if asked(s.network, m, 0) != WORK or not takes_appends(s.storage, b):
        return False
    generation = generation_of(s.network, m, 0)
    if commit_verdict(s.brokers[b], id_of(s.network, m, 0), instance(s.network, m), generation) != STORED:
        return False

    answer(s.network, m, 0, meaning(error))
    refuse_append(s.storage)
    return True


def later(cached, position):
    """The one of two offsets that stays in the cache: the one later in the log.

    Kafka: GroupMetadata.onOffsetCommitAppend, 0.11 to 3.9.
    """
    return max(cached, position)


def offset_stored(s, b: Broker, i: Slot):
    """The offset of a commit is committed to the log.

    Guards:  append `i` is that of an offset, and may be acknowledged.
    Effects: the offset enters the cache, unless the group is Dead; the client is answered with NONE in any case.
    Kafka:   GroupMetadataManager.putOffset, 0.9 to 0.10.0; GroupMetadata.completePendingOffsetWrite, 0.10.1 to
             0.10.2; onOffsetCommitAppend, 0.11 to 3.9 (only if later in the log).
    """
    broker = s.brokers[b]
    append = broker.appends.slots[i]
    if append.kind != OFFSET_RECORD or not may_succeed(s.storage, b, append.position):
        return False

    acknowledge(s.storage, append.position)
    note_commit(s.storage, append.position)
    if not append.orphan and later(broker.group.offset, append.position) == append.position:
        put_offset(broker.group, append.position, is_aged(s.storage, append.position))
    give_commit(s.network, append.waiter)
    forget_append(broker, i)
    return True


def offset_not_stored(s, b: Broker, i: Slot, error: Failure):
    """The append of a commit has failed.

    Guards:  append `i` is that of an offset, and may fail with this error.
    Effects: the commit is no longer pending; the client gets the error.
    Kafka:   GroupMetadataManager.prepareStoreOffsets, 0.9 to 0.10.2; GroupMetadata.failPendingOffsetWrite, 0.10.1 to
             3.9.
    """
    broker = s.brokers[b]
    append = broker.appends.slots[i]
    if append.kind != OFFSET_RECORD or not may_fail(s.storage, append.position, error):
        return False

    fail(s.storage, append.position)
    give_error(s.network, append.waiter, meaning(error))
    forget_append(broker, i)
    return True


def fetch(s, b: Broker, stable: Flag()):
    """A client or a tool asks broker `b` for the committed offset; with `stable`, for one that no open transaction may
    change.

    Guards:  none.
    Request: NONE, with the offset in the cache or -1; or an error as in `fetch_verdict`.
    Effects: only the answer.
    Kafka:   GroupMetadataManager.getOffsets, 0.9 to 3.9 (requireStable: 2.5 to 3.9, KIP-447).
    """
    answer_operator(s.network, fetch_verdict(s.brokers[b], stable))
    return True


def reset_offset(s, b: Broker):
    """A consumer without a group, or an operator's tool, commits an offset at broker `b`.

    Guards:  none.
    Request: STORED, or an error as in `commit_verdict`.
    Effects: the offset is appended if the group is Empty, or unknown: then it begins as Empty. Otherwise there is only
             the answer.
    Kafka:   GroupCoordinator.handleCommitOffsets, 0.9 to 3.9; doCommitOffsets, 0.10.1 to 3.9 (with generation -1).
    """
    broker = s.brokers[b]
    verdict = answer_operator(s.network, commit_verdict(broker, NOBODY, 0, 0))
    if verdict == STORED:
        create_if_absent(broker.group)
        store_offset(s.storage, b, broker, 0, operator(s.network))
        count_fault(s.storage)
    return True
