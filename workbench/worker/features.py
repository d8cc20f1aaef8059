"""Features: the outputs of a network's frozen part, computed once for each image and kept.

These outputs are a function of the image, so the layers behind are trained on them instead of on
images. `extract` computes those of a training's parts, `store` keeps them by the content of the
image, and `network` cuts the network where its frozen part ends.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from workbench.core.format import count
from workbench.core.network.graph import Graph
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec, Shape
from workbench.core.storage.foreign_file import read_foreign
from workbench.core.storage.own_file import refuse_link
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import DatasetError
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.pictures.rows import (
    KEYS_SUFFIX,
    ChosenRows,
    Numbers,
    StoredRows,
    Values,
    has_room,
    pick_rows,
    prune,
    remove_leftovers,
    rows_start,
)
from workbench.runs.home import cache_home, made_cache
from workbench.worker.input.augment import outside_training
from workbench.worker.input.pipeline import (
    evaluation_pipeline,
    memory_for_pictures,
    padded_batches,
    training_pipeline,
)
from workbench.worker.model.build import BuiltModel, connect
from workbench.worker.model.inference_form import fast_inference
from workbench.worker.process.lazy_keras import keras, tf

# network -------------------------------------------------------------------------------------
# A network cut where its frozen part ends: the extractor before, the part that learns behind.


def freeze(built: BuiltModel, graph: Graph, learns: Callable[[str], bool]) -> None:
    """Switches learning off for the layers of a network that do not learn in a phase, and on for
    the others; `learns` is handed the value of `Node.training`.

    A frozen BatchNormalization normalizes by its running statistics and leaves them as they are.
    """
    for node_id, layer in built.layers.items():
        layer.trainable = learns(graph.nodes[node_id].training)


def behind(built: BuiltModel, graph: Graph, end: str) -> BuiltModel:
    """The network behind a layer, of the same Keras layers: its input is that layer's output."""
    before = graph.ancestors(end) | {end}
    output = built.layers[end].output
    start = keras.Input(shape=output.shape[1:], dtype=output.dtype, name="features")
    outputs = connect(graph, built.layers, {end: start}, before)
    last = next(key for key in reversed(graph.order) if key in outputs)  # the only output
    model = keras.Model(start, outputs[last], name="head")
    layers: Mapping[str, Any] = {
        key: layer for key, layer in built.layers.items() if key not in before
    }
    return replace(built, model=model, layers=layers, pipeline=(), outputs=outputs)


def extractor(built: BuiltModel, end: str) -> Callable[[Any], Any]:
    """Images (batch, height, width, channels), as the input pipeline gives them -> outputs of the
    layer `end`, computed in one call, with the weights of now.
    """
    return fast_inference(keras.Model(built.model.input, built.layers[end].output))


# store ---------------------------------------------------------------------------------------
# Features on disk, each found by a key of what it was computed from.
#
# Each computation adds a segment, which is never changed: NAME-NUMBER.npy with the rows, and beside
# it NAME-NUMBER.keys with their keys one after another. So several programs may add at one time,
# and a killed one leaves nothing half written. The folder is a cache: it may be deleted at any
# time.

KEY_BYTES = 16
_MAX_KEYS_BYTES = 1 << 30
_TEMPORARY = ".computing-"

Key = bytes
"""What a row was computed from, in 16 bytes."""


class FeatureRows(ChosenRows):
    """Rows that lie in several segments.

    Args:
        segments: All of one shape and type.
        places: Segment and row there of each of these rows, int64 (n, 2).
    """

    def __init__(
        self,
        segments: Sequence[StoredRows | Values],
        places: Numbers,
        shape: Shape,
        dtype: np.dtype[Any],
    ) -> None:
        super().__init__(shape, np.arange(len(places)), dtype)
        self._segments = segments
        self._places = places

    def pick(self, indices: Numbers) -> Self:
        """The rows at these indices."""
        chosen = self._places[self._chosen[indices]]
        return type(self)(self._segments, chosen, self.shape[1:], self.dtype)

    def _fetch(self, numbers: Numbers) -> Values:
        values = np.empty((len(numbers), *self.shape[1:]), self.dtype)
        places = self._places[numbers]
        for number in np.unique(places[:, 0]):
            at = np.flatnonzero(places[:, 0] == number)
            # In the order of the file: neighbors are read at once.
            at = at[np.argsort(places[at, 1], kind="stable")]
            values[at] = self._segments[number][places[at, 1]]
        return values


class FeatureStore:
    """The features of one extractor.

    Args:
        folder: Where the segments of all extractors are.
        name: Identifies the extractor: hexadecimal digits.
        shape: Shape of the features of one image.
        dtype: Their type.

    Raises:
        LinkFoundError: the folder is behind a link.
    """

    def __init__(self, folder: Path, name: str, shape: Shape, dtype: np.dtype[Any]) -> None:
        refuse_link(folder)
        self._folder = folder
        self._name = name
        self._shape = shape
        self._dtype = dtype
        self._segments: list[StoredRows | Values] = []
        self._places: dict[Key, tuple[int, int]] = {}
        for path in sorted(folder.glob(f"{name}-*.npy")):
            self._open(path)

    def __contains__(self, key: Key) -> bool:
        return key in self._places

    def add(self, keys: Sequence[Key], values: Values) -> None:
        """Keeps some rows, (n, *shape), as a new segment; where the disk has no room for it, in
        memory.

        Raises:
            DatasetError: there is no room in memory either.
        """
        values = np.ascontiguousarray(values, self._dtype)
        try:
            path = self._write(b"".join(keys), values)
        except OSError as error:
            self._hold(keys, values, error)
            return
        self._open(path)
        prune(self._folder)

    def _hold(self, keys: Sequence[Key], values: Values, error: OSError) -> None:
        """Keeps rows in memory, for this training alone."""
        if values.nbytes > memory_for_pictures():
            raise DatasetError(
                f"The features of the frozen layers could not be stored: {error.strerror}.",
                where=str(self._folder),
                expected=f"{values.nbytes:,} bytes of free space",
                fix="Free some space, or set the feature cache of the training settings to off.",
            ) from error
        self._take(values, keys)

    def _take(self, segment: StoredRows | Values, keys: Iterable[Key]) -> None:
        number = len(self._segments)
        self._segments.append(segment)
        self._places |= {key: (number, row) for row, key in enumerate(keys)}

    def rows(self, keys: Sequence[Key]) -> FeatureRows:
        """The rows of some keys, all of which must be there."""
        places = np.array([self._places[key] for key in keys], np.int64).reshape(-1, 2)
        return FeatureRows(self._segments, places, self._shape, self._dtype)

    def _open(self, path: Path) -> None:
        """Takes a segment in; one that is damaged, or removed meanwhile, is passed over."""
        with contextlib.suppress(OSError, ValueError, EOFError):
            data = read_foreign(path.with_suffix(KEYS_SUFFIX), _MAX_KEYS_BYTES)
            count = len(data) // KEY_BYTES
            start = rows_start(path, (count, *self._shape), self._dtype)
            os.utime(path, follow_symlinks=False)  # used just now: pruning takes others first
            rows = StoredRows(path, self._shape, start, np.arange(count), dtype=self._dtype)
            starts = range(0, count * KEY_BYTES, KEY_BYTES)
            self._take(rows, (data[at : at + KEY_BYTES] for at in starts))

    def _write(self, keys: bytes, values: Values) -> Path:
        if not has_room(self._folder, values.nbytes):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        remove_leftovers(self._folder, _TEMPORARY)
        handle, name = tempfile.mkstemp(prefix=_TEMPORARY, dir=self._folder)
        temporary = Path(name)
        path = self._folder / f"{self._name}-{temporary.name.removeprefix(_TEMPORARY)}.npy"
        try:
            with os.fdopen(handle, "wb") as file:
                np.lib.format.write_array(file, values, version=(1, 0), allow_pickle=False)
            # The keys first: rows without keys would be of no use.
            with path.with_suffix(KEYS_SUFFIX).open("xb") as file:
                file.write(keys)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        return path


# extract -------------------------------------------------------------------------------------
# The features of a training's parts: from the store where they are known, else computed.
#
# With augmentation, a training image has several augmented copies, and the epochs use them in turn.
# A copy is a function of the seed, its number and the image's place, so that its features are the
# same whether they are computed now or were kept.

_LAYOUT = 2
"""Raised when the same extractor gives other features, so that older ones are not read."""

_BATCH = 32
"""Images per call. Always filled up: the same image then gives the same numbers to the bit."""

_SEGMENT_BYTES = 256 * 2**20
_HASHED_AT_ONCE = 256

OnProgress = Callable[[str, str, float | None], None]
"""(phase, words, fraction done)"""


@dataclass(frozen=True)
class Features:
    """What is trained on instead of images.

    Attributes:
        end: Last layer of the frozen part.
        head: The network behind the frozen part; its layers are the network's own.
        train: Features of the training images; copy k of image i is row k * images + i.
        copies: Augmented versions of each training image; 1 without augmentation.
        validation: Features of the validation images, which are never augmented.
        words: What was computed and what was known, as a sentence.
        seconds: How long that took.
        num_computed: Images that were not known before.
    """

    end: str
    head: BuiltModel
    train: PreparedPart
    copies: int
    validation: PreparedPart | None
    words: str
    seconds: float
    num_computed: int = 0


class FeatureExtraction:
    """Computes features by the frozen part of one network.

    Args:
        built: The network, with the weights that stay as they are.
        graph: Its layers.
        layers: The layer types.
        end: Last layer of the frozen part, see `core.checks.costs`.
        recipe: Its seed and its number of augmented copies.
        precision: "float32" or "bfloat16".
        check: Called between batches; raises when the user has stopped it.
        on_progress: Called with phase, words and the fraction done.
    """

    def __init__(
        self,
        built: BuiltModel,
        graph: Graph,
        layers: Registry[LayerSpec],
        end: str,
        *,
        recipe: TrainingRecipe,
        precision: str,
        check: Callable[[], None],
        on_progress: OnProgress,
    ) -> None:
        self._built = built
        self._graph = graph
        self._end = end
        self._recipe = recipe
        self._check = check
        self._on_progress = on_progress
        self._pipeline = [layer for _, layer in built.pipeline]
        self._compute = extractor(built, end)
        output = built.layers[end].output
        # NumPy has no bfloat16: its bits are kept.
        self._is_bfloat16 = output.dtype == "bfloat16"
        dtype = np.dtype(np.uint16) if self._is_bfloat16 else np.dtype(output.dtype)
        folder = Path(made_cache(cache_home())) / "features"
        name = _fingerprint(built, graph, layers, end, precision)
        self._store = FeatureStore(folder, name, tuple(output.shape[1:]), dtype)
        self._num_computed = 0

    def features(self, data: PreparedData) -> Features:
        """The features of the training and validation images; those of the test images are
        computed when they are needed, by the whole network.
        """
        begun = time.monotonic()
        copies = self._recipe.augmented_copies if self._is_augmented else 1
        train = self._of_train(data.train, copies)
        validation = None
        if data.validation is not None:
            validation = self._plain(data.validation, "validation images")
        num_all = len(train) + len(validation or ())
        size = int(np.prod(train.x.shape[1:]))
        known = num_all - self._num_computed
        words = f"Features of the frozen layers: {count(num_all)} with {count(size)} numbers each"
        words += f", {count(known)} of them cached" if known else ""
        head = behind(self._built, self._graph, self._end)
        seconds = time.monotonic() - begun
        return Features(
            self._end, head, train, copies, validation, f"{words}.", seconds, self._num_computed
        )

    @property
    def _is_augmented(self) -> bool:
        return len(outside_training(self._pipeline)) < len(self._pipeline)

    def _of_train(self, part: PreparedPart, copies: int) -> PreparedPart:
        if not self._is_augmented:
            return self._plain(part, "training images")
        contents = self._contents(part)
        keys = [key for copy in range(copies) for key in self._copy_keys(contents, copy)]
        for copy in range(copies):
            of_copy = keys[copy * len(part) : (copy + 1) * len(part)]
            if any(key not in self._store for key in of_copy):
                words = f"augmented training images, copy {copy + 1} of {copies}"
                self._add(of_copy, self._augmented(part, copy), words)
        return PreparedPart(self._store.rows(keys), np.tile(part.y, copies))

    def _plain(self, part: PreparedPart, words: str) -> PreparedPart:
        keys = self._contents(part)
        missing = np.array([i for i, key in enumerate(keys) if key not in self._store], np.int64)
        if len(missing):
            rest = PreparedPart(pick_rows(part.x, missing), part.y[missing])
            batches = evaluation_pipeline(rest, self._pipeline, batch_size=_BATCH)
            self._add([keys[index] for index in missing], (batch[0] for batch in batches), words)
        return PreparedPart(self._store.rows(keys), part.y)

    def _augmented(self, part: PreparedPart, copy: int) -> Iterator[Any]:
        """Batches of the images in their order, augmented for a copy."""
        blocks, _ = padded_batches(len(part), _BATCH)
        first = copy * len(blocks)
        batches = training_pipeline(
            part,
            lambda start_step: iter([blocks][start_step - first :]),
            self._pipeline,
            batch_size=_BATCH,
            seed=self._recipe.seed,
            start_step=first,
            dtype=self._built.input_dtype,
            may_compile=False,
        )
        return (batch[0] for batch in batches)

    def _copy_keys(self, contents: Sequence[Key], copy: int) -> list[Key]:
        """Keys of an augmented copy: what is drawn depends on the image's place, too."""
        first = hashlib.blake2b(digest_size=KEY_BYTES)
        names = [(type(layer).__name__, _config(layer)) for layer in self._pipeline]
        first.update(json.dumps([copy, len(contents), self._recipe.seed, names]).encode())
        keys = []
        for place, content in enumerate(contents):
            digest = first.copy()
            digest.update(place.to_bytes(8, "little") + content)
            keys.append(digest.digest())
        return keys

    def _contents(self, part: PreparedPart) -> list[Key]:
        """Identifies each image by its pixels, as they are handed to the network."""
        keys: list[Key] = []
        for start in range(0, len(part), _HASHED_AT_ONCE):
            self._check()
            rows = np.ascontiguousarray(part.x[start : start + _HASHED_AT_ONCE])
            keys += [hashlib.blake2b(row.data, digest_size=KEY_BYTES).digest() for row in rows]
        return keys

    def _add(self, keys: Sequence[Key], batches: Iterator[Any], words: str) -> None:
        """Computes the features of images and stores them, a segment at a time."""
        values: list[Values] = []
        begin = done = 0
        for pictures in batches:
            self._check()
            self._on_progress(
                "features",
                f"Computing features of {words}: {count(done)} of {count(len(keys))}",
                done / len(keys),
            )
            values.append(self._numbers(self._compute(pictures))[: len(keys) - done])
            done += len(values[-1])
            if done == len(keys) or sum(each.nbytes for each in values) >= _SEGMENT_BYTES:
                self._store.add(keys[begin:done], np.concatenate(values))
                values, begin = [], done
        self._num_computed += len(keys)

    def _numbers(self, output: Any) -> Values:
        bits = tf.bitcast(output, tf.uint16) if self._is_bfloat16 else output
        numbers: Values = bits.numpy()
        return numbers


def _fingerprint(
    built: BuiltModel, graph: Graph, layers: Registry[LayerSpec], end: str, precision: str
) -> str:
    """Identifies a frozen part: its layers with their values, and its weights."""
    needed = graph.ancestors(end) | {end}
    order = [key for key in graph.order if key in needed]
    at_work = outside_training([layer for _, layer in built.pipeline])
    # Augmentation is in the keys of the copies: other images are the same with and without it.
    left_out = {key for key, layer in built.pipeline if layer not in at_work}
    places: dict[str, int] = {}
    plain: list[Any] = []
    for key in order:
        sources = [places[source] for source in graph.sources(key)]
        if key in left_out:
            places[key] = sources[0]
            continue
        node, spec = graph.nodes[key], layers[graph.nodes[key].kind]
        places[key] = len(plain)
        plain.append((node.kind, {**spec.defaults(), **node.params}, sources))
    head = [_LAYOUT, _BATCH, precision, tf.__version__, plain]
    digest = hashlib.sha256(json.dumps(head, default=str, sort_keys=True).encode())
    for key in order:
        layer = built.layers.get(key)
        for weight in layer.weights if layer is not None else ():
            digest.update(np.ascontiguousarray(weight.numpy()).data)
    return digest.hexdigest()[:32]


def _config(layer: Any) -> Any:
    return {key: str(value) for key, value in layer.get_config().items() if key != "name"}
