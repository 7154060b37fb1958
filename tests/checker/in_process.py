"""The rounds by which Spark decides liveness, run one partition after the other in this process."""

from kafkaproof.checker.liveness.spark import Partitions
from kafkaproof.checker.spark.blocks import END


class InProcess(Partitions):
    """Partitions that exchange their messages here; the context is not used."""

    def _exchange(self, work, name):
        received = self._received or {}
        told = [
            block for p in range(self._partitions) for block in work.round(name, p, [*received.get(p, ()), (p, END)])
        ]
        self._received = {p: [block for block in told if block[0] == p] for p, _ in told} or None
        return not told

    def _each(self, work):
        return [found for p in range(self._partitions) for found in work(p, ())]
