"""Lemmas of the old consumer (orderly): what it owns in each phase, and what it knows of the group.

In short: as long as no session is lost and no answer, a consumer owns what it remembers; only who owns a partition
commits its offset; and who has not been told of a change has computed the present assignment.
"""

from kafkaproof.spec.consumer.properties.invariants import (
    attempt_holds_nothing,
    callback_registers,
    claim_is_tried,
    id_has_session,
    left_is_own,
    orphan_has_id,
    orphan_keeps_out,
    own_is_assigned,
    owns_what_it_holds,
    phase_has_registry,
    position_is_no_older,
    process_is_gone,
    reads_registry,
    starts_with_nothing,
    uncommitted_is_registered,
    untold_has_assignment,
    untold_has_listed,
    watches_when_registered,
)

ORDERLY = (
    process_is_gone,
    callback_registers,
    own_is_assigned,
    left_is_own,
    claim_is_tried,
    phase_has_registry,
    attempt_holds_nothing,
    starts_with_nothing,
    orphan_has_id,
    orphan_keeps_out,
    id_has_session,
    owns_what_it_holds,
    reads_registry,
    uncommitted_is_registered,
    position_is_no_older,
    untold_has_listed,
    untold_has_assignment,
    watches_when_registered,
)
