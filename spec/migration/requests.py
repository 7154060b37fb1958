"""Control requests of the quorum to brokers that run with ZooKeeper: they carry the epoch that its driver has claimed.

What brokers do with them is in *election*: one with a lower epoch is refused. A broker in KRaft mode is sent none; it refuses
what is late, and loads the log.
"""

from kafkaproof.spec.election.network import Epoch, Receiver, arriving, put_request, take_request
from kafkaproof.spec.migration.driver import allows_dual_write
from kafkaproof.spec.migration.quorum import Controller, runs
from kafkaproof.spec.migration.state import KRAFT_MODE


def tell_broker(s, c: Controller, to: Receiver):
    """A driver sends a control request to a broker that runs with ZooKeeper, in the epoch that it has claimed.

    Guards:  it writes to both stores, or is about to begin; whether it still leads does not matter.
    Effects: the request is on its way.
    Kafka:   MigrationPropagator.sendRPCsToBrokersFromMetadataImage, sendRPCsToBrokersFromMetadataDelta, 3.4 to 3.9.
    """
    driver = s.drivers[c]
    if not allows_dual_write(driver.driving):
        return False

    put_request(s.network, to, driver.zk_epoch)
    return True


def refuse(s, b, epoch):
    """A broker in KRaft mode refuses a control request, whatever its epoch.

    Kafka: RaftSupport.requireZkOrThrow, 3.4 to 3.9.
    """
    take_request(s.network, b, epoch)


def receive_in_kraft(s, b: Receiver, epoch: Epoch):
    """A control request that was sent to a former process of a broker arrives when it is in KRaft mode.

    Guards:  a request of `epoch` arrives; the broker is in KRaft mode.
    Request: taken from the network.
    Effects: refused with UNSUPPORTED_VERSION.
    Kafka:   KafkaApis.handleLeaderAndIsrRequest, handleUpdateMetadataRequest, handleStopReplicaRequest, 3.4 to 3.9.
    """
    if s.brokers[b].mode != KRAFT_MODE or not arriving(s.network, b, epoch):
        return False

    refuse(s, b, epoch)
    return True


def next_offset(quorum, image):
    """Which record of the log a broker in KRaft mode loads next."""
    return image + 1


def load_record(s, b: Receiver):
    """A broker in KRaft mode loads the next record of the log. Its registration with the quorum is not kept.

    Guards:  the broker is in KRaft mode, and the quorum runs; there is a record that it does not have.
    Effects: it has it.
    Kafka:   BrokerMetadataPublisher.onMetadataUpdate, 3.5 to 3.9; BrokerMetadataListener.handleCommit, 3.4.
    """
    follower = s.followers[b]
    if s.brokers[b].mode != KRAFT_MODE or not runs(s) or follower.image == s.quorum.end:
        return False

    follower.image = next_offset(s.quorum, follower.image)
    return True
