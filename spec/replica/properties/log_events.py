"""What a step may and must do with brokers, logs, fetches and high watermarks of the replica system.

These properties are about single steps, while D1 to D8 are about records. Kafka's source is that of 3.9.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.replica.broker import FETCHING, LEADER, NONE, replicated_up_to
from kafkaproof.spec.replica.network import DIVERGING, EPOCHS, FETCH, NO_MESSAGE, NO_RECORD, RECORD, SENT, is_request
from kafkaproof.spec.replica.storage import end_of_epoch, last_epoch
from kafkaproof.spec.replication.replication import same_entry


def same_log(old, new):
    """Whether two logs are the same."""
    return old.length == new.length and same_up_to(old, new, old.length)


def same_up_to(old, new, end):
    """Whether two logs both reach an offset, and are the same below it."""
    for i in range(len(old.slots)):
        if i < end and not same_entry(old, new, i):
            return False
    return True


def same_broker(old, new):
    """Whether a broker has and knows the same as before."""
    for f in range(len(old.ends)):
        if old.ends[f] != new.ends[f]:
            return False
    return (
        same_log(old.log, new.log)
        and old.hw == new.hw
        and old.state == new.state
        and old.leader == new.leader
        and old.leader_epoch == new.leader_epoch
        and old.isr == new.isr
        and old.pending == new.pending
        and old.waiting == new.waiting
    )


def same_question(old, new):
    """Whether a message belongs to the same request, answered or not."""
    return old.peer == new.peer and old.epoch == new.epoch and old.offset == new.offset


def leads_on(old, new):
    """Whether a broker leads in the same epoch as before."""
    return old.state == LEADER and new.state == LEADER and old.leader_epoch == new.leader_epoch


def one_broker_steps(before, after):
    """A step changes at most what one broker has and knows, and one message between followers and leaders."""
    changed = 0
    messages = 0
    for b in range(len(after.brokers)):
        old = before.network.messages[b]
        new = after.network.messages[b]
        if not same_broker(before.brokers[b], after.brokers[b]):
            changed += 1
        if old.kind != new.kind or not same_question(old, new):
            messages += 1
    return changed <= 1 and messages <= 1


def asks_for_its_end(before, after):
    """A follower asks the leader named to it, with its leader epoch, for what comes after its log, and sends the epoch
    of its last record (AbstractFetcherThread.doWork, RemoteLeaderEndPoint.buildFetch).
    """
    for f in range(len(after.brokers)):
        old = before.network.messages[f]
        new = after.network.messages[f]
        broker = after.brokers[f]
        if new.kind == FETCH and (old.kind != FETCH or not same_question(old, new) or old.last != new.last):
            if broker.state != FETCHING or new.peer != broker.leader or new.epoch != broker.leader_epoch:
                return False
            if new.offset != broker.log.length or new.last != last_epoch(broker.log):
                return False
        if (old.kind == FETCH or old.kind == EPOCHS) and new.kind == NO_MESSAGE:
            return False
    return True


def asks_anew(before, after, b):
    """A follower sends its request only if it is not already in flight."""
    old = before.network.messages[b]
    new = after.network.messages[b]
    asked = is_request(after.network, b) and same_broker(before.brokers[b], after.brokers[b])
    return asked and (old.kind != new.kind or not same_question(old, new))


def has_parted(log, offset, last):
    """Whether a log that ends at an offset, with a record of epoch `last`, is not a prefix of this one."""
    return offset > 0 and (offset > log.length or log.slots[offset - 1].epoch != last)


def fetch_is_served(before, after, b, follower):
    """Only a leader of the same epoch answers a fetch: with its record at that offset, if there is one, and its high
    watermark, and then the follower's end is that offset; or, if the logs have diverged, with the end of its records up
    to the follower's epoch (Partition.fetchRecords, UnifiedLog.maybeIncrementHighWatermark).
    """
    fetch = before.network.messages[follower]
    answer = after.network.messages[follower]
    old = before.brokers[b]
    if fetch.kind != FETCH or fetch.peer != b or not same_question(fetch, answer):
        return False
    served = old.state == LEADER and fetch.epoch == old.leader_epoch
    if answer.kind == FETCH:
        return not served and same_broker(old, after.brokers[b])
    if not served or has_parted(old.log, fetch.offset, fetch.last) != (answer.kind == DIVERGING):
        return False
    if answer.kind == DIVERGING:
        ends = answer.end == end_of_epoch(old.log, fetch.last) and answer.end == end_of_epoch(old.log, answer.last)
        return ends and answer.last <= fetch.last and same_broker(old, after.brokers[b])
    if answer.hw != old.hw or after.brokers[b].ends[follower] != fetch.offset:
        return False
    if answer.kind == NO_RECORD:
        return fetch.offset == old.log.length and answer.last == 0
    slot = old.log.slots[fetch.offset]
    read = answer.kind == RECORD and fetch.offset < old.log.length
    return read and answer.id == slot.id and answer.last == slot.epoch


def ends_by_fetches(before, after):
    """A leader knows the offset of a follower's last fetch, and hears of it by a fetch in its leader epoch
    (Partition.updateFollowerFetchState).
    """
    for b in range(len(after.brokers)):
        for f in range(len(after.brokers)):
            fetch = before.network.messages[f]
            end = after.brokers[b].ends[f]
            known = end == before.brokers[b].ends[f]
            heard = contains(after.brokers[b].heard, f) != contains(before.brokers[b].heard, f)
            if leads_on(before.brokers[b], after.brokers[b]) and (heard or not known):
                asked = fetch.kind == FETCH and fetch.peer == b and fetch.epoch == after.brokers[b].leader_epoch
                if not asked or end != fetch.offset:
                    return False
    return True


def takes_answer(before, after, b):
    """A follower acts on its leader's answer to its fetch of this epoch: it appends a record, if there is one, and
    takes the high watermark as far as its log goes; or it truncates, and keeps what the leader has too
    (ReplicaFetcherThread.processPartitionData, AbstractFetcherThread.truncateOnFetchResponse).
    """
    answer = before.network.messages[b]
    old = before.brokers[b]
    new = after.brokers[b]
    if answer.peer != old.leader or answer.epoch != old.leader_epoch or answer.offset != old.log.length:
        return False
    if old.state != FETCHING or new.state != FETCHING or after.network.messages[b].kind != FETCH:
        return False
    end = new.log.length
    if answer.kind == DIVERGING:
        shorter = end < old.log.length and same_up_to(old.log, new.log, end) and new.hw == min(old.hw, end)
        return shorter and keeps_common(after, b, old.log, end)
    if new.hw != min(answer.hw, end) or not same_up_to(old.log, new.log, old.log.length):
        return False
    if answer.kind == NO_RECORD:
        return end == old.log.length
    slot = new.log.slots[old.log.length]
    return answer.kind == RECORD and end == old.log.length + 1 and slot.id == answer.id and slot.epoch == answer.last


def keeps_common(s, b, log, end):
    """Whether a follower that truncated its log at `end` dropped no record that its leader of this epoch has there."""
    leader = s.brokers[s.brokers[b].leader]
    leads = leader.state == LEADER and leader.leader_epoch == s.brokers[b].leader_epoch
    return not leads or not same_entry(log, leader.log, end)


def log_by_protocol(before, after):
    """A log gains a producer's next record if its broker leads, or the record in a follower's answer, and loses records
    only where logs have diverged (Partition.appendRecordsToLeader, AbstractFetcherThread).
    """
    for b in range(len(after.brokers)):
        old = before.brokers[b]
        end = old.log.length
        log = after.brokers[b].log
        told = before.network.messages[b].kind
        if not same_up_to(old.log, log, min(end, log.length)) or log.length < end and told != DIVERGING:
            return False
        if log.length > end and told != RECORD:
            produced = old.state == LEADER and log.slots[end].id == before.clients.next_record
            if log.length != end + 1 or not produced or log.slots[end].epoch != old.leader_epoch:
                return False
    return True


def hw_of_maximal_isr(before, after):
    """A leader's high watermark is the offset up to which all replicas in its ISR or its proposal have fetched, and
    never falls (Partition.maybeIncrementLeaderHW).
    """
    for b in range(len(after.brokers)):
        new = after.brokers[b]
        if new.state == LEADER and new.hw != max(before.brokers[b].hw, replicated_up_to(new, b)):
            return False
    return True


def restarts(before, after, b, hw):
    """A new process has the log of the former one and a high watermark that the former one once had, and is told who
    leads if another broker does. What was sent to the former process is refused; its own requests may still arrive
    (LogManager.loadLogs, KafkaController.onBrokerStartup).
    """
    new = after.brokers[b]
    old_message = before.network.messages[b]
    message = after.network.messages[b]
    if new.state != NONE or new.hw != hw or hw > before.brokers[b].hw or not same_log(before.brokers[b].log, new.log):
        return False
    if is_request(before.network, b) and (message.kind != old_message.kind or not same_question(old_message, message)):
        return False
    if not is_request(before.network, b) and message.kind != NO_MESSAGE:
        return False
    if (before.network.alters[b].state == SENT) != (after.network.alters[b].state == SENT):
        return False
    for e in range(len(after.network.requests)):
        told = e == after.zk.leader_epoch and after.zk.leader != NOBODY and after.zk.leader != b
        if contains(after.network.requests[e].to, b) != told:
            return False
    return after.zk.faults == before.zk.faults + 1


ALWAYS = (
    always_step(one_broker_steps),
    always_step(asks_for_its_end),
    always_step(asks_anew, of=("send_request",)),
    always_step(restarts, of=("bounce",)),
)
HW = (always_step(hw_of_maximal_isr),)
ENDS = (always_step(ends_by_fetches),)
SERVED = (always_step(fetch_is_served, of=("serve_fetch",)), always_step(log_by_protocol))
ANSWERED = (always_step(takes_answer, of=("receive_answer",)),)
