"""Blocks between partitions: how Spark hands them to their owners, and how an owner knows that it has got all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

END = b""
"""The last block of each partition."""


class LostLevel(Exception):
    """A Spark job failed, for instance because an executor was lost; the level can be run again."""


def places(context, partitions: int):
    """An `END` for each partition, as an RDD that Spark keeps where it first makes it.

    Blocks in a union with these end with `END`. Its tasks prefer the host of the `END`: the partition's table is there.
    """
    ends = context.range(partitions, numSlices=partitions).map(lambda partition: (partition, END))
    return exchanged(ends, partitions).cache()


def exchanged(blocks, partitions: int):
    """An RDD of pairs (owner, block), handed to their owners."""
    return blocks.partitionBy(partitions, _itself)


def remove(received) -> None:
    """Remove the files of blocks that `exchanged` has handed over, on all executors.

    Spark itself keeps them for as long as it may compute an RDD again that was made from them. Levels are not computed
    again in that way.
    """
    (handed,) = _scala(received._jrdd.rdd().dependencies())
    (shuffle,) = _scala(handed.rdd().dependencies())
    received.ctx._jsc.sc().cleaner().get().doCleanupShuffle(shuffle.shuffleId(), False)


def _scala(sequence):
    return [sequence.apply(i) for i in range(sequence.size())]


def _itself(owner: int) -> int:
    return owner


def whole(blocks: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
    """The blocks of one partition, of which the last must be `END`.

    When Spark cannot read all of them, because the executor that has some is lost or the task is given up, those that
    it could read look to Python like all there are. Raises LostLevel then, before anything is made of them.
    """
    last = None
    for _, last in blocks:
        yield last
    if last != END:
        raise LostLevel("some blocks did not arrive")
