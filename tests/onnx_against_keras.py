"""Networks in ONNX Runtime beside the same ones in Keras, with random weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime

from tests.onnx_cases import ALL, Network
from workbench.core.network.graph import Graph
from workbench.core.network.roles import Layers
from workbench.layers import all_layers
from workbench.onnx.model import HIDDEN, IMAGES, SCORES, onnx_model
from workbench.worker.model.build import BuiltModel, assign_weights, build_model, read_weights

LIMIT = 1e-5
"""Largest difference, as a part of the largest output."""

OF_NOISE = 4.0
"""Beyond that limit, a difference may be so many times what rounding changes in Keras itself."""

ROUNDINGS = 3
"""Times that weights and pixels are moved, to see that."""

BATCH = 5

Array = np.ndarray[Any, np.dtype[Any]]


def session_of(model: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def images_for(shape: tuple[int, ...], rng: np.random.Generator, count: int = BATCH) -> Array:
    return rng.integers(0, 256, (count, *shape)).astype(np.uint8)


def random_weights(built: BuiltModel, rng: np.random.Generator) -> Mapping[str, Array]:
    """Weights that keep values in their size, with the statistics of a trained network."""
    made = {}
    for name, array in read_weights(built).items():
        if array.dtype.kind != "f":
            made[name] = array
            continue
        fan_in = max(1, int(np.prod(array.shape[:-1])))
        new = rng.normal(size=array.shape) * (0.3 if array.ndim < 2 else fan_in**-0.5)
        if name.endswith(("variance", "gamma")):
            new = np.abs(new) + 0.5
        made[name] = new.astype(np.float32)
    return made


@dataclass(frozen=True)
class Pair:
    """A network with random weights in both.

    Attributes:
        built: As Keras has it.
        weights: Of both.
        images: uint8 (BATCH, height, width, channels).
    """

    graph: Graph
    built: BuiltModel
    weights: Mapping[str, Array]
    images: Array

    def keras(self, node: str | None = None, images: Array | None = None) -> Array:
        """Outputs of a node, or of the network, flat."""
        import keras

        model = self.built.model
        if node is not None:
            model = keras.Model(model.input, self.built.outputs[node])
        given = self.images if images is None else images
        outputs = np.asarray(model(given.astype(np.float32), training=False))
        return outputs.reshape(len(given), -1)

    def onnx(self, node: str | None = None, layers: Layers | None = None) -> Array:
        """The same by ONNX Runtime; `layers` where other rules than the program's are wanted."""
        rules = layers or all_layers()
        session = session_of(onnx_model(self.graph, rules, self.weights, hidden=node))
        return session.run([SCORES if node is None else HIDDEN], {IMAGES: self.images})[0]


def pair_of(graph: Graph, seed: int) -> Pair:
    rng = np.random.default_rng(seed)
    built = build_model(graph, all_layers(), whole=True, pretrained=False)
    weights = random_weights(built, rng)
    assign_weights(built, weights)
    return Pair(graph, built, weights, images_for(built.input_shape, rng))


def difference(got: Array, wanted: Array) -> float:
    """The largest one, as a part of the largest output; at least of 1, as of probabilities.

    Infinite where only one of both is no number.
    """
    assert got.shape == wanted.shape, (got.shape, wanted.shape)
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    if same.all():
        return 0.0
    size = max(1.0, float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0)))
    worst = float(np.abs(got[~same] - wanted[~same]).max()) / size
    return worst if np.isfinite(worst) else float("inf")


def differences(
    network: Network, seed: int = 1, layers: Layers | None = None
) -> list[tuple[str, float, float]]:
    """Of each case of a network: the largest, and Keras's own noise where it is beyond the limit.

    Args:
        network: Of `tests.onnx_cases`.
        seed: Of weights and images.
        layers: As in `Pair.onnx`.
    """
    pair = pair_of(network.graph, seed)
    got, wanted = pair.onnx(ALL, layers), pair.keras(ALL)
    found = []
    for what, part in network.slices():
        worst = difference(got[:, part], wanted[:, part])
        found.append((what, worst, own_noise(pair, ALL, part) if worst > LIMIT else 0.0))
    return found


def is_right(worst: float, noise: float) -> bool:
    return worst <= max(LIMIT, OF_NOISE * noise)


def own_noise(pair: Pair, node: str | None, part: slice = slice(None)) -> float:
    """How far Keras's outputs of a node differ with other batches, moved weights and pixels."""
    usual = pair.keras(node)[:, part]
    alone = [pair.keras(node, pair.images[i : i + 1])[:, part] for i in range(len(pair.images))]
    found = [difference(np.concatenate(alone), usual)]
    rng = np.random.default_rng(0)
    for _ in range(ROUNDINGS):
        assign_weights(pair.built, _moved(pair.weights, rng))
        found.append(difference(pair.keras(node)[:, part], usual))
        pixels = _moved({"": pair.images.astype(np.float32)}, rng)[""]
        found.append(difference(pair.keras(node, pixels)[:, part], usual))
    assign_weights(pair.built, pair.weights)
    return max(found)


def _moved(weights: Mapping[str, Array], rng: np.random.Generator) -> dict[str, Array]:
    """Each number as it is, or the next smaller or larger float32."""
    moved = {}
    for name, array in weights.items():
        to = rng.choice(np.array([-np.inf, 0, np.inf], np.float32), array.shape)
        moved[name] = np.where(to == 0, array, np.nextafter(array, to)).astype(array.dtype)
    return moved
