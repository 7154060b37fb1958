"""Properties of elections in rounds: who is elected again, and what a round leaves unsent."""

from kafkaproof.spec.kafka.state_machines import ONLINE_PARTITION
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains, is_empty, with_member, without_member
from kafkaproof.spec.partition.context import COLLECTED, CONTROLLED_SHUTDOWN, EMPTY, OFFLINE, WRITING_LEADER
from kafkaproof.spec.partition.properties.invariants import is_first
from kafkaproof.spec.partition.properties.sessions import has_session


def left_to_elect(old, p, again):
    """What is to be elected when a round has passed a partition, which is or is not elected `again`: the rest of the
    round, then those whose write met another version.
    """
    rest = without_member(old.todo, p)
    following = with_member(old.next_round, p) if again else old.next_round
    return following if is_empty(rest) else rest


def is_passed(old, new, p):
    """Whether a round has passed a partition, which is not elected again."""
    return new.todo == left_to_elect(old, p, False)


def has_what_it_needs(controller, p):
    """Whether an election for want of a leader, or in a controlled shutdown, is of a partition that needs none."""
    partition = controller.partitions[p]
    if controller.strategy == CONTROLLED_SHUTDOWN:
        return partition.leader == NOBODY or not contains(controller.leaving, partition.leader)
    return controller.strategy == OFFLINE and partition.state == ONLINE_PARTITION


def not_elected_twice(s):
    """What an event has elected it does not elect again: a partition that is elected for want of a leader has none, and
    in a controlled shutdown a leader that is shutting down.
    """
    for broker in s.brokers:
        controller = broker.controller
        for p in range(len(controller.partitions)):
            elected = controller.doing == WRITING_LEADER and is_first(controller.todo, p)
            if elected and has_what_it_needs(controller, p):
                return False
    return True


def is_answered(before, after, b):
    """Whether ZooKeeper has answered the write of an election, and has not refused it because of the epoch."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.strategy == CONTROLLED_SHUTDOWN and old.epoch != before.zk.epoch:
        return False
    return has_session(before, b) and old.epoch == new.epoch and new.doing != WRITING_LEADER


def whole_batch_again(before, after, b, p, delivery):
    """If a write of a round meets another version, all that it has passed is elected again (1.1 to 2.3)."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not is_answered(before, after, b):
        return True
    if not is_empty(without_member(old.todo, p)):
        return new.next_round == with_member(old.next_round, p)
    refused = not contains(before.zk.partitions[p].readers, b)
    return not old.another_round and not refused or new.todo == with_member(old.next_round, p)


def collected_when_over(before, after, b, p, delivery):
    """What a round has written is collected when it is over, and sent if it is the last one."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not is_answered(before, after, b):
        return True
    if not is_empty(without_member(old.todo, p)):
        return (new.partition_batch == COLLECTED) == (old.partition_batch == COLLECTED)
    refused = not contains(before.zk.partitions[p].readers, b)
    written = old.partition_batch != EMPTY or not refused
    unsent = (old.another_round == 1 or refused) and written
    return new.partition_batch == (COLLECTED if unsent else EMPTY)


def second_round(s):
    """A partition is elected again, since its write met another version, and what was written for another one is not sent
    yet.
    """
    for broker in s.brokers:
        controller = broker.controller
        writes = controller.doing == WRITING_LEADER and controller.strategy == CONTROLLED_SHUTDOWN
        if writes and controller.partition_batch == COLLECTED:
            return True
    return False


ROUNDS = (always(not_elected_twice),)
BATCHES = (always_step(collected_when_over, of=("write_leader",)),)
"""From 1.1 on."""
WHOLE_BATCH = (*BATCHES, always_step(whole_batch_again, of=("write_leader",)))
"""From 1.1 to 2.3."""
GOALS = (sometimes(second_round, partitions=2),)
"""Up to 2.6, where leaders write the ISR: from 2.7 on it takes two faults."""
