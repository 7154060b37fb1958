"""Mutants of the old consumer: one deliberate mistake each, on the variant `orderly`.

Mutations known for O1 to O4, and one for every other property. A mutant is not held to the rules of writing a
transition.
"""

from kafkaproof.spec.consumer import member, session, zookeeper
from kafkaproof.spec.consumer.assignment import member_at, place_of_owner, quotient, remainder, size
from kafkaproof.spec.consumer.history import consumer_variants as variants
from kafkaproof.spec.consumer.member import UNDOING, after_assignment, after_release, end_release, fail, is_committed
from kafkaproof.spec.consumer.model import scope
from kafkaproof.spec.consumer.zookeeper import UNARMED, create_owner, fire, session_open
from kafkaproof.spec.kafka.zookeeper import ABSENT, EXPIRED, MINE, NODEEXISTS, OK, PROCESS
from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere, within
from kafkaproof.spec.language.sets import with_member


def release_nothing(consumer, c):
    """Nothing is released before a new assignment."""
    consumer.left = 0
    end_release(consumer, c)


def keep_claims(zk, c, orphaned):
    """Owners' nodes are persistent."""
    pass


def assign_by_number(consumer, c):
    """One member alone sorts the threads by their numbers first."""
    threads = len(consumer.streams)
    for p in range(consumer.size):
        place = place_of_owner(p, consumer.size, size(consumer.members) * threads)
        row = remainder(place, size(consumer.members)) if c == 1 else quotient(place, threads)
        if member_at(row, consumer.members) == c:
            consumer.mine = with_member(consumer.mine, p)
    consumer.left = consumer.mine


def create_owner_over_another(zk, c, p, thread, delivery):
    """A partition that another owns is read like the others."""
    answer = create_owner(zk, c, p, thread, delivery)
    return MINE if answer == NODEEXISTS else answer


def undo_nothing(consumer):
    """After a conflict the claims that succeeded stay."""
    fail(consumer)


def undo_all(consumer):
    """After a conflict the partition of the other is released, too."""
    consumer.left = consumer.mine
    consumer.doing = UNDOING


def keep_registry(consumer, c):
    """What is released stays in the registry."""
    after_release(consumer, c)


def keep_reading(consumer):
    """The fetchers run on while the consumer rebalances."""
    pass


def committed_or_not(consumer):
    """What was read is not committed before the release."""
    return True


def set_next_offset(zk, c, p, offset):
    """The record that is next is committed as if it had been read."""
    if not session_open(zk, c):
        return EXPIRED
    zk.partitions[p].offset = offset + 1
    return OK


def get_smallest_offset(zk, c, p, reader):
    """A consumer begins at the beginning, whatever is stored."""
    if not session_open(zk, c):
        return EXPIRED
    reader.positions[p].offset = 0
    return OK


def offsets_first(consumer):
    """The offsets are read before the claims, as in Kafka."""
    after_assignment(consumer)


def take_event_and_watch(zk, c):
    """The watch is not armed again when it has fired."""
    zk.clients[c].watch = UNARMED
    return OK


def list_without_watch(zk, c, reader):
    """The members are listed without a watch."""
    if not session_open(zk, c):
        return EXPIRED
    reader.members = 0
    for i in range(len(zk.clients)):
        if zk.clients[i].registered:
            reader.members = with_member(reader.members, i)
    return OK


def create_or_adopt_id(zk, c, watch):
    """A consumer that finds its id taken, by its own former session, takes itself for registered."""
    if not session_open(zk, c):
        return EXPIRED
    if zk.clients[c].registered == ABSENT:
        fire(zk)
        zk.clients[c].registered = PROCESS
    zk.clients[c].watch = watch
    return OK


CALM = scope()


def mutant(name, kills, replacements, at=CALM, text=""):
    """A mutant of `orderly`, told by the docstring of what replaces something."""
    told = text or first_paragraph(next(iter(replacements.values())))
    return Mutant(name, told, kills, everywhere(replacements), at)


def mutant_within(name, kills, transition, replacements, at=CALM):
    """The same, in one transition alone."""
    told = first_paragraph(next(iter(replacements.values())))
    return Mutant(name, told, kills, within(transition, replacements), at)


KAFKAS_ORDER = {
    variants.claim_first: offsets_first,
    variants.then_read_offsets: member.after_claims,
    variants.then_start: member.after_offsets,
}
GIVEN_UP = {variants.register_when_free: session.register, variants.never_gives_up: member.gives_up}
NO_WATCH = {zookeeper.take_event: take_event_and_watch, zookeeper.list_members: list_without_watch}

MUTANTS = (
    mutant("skip-release", "remembers_claims", {member.begin_release: release_nothing}),
    mutant(
        "persistent-claims",
        "claims_end_with_session",
        {zookeeper.remove_claims: keep_claims},
        scope(consumers=1, changes=1),
    ),
    mutant(
        "numeric-on-one-member",
        "same_view_same_assignment",
        {member.assign: assign_by_number},
        scope(partitions=2, threads=2),
    ),
    mutant("conflicts-ignored", "reads_its_own", {zookeeper.create_owner: create_owner_over_another}),
    mutant("conflicts-not-undone", "remembers_claims", {member.begin_undo: undo_nothing}, scope(partitions=2)),
    mutant("conflicts-undone-too", "deletes_its_own", {member.begin_undo: undo_all}, scope(partitions=2)),
    mutant("registry-kept", "failed_holds_nothing", {member.end_release: keep_registry}, scope(changes=1)),
    mutant_within("fetchers-not-stopped", "one_reader", "look", {member.stop_fetchers: keep_reading}),
    mutant_within(
        "released-uncommitted", "commits_before_release", "release", {is_committed: committed_or_not}, scope(offsets=1)
    ),
    mutant(
        "committed-before-read",
        "commits_what_was_read",
        {zookeeper.set_offset: set_next_offset},
        scope(consumers=1, offsets=2),
    ),
    mutant(
        "begin-at-smallest",
        "begins_at_stored",
        {zookeeper.get_offset: get_smallest_offset},
        scope(consumers=1, offsets=1, changes=1),
    ),
    mutant("offsets-read-first", "offset_never_falls", KAFKAS_ORDER, scope(offsets=2)),
    mutant(
        "attempts-limited",
        "quiet_group_reads_all",
        {variants.never_gives_up: member.gives_up},
        text="A consumer gives up after rebalance.max.retries, as in Kafka.",
    ),
    mutant("watch-not-armed", "quiet_group_reads_all", NO_WATCH, scope(changes=1)),
    mutant("id-adopted", "claims_afresh", {zookeeper.create_id: create_or_adopt_id}, scope(consumers=1, changes=1)),
    mutant(
        "registration-given-up",
        "rests_registered",
        GIVEN_UP,
        scope(consumers=1, splits=1),
        "A consumer whose id is taken goes on unregistered (0.9 to 1.1), until its attempts are used up.",
    ),
)
