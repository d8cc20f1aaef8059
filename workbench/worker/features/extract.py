"""The features of a training's parts: from the store where they are known, else computed.

With augmentation, a training image has several augmented copies, and the epochs use them in turn.
A copy is a function of the seed, its number and the image's place, so that its features are the
same whether they are computed now or were kept.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.format import count
from workbench.core.network.graph import Graph
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec
from workbench.core.training.recipe import TrainingRecipe
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.pictures.rows import Values, pick_rows
from workbench.runs.home import cache_home, made_cache
from workbench.worker.features.network import behind, extractor
from workbench.worker.features.store import KEY_BYTES, FeatureStore, Key
from workbench.worker.input.augment import outside_training
from workbench.worker.input.pipeline import evaluation_pipeline, training_pipeline
from workbench.worker.input.shuffling import padded_batches
from workbench.worker.model.build import BuiltModel
from workbench.worker.process.lazy_keras import tf

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
        end: Last layer of the frozen part, see `core.checks.frozen`.
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
