"""Input pipeline from prepared images to batches on the device: tf.data, and the layers that run in
it.

Elements of a training pipeline: (images (batch, h, w, c), labels (batch,)); of an
evaluation pipeline also weights (batch,), 0 for the filling of the last batch. Images
stay uint8 where no layer runs in the pipeline: the step casts them on the device.

Every training batch is a function of (seed, step) alone: a pipeline that starts at step k
gives exactly the batches that one from the beginning gives from k on, wherever the images
lie and however many threads work.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from workbench.core.training.recipe import TrainingRecipe
from workbench.pictures.file_rows import FileRows
from workbench.pictures.prepare import PreparedPart
from workbench.processes.memory import own_limits
from workbench.worker.input.augment import (
    augmentation,
    draws_one_by_one,
    erase,
    outside_training,
    through,
)
from workbench.worker.input.augment import mix as mix_pictures
from workbench.worker.process.failure import noting_faults
from workbench.worker.process.lazy_keras import tf

# cache mode ----------------------------------------------------------------------------------
# How the images of a part are held while training: in memory, cached on disk, or in files.
#
# The batches are the same bit for bit; only speed and memory differ.

CacheMode = Literal["memory", "cached", "streamed"]

_SHARE_OF_ALL = 0.3
_SHARE_OF_FREE = 0.5


def cache_mode_of(part: PreparedPart, recipe: TrainingRecipe | None = None) -> CacheMode:
    """Cache mode of a part's images: as the recipe's `pipeline` pins it, or with "auto" in memory
    where there is enough. What is pinned to be streamed is so already in `part`.
    """
    pinned = recipe.pipeline if recipe is not None else "auto"
    if pinned == "memory" or is_array(part):
        return "memory"
    if pinned == "auto" and fits_memory(part):
        return "memory"
    return "streamed" if isinstance(part.x, FileRows) else "cached"


def is_array(part: PreparedPart) -> bool:
    """True when the source has given the images as an array, which is in memory anyway."""
    return not hasattr(part.x, "pick")


def fits_memory(part: PreparedPart) -> bool:
    """True when all the images may be held in memory, with room left to train in."""
    return part.x.nbytes <= memory_for_pictures()


def memory_for_pictures() -> float:
    """Bytes that images may take now: a share of all memory, and of what is still free."""
    limits = [(limit, used) for limit, used in own_limits() if limit > 0]
    if not limits:
        return float("inf")
    return min(
        min(_SHARE_OF_ALL * limit, _SHARE_OF_FREE * max(0, limit - used)) for limit, used in limits
    )


# sharding ------------------------------------------------------------------------------------
# Sharding: the rows of every batch that a machine computes, where several share them.
#
# Every batch is a function of (seed, step), so no image has to be sent: each machine makes
# its own rows of it, drawing the random numbers of the whole. Several machines see exactly the
# batches that one would.


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


# shuffling -----------------------------------------------------------------------------------
# Order in which images are trained on: a function of (seed, pass), nothing else.
#
# So a run can be repeated, and continued at any step, without storing an order.

Indices = np.ndarray[Any, np.dtype[np.int64]]


def permutation(count: int, *, seed: int, epoch: int, copies: int = 1) -> Indices:
    """The order of all images in one pass: int64 (count,). With several copies of each, where
    copy k of image i is number k * count + i, the passes use one copy after another.
    """
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, epoch], np.uint64)))
    return generator.permutation(count).astype(np.int64) + count * (epoch % copies)


def whole_epochs(
    count: int, batch_size: int, *, seed: int, start_step: int = 0, copies: int = 1
) -> Iterator[Indices]:
    """Endless: each epoch's full batches, int64 (steps, batch); the rest of the pass is left
    out, another rest in each epoch. The first block begins with step `start_step` of all.
    `copies` as for `permutation`.
    """
    steps = count // batch_size
    epoch, done = divmod(start_step, steps)
    while True:
        order = permutation(count, seed=seed, epoch=epoch, copies=copies)
        yield order[: steps * batch_size].reshape(steps, batch_size)[done:]
        epoch, done = epoch + 1, 0


def endless_passes(
    count: int, batch_size: int, *, seed: int, start_step: int = 0, copies: int = 1
) -> Iterator[Indices]:
    """Endless: pass after pass without leaving any image out, int64 (steps, batch).

    For epochs of a chosen number of steps: each image comes once before any comes twice.
    The first block begins with step `start_step` of all. `copies` as for `permutation`.
    """
    epoch, done = divmod(start_step * batch_size, count)
    rest = permutation(count, seed=seed, epoch=epoch, copies=copies)[done:]
    while True:
        epoch += 1
        following = permutation(count, seed=seed, epoch=epoch, copies=copies)
        order = np.concatenate([rest, following])
        steps = len(order) // batch_size
        yield order[: steps * batch_size].reshape(steps, batch_size)
        rest = order[steps * batch_size :]


def padded_batches(count: int, batch_size: int) -> tuple[Indices, np.ndarray[Any, Any]]:
    """All images in order, the last batch filled up with image 0 at weight 0.

    Returns:
        Indices int64 (steps, batch) and weights float32 (steps, batch).
    """
    steps = -(-count // batch_size)
    indices = np.zeros(steps * batch_size, np.int64)
    indices[:count] = np.arange(count)
    weights = np.zeros(steps * batch_size, np.float32)
    weights[:count] = 1.0
    return indices.reshape(steps, batch_size), weights.reshape(steps, batch_size)


# pipeline ------------------------------------------------------------------------------------

_PREFETCH = 3
_THREADS = 2  # of those that TensorFlow has anyway
_READ_AT_ONCE = 64 * 2**20
_ALIGNMENT = 64  # TensorFlow uses arrays uncopied when they begin at such an address


Order = Callable[..., Iterator[Indices]]
"""(start_step=step) -> index blocks, int64 (steps, batch_size), from that step on."""


def training_pipeline(
    part: PreparedPart,
    order: Order,
    layers: Sequence[Any],
    *,
    batch_size: int,
    seed: int,
    start_step: int | Callable[[], int] = 0,
    place: CacheMode | None = None,
    recipe: TrainingRecipe | None = None,
    num_classes: int = 0,
    dtype: str = "float32",
    may_compile: bool = True,
    share: Shard = WHOLE,
) -> Any:
    """An endless dataset of augmented batches in the given order.

    Args:
        part: The training part.
        order: Which images come when; e.g. a partial of `whole_epochs`.
        layers: The Keras layers of the pipeline, in their order.
        batch_size: Images per step, over all replicas together.
        seed: Start of the augmentation's random numbers.
        start_step: Steps that are done already, or a function of them, called at each iteration.
        place: Where the images lie; chosen by `cache_mode_of` where not given.
        recipe: Says whether batches are mixed, and whether XLA may be used.
        num_classes: Classes of the data set, where batches are mixed.
        dtype: Type in which float images are handed over: what the model computes in.
        may_compile: XLA may be used here, where the recipe does not forbid it.
        share: Shard of this machine; only its rows of each batch are produced.
    """
    gather = _gather(part, place or cache_mode_of(part, recipe))
    jit = may_compile and (recipe is None or recipe.xla != "off")
    rows = share.rows(batch_size)
    # An image that is mixed with its neighbor, or drawn for in one go with all the others,
    # needs the whole batch to be made.
    is_by_row = draws_one_by_one(layers) and not _mixes(recipe)
    made, handed = (rows, slice(None)) if is_by_row else (slice(None), rows)
    augment = augmentation(
        layers, seed=seed, dtype=dtype, jit=jit, rows=made, batch_size=batch_size
    )
    mix = _mixing(recipe, seed=seed, num_classes=num_classes, dtype=dtype)

    def make_batch(step: Any, indices: Any) -> tuple[Any, Any]:
        pictures, labels = gather(indices)
        pictures, labels = mix(augment(pictures, step), labels, step)
        return pictures[handed], labels[handed]

    numbered = _numbered(order, start_step, batch_size, made)
    return _mapped(numbered, make_batch)


def _numbered(
    order: Order, start_step: int | Callable[[], int], batch_size: int, rows: slice
) -> Any:
    """A dataset of (number of the step, indices of the images in rows of it), both int64."""
    size = len(range(*rows.indices(batch_size)))

    def blocks() -> Iterator[tuple[Indices, Indices]]:
        first = start_step() if callable(start_step) else start_step
        for block in order(start_step=first):
            yield np.arange(first, first + len(block)), block[:, rows]
            first += len(block)

    signature = tf.TensorSpec((None,), tf.int64), tf.TensorSpec((None, size), tf.int64)
    return tf.data.Dataset.from_generator(blocks, output_signature=signature).unbatch()


def evaluation_pipeline(
    part: PreparedPart, layers: Sequence[Any], *, batch_size: int, share: Shard = WHOLE
) -> Any:
    """A dataset of all images once, in order; the last batch is filled up at weight 0.

    Of several machines each reads its share of every batch. Images that are not in memory
    stay where they are: in order they are read fast enough.
    """
    rows = share.rows(batch_size)
    indices, weights = padded_batches(len(part), batch_size)
    batches = tf.data.Dataset.from_tensor_slices((indices[:, rows], weights[:, rows]))
    gather = _gather(part, "memory" if is_array(part) else "cached")
    at_work = outside_training(layers)

    def make_batch(indices: Any, weights: Any) -> tuple[Any, Any, Any]:
        pictures, labels = gather(indices)
        return through(pictures, at_work, training=False), labels, weights

    return _mapped(batches, make_batch)


def _mapped(dataset: Any, function: Any) -> Any:
    options = tf.data.Options()
    options.deterministic = True  # the same seed gives the same curve
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    # Rewriting the graph would copy the images that it holds: twice the memory.
    options.experimental_optimization.apply_default_optimizations = False
    # AutoGraph needs source files, which a packed application has not.
    plain = tf.autograph.experimental.do_not_convert(function)
    mapped = dataset.map(plain, num_parallel_calls=_THREADS, deterministic=True)
    return mapped.prefetch(_PREFETCH).with_options(options)


def _mixing(
    recipe: TrainingRecipe | None, *, seed: int, num_classes: int, dtype: str
) -> Callable[[Any, Any, Any], tuple[Any, Any]]:
    """(images, labels, step) -> the same mixed as the recipe says; labels may become soft."""
    if recipe is None or not _mixes(recipe):
        return lambda pictures, labels, step: (pictures, labels)

    def mix(pictures: Any, labels: Any, step: Any) -> tuple[Any, Any]:
        if recipe.random_erasing:
            pictures = erase(pictures, seed=seed, step=step, recipe=recipe)
        if recipe.mixing != "none":
            pictures, labels = mix_pictures(
                pictures, labels, seed=seed, step=step, recipe=recipe, num_classes=num_classes
            )
        return (tf.cast(pictures, dtype) if pictures.dtype.is_floating else pictures), labels

    return mix


def _mixes(recipe: TrainingRecipe | None) -> bool:
    return recipe is not None and bool(recipe.random_erasing or recipe.mixing != "none")


# where the images lie ---------------------------------------------------------------


def _gather(part: PreparedPart, place: CacheMode) -> Callable[[Any], tuple[Any, Any]]:
    """Makes indices (batch,) -> (images or features (batch, *shape), int64 labels (batch,))."""
    labels = tf.constant(part.y)
    # An array that is too large for a second copy is read where it is.
    if place == "memory" and (fits_memory(part) or not is_array(part)):
        pictures = _in_memory(part)
        return lambda indices: (_values(tf.gather(pictures, indices)), tf.gather(labels, indices))

    def read(indices: Indices) -> Any:
        return noting_faults(lambda: np.ascontiguousarray(part.x[indices]))

    def gather(indices: Any) -> tuple[Any, Any]:
        batch = tf.numpy_function(read, [indices], tf.as_dtype(part.x.dtype))
        pictures = tf.ensure_shape(batch, (indices.shape[0], *part.x.shape[1:]))
        return _values(pictures), tf.gather(labels, indices)

    return gather


def _values(rows: Any) -> Any:
    """Pixels as they are, and features; those in bfloat16 are kept as their bits, uint16."""
    return tf.bitcast(rows, tf.bfloat16) if rows.dtype == tf.uint16 else rows


_HELD: dict[int, tuple[weakref.ref[PreparedPart], weakref.ref[Any]]] = {}
"""Parts that some pipeline holds in memory, by id: another pipeline uses the same tensor."""


def _in_memory(part: PreparedPart) -> Any:
    """All images as one tensor, (n, *shape of a row), for all pipelines of the part."""
    of_part, of_tensor = _HELD.get(id(part), (None, None))
    tensor = of_tensor() if of_tensor and of_part and of_part() is part else None
    if tensor is None:
        tensor = _read_whole(part)
        _HELD[id(part)] = weakref.ref(part), weakref.ref(tensor)
    return tensor


def _read_whole(part: PreparedPart) -> Any:
    """Reads piece by piece into one array, which becomes the tensor without another copy."""
    size = part.x.nbytes
    room = np.empty(size + _ALIGNMENT, np.uint8)
    begin = -room.ctypes.data % _ALIGNMENT
    pixels = room[begin : begin + size].view(part.x.dtype).reshape(part.x.shape)
    step = max(1, _READ_AT_ONCE // max(1, size // max(1, len(part))))
    for start in range(0, len(part), step):
        pixels[start : start + step] = part.x[start : start + step]
    return tf.experimental.dlpack.from_dlpack(pixels.__dlpack__())
