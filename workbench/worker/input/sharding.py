"""Which rows of every batch a machine computes, where several share them.

Every batch is a function of (seed, step), so no image has to be sent: each machine makes
its own rows of it, drawing the random numbers of the whole. Several machines see exactly the
batches that one would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shard:
    """One machine's part of every batch: shard `index`, from 0, of `count`."""

    index: int = 0
    count: int = 1

    def rows(self, batch_size: int) -> slice:
        """Its rows of a batch, whose size is a multiple of the machines."""
        size = batch_size // self.count
        return slice(self.index * size, (self.index + 1) * size)


WHOLE = Shard()
"""The shard of a single machine: every row."""


def iterate(strategy: Any, dataset: Any, share: Shard) -> Any:
    """An iterator over a dataset's batches for the replicas of a `tf.distribute` strategy.

    Whole batches are split over the replicas; where machines share them, the dataset has this
    machine's rows, for the one replica that it has.
    """
    if share == WHOLE:
        return iter(strategy.experimental_distribute_dataset(dataset))
    return iter(strategy.distribute_datasets_from_function(lambda _context: dataset))
