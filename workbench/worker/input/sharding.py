"""Sharding: the rows of every batch that a machine computes, where several share them.

Every batch is a function of (seed, step), so no image has to be sent: each machine makes
its own rows of it, drawing the random numbers of the whole. Several machines see exactly the
batches that one would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.worker.process.lazy_keras import tf


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
    """An iterator over a dataset's batches, for `next_batch`.

    Accelerators get an iterator of `tf.distribute`, which copies batches to them ahead. On
    processors nothing has to be copied, and its thread makes a process end with SIGSEGV when
    the iterator is deleted during a batch (TensorFlow 2.21: MultiDeviceIterator; one search of
    60 for a learning rate): there it is the data set's own iterator.
    """
    if is_on_processors(strategy):
        return iter(dataset)
    if share == WHOLE:
        return iter(strategy.experimental_distribute_dataset(dataset))
    return iter(strategy.distribute_datasets_from_function(lambda _context: dataset))


def next_batch(strategy: Any, iterator: Any, share: Shard) -> Any:
    """The next batch of an iterator made by `iterate`, in equal parts for the replicas.

    Where machines share the batches, the dataset has this machine's rows, for the one replica
    that it has.
    """
    batch = iterator.get_next()
    count = strategy.num_replicas_in_sync
    if isinstance(iterator, tf.distribute.DistributedIterator) or share != WHOLE or count == 1:
        return batch
    return tf.nest.map_structure(lambda whole: _split(strategy, whole, count), batch)


def is_on_processors(strategy: Any) -> bool:
    """Whether all replicas of a `tf.distribute` strategy compute on processors."""
    devices = map(tf.DeviceSpec.from_string, strategy.extended.worker_devices)
    return all(device.device_type == "CPU" for device in devices)


def _split(strategy: Any, whole: Any, count: int) -> Any:
    parts = tf.split(whole, count)
    return strategy.experimental_distribute_values_from_function(
        lambda context: parts[context.replica_id_in_sync_group]
    )
