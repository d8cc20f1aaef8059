"""Which rows of every batch a machine computes, where several share them.

Every batch is a function of (seed, step), so no picture has to be sent: each machine makes
its own rows of it, drawing the random numbers of the whole. Several machines see exactly the
batches that one would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shard:
    """One machine's part of every batch.

    Attributes:
        index: Which machine, from 0.
        count: Number of shards.
    """

    index: int = 0
    count: int = 1

    def rows(self, batch_size: int) -> slice:
        """Its rows of a batch, whose size is a multiple of the machines."""
        size = batch_size // self.count
        return slice(self.index * size, (self.index + 1) * size)


WHOLE = Shard()
"""The shard of a single machine: every row."""


def iterate(strategy: Any, dataset: Any, share: Shard) -> Any:
    """An iterator over a dataset's batches for the replicas of a strategy.

    Args:
        strategy: The `tf.distribute` strategy.
        dataset: Whole batches, which are split over the replicas; where machines share them,
            this machine's rows, for the one replica that it has.
        share: This machine's.
    """
    if share == WHOLE:
        return iter(strategy.experimental_distribute_dataset(dataset))
    return iter(strategy.distribute_datasets_from_function(lambda _context: dataset))
