"""Networks in TensorFlow.js, run by Node, beside the same ones in Keras, with random weights."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.onnx_against_keras import Array, Pair, difference, own_noise, pair_of
from tests.onnx_cases import ALL, Network
from workbench.exports._node_runtime import library
from workbench.exports._tensorflowjs.writing import write_graph_model
from workbench.worker.requests.exporting.converter import ExportContext

LIMIT = 2e-5
"""Largest difference, as a part of the largest output. Error functions there are right to 2e-7."""

OF_NOISE = 4.0
"""Beyond that limit, a difference may be so many times what rounding changes in Keras itself."""

RUN = """
import fs from "node:fs";
import { createRequire } from "node:module";
const [library, ...folders] = process.argv.slice(1);
const tf = createRequire(library)(library);
tf.enableProdMode();
await tf.setBackend("cpu");
for (const folder of folders) {
  const read = (name) => fs.readFileSync(`${folder}/model/${name}`);
  const { weightsManifest, ...model } = JSON.parse(read("model.json"));
  const [{ paths, weights: weightSpecs }] = weightsManifest;
  const weightData = Uint8Array.from(Buffer.concat(paths.map(read))).buffer;
  const graph = await tf.loadGraphModel(tf.io.fromMemory({ ...model, weightSpecs, weightData }));
  const shape = JSON.parse(fs.readFileSync(`${folder}/shape.json`));
  const images = tf.tensor4d(Float32Array.from(fs.readFileSync(`${folder}/images`)), shape);
  fs.writeFileSync(`${folder}/scores`, Buffer.from(graph.execute({ images }, "scores").dataSync().buffer));
}
"""


@dataclass(frozen=True)
class Written:
    """A network that is written, with its pair in Keras."""

    pair: Pair
    folder: Path
    expected: Array

    def found(self) -> Array:
        """What Node has answered."""
        return np.fromfile(self.folder / "scores", np.float32).reshape(self.expected.shape)


def write(pair: Pair, folder: Path, node: str | None = None) -> Written:
    """Writes a network's outputs, or those of a node, to a new folder."""
    import keras
    import tensorflow as tf

    folder.mkdir()
    model: Any = pair.built.model
    if node is not None:
        model = keras.Model(model.input, pair.built.outputs[node])
    context = SimpleNamespace(
        tf=tf,
        keras=keras,
        model=model,
        answers=lambda images: {"scores": model(images, training=False)},
        lowered=ExportContext.lowered,
        card=SimpleNamespace(input_shape=pair.built.input_shape),
        made_by="a test",
    )
    write_graph_model(context, folder / "model")
    (folder / "shape.json").write_text(json.dumps(pair.images.shape))
    (folder / "images").write_bytes(pair.images.tobytes())
    return Written(pair, folder, pair.keras(node))


def run(written: Sequence[Written]) -> None:
    """Has Node answer all."""
    folders = [str(each.folder) for each in written]
    command = ["node", "--input-type=module", "-e", RUN, str(library()), *folders]
    subprocess.run(command, check=True)


def failures(networks: Sequence[Network], folder: Path, seed: int = 1) -> list[tuple[str, float]]:
    """The cases of networks whose outputs differ, and by how much."""
    pairs = [pair_of(network.graph, seed) for network in networks]
    written = [write(pair, folder / str(n), ALL) for n, pair in enumerate(pairs)]
    run(written)
    found = []
    for network, each in zip(networks, written, strict=True):
        got = each.found()
        for what, part in network.slices():
            worst = difference(got[:, part], each.expected[:, part])
            if worst > LIMIT and worst > OF_NOISE * own_noise(each.pair, ALL, part):
                found.append((what, worst))
    return found
