"""Conducts brokers with data planes in memory: each message that a step handles is one that a process has sent.

The model's networks say which message a step handles; it must have arrived, and say the same.
"""

from kafkaproof.impl.broker.replica import Offer
from kafkaproof.impl.protocol.batches import one_record
from kafkaproof.impl.seams.between.data_apis import REFUSED
from kafkaproof.spec.cluster.data_plane import send_request
from kafkaproof.spec.language.plain import members
from kafkaproof.spec.protocol.batches import read_header
from kafkaproof.spec.replica.network import DONE, RECORD
from kafkaproof.spec.running.processes import PARTITION
from kafkaproof.spec.running.replica_messages import ASKED, FETCHED, WRITTEN, fields_of, put_fields
from tests.impl.memory_cluster import CREATED, InMemory


class PlanesInMemory(InMemory):
    """`state`: the model's, before the step at hand. `ids`: the model's number of each batch, by its id in a log."""

    def __init__(self, world, partitions):
        super().__init__(world)
        self.state, self.ids = None, [{} for _ in range(partitions)]

    def _do(self, step, arguments, content):
        taking = getattr(self, f"take_{step.transition.split('.')[1]}", None)
        if taking is None:
            return super()._do(step, arguments, content)
        return taking(**arguments)

    def numbered(self, p, message):
        """What a message of the model says, with the id of the batch that a process has for its record."""
        fields = fields_of(message)
        if message.kind == RECORD:
            fields["id"] = next(id for id, number in self.ids[p].items() if number == message.id)
        return fields

    def has_taken(self, b, name, act):
        """Let a broker act, which must take this step; its answer."""
        process = self.broker(b).process
        before = process.number
        act()
        assert process.number == before + 1 and process._intent[1] == name, f"{name} of broker {b} was not taken"
        return self.answer_of(process)

    def tries(self, b, name, *handled, **arguments):
        """Let a broker take a step."""
        broker = self.broker(b)
        function = broker.process.transition(PARTITION, name)
        return self.has_taken(b, name, lambda: broker.try_step(function, *handled, **arguments))

    # Control

    def take_leader_and_isr(self, b, epoch, p):
        request, isr = self.state.network.requests[epoch][p], self.state.network.isrs[epoch][p]
        message = self.found(
            b, "LeaderAndIsr", epoch=epoch, p=p, leader=request.leader, leader_epoch=request.leader_epoch
        )
        assert message and (request.leader != b or not isr or members(message.content["isr"]) == isr), "no LeaderAndIsr"
        return self.has_taken(b, "leader_and_isr", lambda: self.broker(b).handle(message))

    def propose(self, sender, p, b):
        """Let a leader ask controller `b` for its ISR; the message."""
        leader = self.broker(sender)
        leader.leadership.propose_to(self.receiver(b), p)
        alter = self.state.planes[p].network.alters[sender]
        return self.found(b, "AlterPartition", sender, p=p, isr=alter.isr, leader_epoch=alter.epoch)

    def take_alter_partition(self, b, p, sender, isr):
        message = self.propose(sender, p, b)
        return self.has_taken(b, "alter_partition", lambda: self.broker(b).events.alter(message, p, sender, isr))

    def take_confirm_isr(self, b, p, sender):
        message = self.propose(sender, p, b)
        alter = self.broker(b).events.alter
        return self.has_taken(b, "confirm_isr", lambda: alter(message, p, sender, message.content["isr"]))

    def take_refuse_change(self, b, p, sender):
        return self.tries(b, "refuse_change", self.propose(sender, p, b), p=p, sender=sender)

    def take_refuse_isr(self, sender, p, b, isr):
        message, process = self.propose(sender, p, b), self.broker(b).process
        self.broker(b).leadership.proposed(message)
        self.broker(b).leadership.refused(message, process.alter_error(message))
        refusal = self.found(sender, REFUSED, b, p=p)
        return self.has_taken(sender, "refuse_isr", lambda: self.broker(sender).handle(refusal))

    def take_learn_isr(self, b, p):
        alter = self.state.planes[p].network.alters[b]
        if self.broker(b).process.planes[p].network.alters[b].state == DONE:
            return self.tries(b, "learn_isr", p=p)
        message = self.found(b, WRITTEN, p=p, fields=fields_of(alter))
        return self.has_taken(b, "learn_isr", lambda: self.broker(b).handle(message))

    def take_configure_topic(self, b):
        self.broker(b).process.partition_zookeeper.creating = CREATED
        return self.tries(b, "configure_topic")

    def take_create_topic(self, b, **arguments):
        self.broker(b).process.partition_zookeeper.creating = CREATED
        return self.tries(b, "create_topic", **arguments)

    def take_topic_change(self, b):
        self.broker(b).process.partition_zookeeper.refresh()
        return self.tries(b, "topic_change")

    # Data planes

    def take_produce(self, b, p, acks):
        data, number = one_record(b"%d" % len(self.ids[p])), self.state.planes[p].clients.next_record
        answer = self.tries(b, "produce", None, Offer(data, lambda error: None), p=p, acks=acks)
        if answer == "OK":
            self.ids[p][read_header(data).crc] = number
        return answer

    def take_consume(self, b, p):
        clients = self.broker(b).process.planes[p].clients
        clients.position = self.state.planes[p].clients.position
        answer = self.tries(b, "consume", p=p)
        assert self.ids[p][clients.read[-1]] == self.state.planes[p].brokers[b].log.slots[clients.position].id
        return answer

    def take_send_request(self, b, p):
        """A process may have sent it when it began to follow, where in the model a former request was in its place: then it
        asks again.
        """
        process = self.broker(b).process
        if not self.broker(b).try_step(send_request, p=p):
            sent, replica = process.planes[p].network.messages[b], process.planes[p].replica
            assert (sent.peer, sent.epoch) == (replica.leader, replica.leader_epoch)
            self.broker(b).leadership.ask_again(p)

    def take_serve_fetch(self, b, p, follower):
        message = self.fetch_of(b, p, follower)
        assert message, f"broker {follower} has not asked {b}"
        put_fields(self.broker(b).process.planes[p].network.messages[follower], message.content["fields"])
        return self.tries(b, "serve_fetch", message, p=p, follower=follower)

    def fetch_of(self, b, p, follower):
        """The request of a follower, as the model has it."""
        return self.found(b, ASKED, follower, p=p, fields=fields_of(self.state.planes[p].network.messages[follower]))

    def take_receive_answer(self, b, p):
        message = self.answer_to(b, p)
        assert message, f"nobody has answered broker {b}"
        return self.has_taken(b, "receive_answer", lambda: self.broker(b).handle(message))

    def answer_to(self, b, p):
        """The answer to a follower, as the model has it."""
        return self.found(b, FETCHED, p=p, fields=self.numbered(p, self.state.planes[p].network.messages[b]))

    # From outside

    def take_restart(self, b, hw):
        """The checkpoint is of the last moment, or there is none."""
        self._cluster.checkpoint(b, hw > 0)
        return self._from_outside("restart", b=b)
