"""Control requests of the quorum to brokers that run with ZooKeeper: they carry the epoch that its driver has claimed.

What brokers do with them is in *election*: one with a lower epoch is refused. Brokers in KRaft mode get none.
"""

from kafkaproof.spec.election.network import Receiver, put_request
from kafkaproof.spec.migration.driver import allows_dual_write
from kafkaproof.spec.migration.quorum import Controller


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
