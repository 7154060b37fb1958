"""Up to 2.x a request with one too long piece of metadata leaves its partition pending for ever: it never expires.

Kafka: GroupMetadataManager.prepareStoreOffsets stages all offsets of the request, and its callback completes those that
were appended. A commit has one partition here; the other one, which makes the request append at all, is left out.
"""

from dataclasses import replace

import pytest

from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.runs.counterexample import executed
from kafkaproof.spec.group import cache, deletion, validation
from kafkaproof.spec.group.coordinator import has_timers
from kafkaproof.spec.group.history import releases
from kafkaproof.spec.group.join import create_if_absent
from kafkaproof.spec.group.model import COMMON, CURRENT, LOCKED
from kafkaproof.spec.group.network import OFFSET_METADATA_TOO_LARGE, answer_operator
from kafkaproof.spec.group.scopes import scope
from kafkaproof.spec.group.sorts import NOWHERE, Broker
from kafkaproof.spec.group.validation import Flaw, flaw_verdict
from kafkaproof.spec.language.model import always

AGEING = scope(log=1, faults=1, periods=1)
FLAWED = ["refuse(b=0, flaw=3) -> OFFSET_METADATA_TOO_LARGE"]
COMMITTED = ["offsets.reset_offset(b=0) -> STORED", "offsets.offset_stored(b=0, i=0)"]
AGED = ["faults.time_passes(retention=1)"]


def refuse(s, b: Broker, flaw: Flaw):
    """As `validation.refuse`, and what has too long metadata is pending, in the field that transactions have."""
    group = s.brokers[b].group
    verdict = answer_operator(s.network, flaw_verdict(s.brokers[b], flaw))
    if verdict == OFFSET_METADATA_TOO_LARGE:
        create_if_absent(group)
        group.pending = 0
    return True


def is_pending(broker):
    """Whether the expiry task passes a group over."""
    return broker.appends.length > 0 or broker.group.pending != NOWHERE


def put_and_complete(group, position, aged):
    """A later commit of the partition takes the place of what is pending, and completes it."""
    group.offset = position
    group.aged = aged
    group.pending = NOWHERE


def old_offset_may_go(s):
    """An offset that is too old, and for which nothing is in flight, is not passed over."""
    for broker in s.brokers:
        group = broker.group
        if has_timers(group) and group.offset != NOWHERE and group.aged and broker.appends.length == 0:
            if group.pending != NOWHERE:
                return False
    return True


STAGED = {validation.refuse: refuse, deletion.has_pending_commit: is_pending, cache.put_offset: put_and_complete}
STAGING = replace(CURRENT, transitions=COMMON, properties=()).rebound(releases.WAYS_0_11 | STAGED)
STAGING = STAGING.rebound(releases.CALLED_0_11)


def asked(model):
    """A model with this property alone, at its least scope."""
    return explore(replace(model, properties=(always(old_offset_may_go),)), AGEING)


def test_an_offset_that_is_staged_and_not_appended_never_expires():
    assert asked(STAGING).violated == {"old_offset_may_go": 5}
    assert asked(LOCKED).violated == {}


@pytest.mark.parametrize(
    "model, texts, goes",
    [
        (LOCKED, COMMITTED + FLAWED + AGED, True),
        (STAGING, FLAWED + COMMITTED + AGED, True),
        (STAGING, COMMITTED + FLAWED + AGED, False),
    ],
    ids=["refused", "a later commit", "staged"],
)
def test_only_a_later_commit_of_the_partition_lets_it_expire(model, texts, goes):
    last = executed(model, AGEING, texts).steps[-1][2]
    assert last.brokers[0].group.offset == 0 and last.brokers[0].group.aged
    clean_up = model.transition("clean_up")
    assert bool(clean_up.function(last, 0)) is goes
