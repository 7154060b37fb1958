"""Mutants of the old consumer that break what a single step must do, on the variant `orderly`."""

from kafkaproof.spec.consumer import member, zookeeper
from kafkaproof.spec.consumer.model import scope
from kafkaproof.spec.language.mutants.simple import NO, NOTHING, YES, simple

ONE, READ = scope(consumers=1), scope(consumers=1, offsets=1)
READ_BY_TWO, SPLIT = scope(offsets=1), scope(consumers=1, splits=1)
TWO, CHANGED = scope(), scope(consumers=1, changes=1)
MUTANTS = (
    simple("attempt_is_whole", member.forget_attempt, NOTHING, ONE),
    simple("sessions_are_whole", zookeeper.forget_client, NOTHING, CHANGED),
    simple("owns_what_it_does", member.stop_fetchers, NOTHING, TWO),
    simple("untold_is_up_to_date", zookeeper.fire, NOTHING, TWO),
    simple("position_is_kept", member.forget_positions, NOTHING, READ_BY_TWO),
    simple("answer_ends_phase", member.begin_release, NOTHING, ONE),
    simple("looks_first", member.stop_fetchers, NOTHING, TWO),
    simple("lists_who_is_there", zookeeper.list_members, YES, ONE),
    simple("reads_who_is_there", zookeeper.read_ids, YES, ONE),
    simple("assigns_what_is_there", zookeeper.read_topic, YES, ONE),
    simple("one_at_a_time", zookeeper.delete_owner, YES, TWO),
    simple("is_claimed", zookeeper.create_owner, NO, ONE),
    simple("is_released", zookeeper.delete_owner, NO, TWO),
    simple("offset_is_read", zookeeper.get_offset, YES, ONE),
    simple("is_consumed", member.reads, YES, READ_BY_TWO),
    simple("is_stored", zookeeper.set_offset, NO, READ),
    simple("starts_with_session", zookeeper.open_session, NOTHING, ONE),
    simple("registers_before_it_rebalances", zookeeper.create_id, NO, ONE),
    simple("rebalance_begins", zookeeper.has_fired, YES, ONE),
    simple("leaves_nothing", zookeeper.end_session, NOTHING, CHANGED),
    simple("leaves_orphans", zookeeper.orphan_session, NOTHING, CHANGED),
    simple("orphans_go", zookeeper.end_orphan, NOTHING, CHANGED),
    simple("session_splits", zookeeper.orphan_session, NOTHING, SPLIT),
    simple("changes_are_told", zookeeper.fire, NOTHING, TWO),
    simple("brokers_come_and_go", zookeeper.fire_brokers, NOTHING, CHANGED),
)
