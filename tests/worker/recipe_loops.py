"""Loops over a tiny network, for tests of what a recipe does to its steps."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedPart
from workbench.worker.input.pipeline import training_pipeline, whole_epochs
from workbench.worker.model.build import build_model
from workbench.worker.step.train_step import Averaging, StepMath, make_optimizer
from workbench.worker.step.training_loop import Evaluator, TrainingLoop

KINDS = (
    ("input", {"shape": (8, 8, 1)}),
    ("rescaling", {}),
    ("conv2d", {"filters": 4, "activation": "relu"}),
    ("flatten", {}),
    ("dense", {"units": 3, "activation": "softmax"}),
)
BATCH = 32


def stripes(count, seed=1):
    """Pictures with a bright row that marks the class."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, count)
    pictures = random.integers(0, 90, (count, 8, 8, 1), dtype=np.uint8)
    pictures[np.arange(count), 1 + 2 * labels] += 120
    return PreparedPart(pictures, labels)


@dataclass
class Small:
    """A network that can be trained."""

    tf: Any
    built: Any
    optimizer: Any
    loop: TrainingLoop
    averaging: Averaging
    part: PreparedPart
    batches: Any

    def weights(self):
        return [variable.numpy() for variable in self.built.model.trainable_variables]

    def train(self, steps, rates=None):
        return self.loop.train(self.batches, steps, rates=rates).losses

    def scores(self, part):
        layers = [layer for _, layer in self.built.pipeline]
        evaluator = Evaluator(self.loop, part, layers)
        return evaluator.scores(lambda _fraction: None, lambda steps: steps)


def small(recipe=None, *, strategy=None, part=None, kinds=KINDS, class_weights=None, xla=False):
    """A fresh network with the same first weights each time."""
    import tensorflow as tf

    recipe = recipe or TrainingRecipe()
    part = part or stripes(320)
    strategy = strategy or tf.distribute.OneDeviceStrategy("/cpu:0")
    nodes = [Node(f"n{i}", kind, f"n{i}", params) for i, (kind, params) in enumerate(kinds)]
    edges = [Edge(a.id, b.id) for a, b in itertools.pairwise(nodes)]
    with strategy.scope():
        built = build_model(Graph.of(nodes, edges), all_layers(), seed=3)
        optimizer = make_optimizer(recipe)
        optimizer.build(built.model.trainable_variables)
    step = StepMath(strategy, built, optimizer, BATCH, recipe, class_weights)
    loop = TrainingLoop(step, xla=xla)
    order = partial(whole_epochs, len(part), BATCH, seed=1)
    layers = [layer for _, layer in built.pipeline]
    dataset = training_pipeline(
        part, order, layers, batch_size=BATCH, seed=1, recipe=recipe, num_classes=3
    )
    averaging = Averaging(strategy, built.model, optimizer)
    return Small(tf, built, optimizer, loop, averaging, part, loop.distribute(dataset))
