"""Mutants of stale reads, on the variant `lagging`."""

from kafkaproof.spec.kafka.zookeeper import OK
from kafkaproof.spec.partition.lagging import zookeeper
from kafkaproof.spec.partition.mutants.partition_mutant import TWO, mutant


def accept_any_epoch(zk, b, epoch):
    """A write is not checked against the epoch, and the server that answers it lags on."""
    return OK


MUTANTS = (mutant("epoch-unchecked", "no_stale_write", {zookeeper.check_epoch: accept_any_epoch}, TWO),)
