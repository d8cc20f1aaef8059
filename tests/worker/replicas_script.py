"""Trains the same steps on one device and on two replicas; prints both curves as JSON.

A process of its own: logical devices must be made before TensorFlow has started.
"""

from __future__ import annotations

import json
import sys
from functools import partial

import keras
import numpy as np
import tensorflow as tf

from workbench.core.graph import Edge, Graph, Node
from workbench.core.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedPart
from workbench.worker.build import build_model
from workbench.worker.evaluator import Evaluator
from workbench.worker.loop import TrainingLoop
from workbench.worker.order import whole_epochs
from workbench.worker.pipeline import training_pipeline

_KINDS = (
    ("input", {"shape": (8, 8, 1)}),
    ("rescaling", {}),
    ("conv2d", {"filters": 4, "activation": "relu", "kernel_l2": 0.01}),
    ("flatten", {}),
    ("dense", {"units": 3, "activation": "softmax"}),
)


def curve(strategy):
    keras.utils.set_random_seed(3)
    nodes = [Node(f"n{i}", kind, f"n{i}", params) for i, (kind, params) in enumerate(_KINDS)]
    edges = [Edge(f"n{i}", f"n{i + 1}") for i in range(len(nodes) - 1)]
    with strategy.scope():
        built = build_model(keras, Graph.of(nodes, edges), all_layers(), seed=3)
        optimizer = keras.optimizers.Adam(0.01)
        optimizer.build(built.model.trainable_variables)
    random = np.random.default_rng(0)
    part = PreparedPart(
        random.integers(0, 256, (150, 8, 8, 1), dtype=np.uint8), random.integers(0, 3, 150)
    )
    layers = [layer for _, layer in built.pipeline]
    # Clipping looks at the gradient of the whole batch, wherever its parts were computed.
    recipe = TrainingRecipe(clip_norm=0.5, label_smoothing=0.1)
    loop = TrainingLoop(tf, keras, strategy, built, optimizer, batch_size=32, recipe=recipe)
    order = partial(whole_epochs, 150, 32, seed=1)
    dataset = training_pipeline(tf, part, order, layers, batch_size=32, seed=1)
    results = loop.train(loop.distribute(dataset), 12)
    evaluator = Evaluator(
        tf, loop, part, layers, batch_size=32, replicas=strategy.num_replicas_in_sync
    )
    scores = evaluator.scores(lambda _fraction: None, lambda: False)
    return {
        "replicas": strategy.num_replicas_in_sync,
        "losses": results.losses.tolist(),
        "accuracies": results.accuracies.tolist(),
        "scores": [scores.loss, scores.accuracy, scores.count],
    }


def main():
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    curves = [
        curve(tf.distribute.OneDeviceStrategy("/cpu:0")),
        curve(tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])),
    ]
    json.dump(curves, sys.stdout)


if __name__ == "__main__":
    main()
