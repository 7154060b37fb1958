"""A broker that makes a mistake in deleting topics, or in reassigning partitions: that of the mutant, or of the seam,
that its argument names.
"""

import sys
from dataclasses import replace

from kafkaproof.impl.broker import process
from kafkaproof.impl.server import main as broker
from kafkaproof.spec.partition.mutants import deletion as partition_deletion
from kafkaproof.spec.partition.mutants import reassignment as partition_reassignment
from kafkaproof.spec.replica import storage
from kafkaproof.spec.running.processes import cluster


def keep(log):
    """A log that is to be deleted stays."""
    return 0


def mistaken(variant):
    """The cluster of a variant with the mistake."""
    right, name = cluster(variant), sys.argv[1]
    if name == "log-kept":
        return replace(right, partition=right.partition.rebound({storage.remove: keep}))
    mutants = partition_deletion.MUTANTS + partition_reassignment.MUTANTS
    mutant = next(mutant for mutant in mutants if mutant.name == name)
    return replace(right, partition=mutant.mutate(right.partition))


if __name__ == "__main__":
    process.cluster = mistaken
    broker.main()
